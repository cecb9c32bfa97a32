"""Tables for programs say what the test found and, beside it, what the pages say."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from analysis.live.page import LiveView
from analysis.live.tables import _sequences
from analysis.serializers import SequentialEffectSerializer
from analysis.stored_results import MarkedSequentialEffect
from candor.results import HonestTimesEffect, Interval

CERTAIN = MarkedSequentialEffect(
    treatment="talk",
    control="text",
    method="efficient",
    value=0.2,
    interval=Interval(low=0.01, high=0.4, kind="sequence", level=0.95),
    honest_times_effect=cast(HonestTimesEffect, SimpleNamespace(value=0.2, interval=None)),
    direction=1,
    log_e_more=4.0,
    log_e_fewer=-4.0,
)
JUST_HOLDS_ZERO = replace(CERTAIN, interval=replace(CERTAIN.interval, low=-0.01))
"""The procedure for directions is the more powerful of the two: docs/methods.md."""


@pytest.mark.parametrize(("effect", "said"), [(CERTAIN, 1), (JUST_HOLDS_ZERO, 0), (replace(CERTAIN, direction=0), 0)])
def test_a_direction_that_pages_do_not_say_is_marked_in_the_table_and_in_the_api(effect: MarkedSequentialEffect, said: int) -> None:
    look = SimpleNamespace(n=100, cheater_proportion=None, effects=[effect], prevalence=[], specification=None)
    live: Any = SimpleNamespace(
        names=SimpleNamespace(files={"talk": "talk", "text": "text"}),
        definition=SimpleNamespace(yes_no_questions=[SimpleNamespace(name="attention")]),
        sequence=lambda name: look,
    )
    head, *rows = _sequences(cast(LiveView, live))
    assert all(len(row) == len(head) for row in rows)
    found = dict(zip(head, rows[0], strict=True))
    assert (found["certain_direction"], found["said_direction"]) == (effect.direction, said)
    field = SequentialEffectSerializer().get_said_direction(effect)
    assert field == said
    assert "what pages say" in str(SequentialEffectSerializer().get_fields()["said_direction"].help_text)
