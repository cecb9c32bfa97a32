"""People who are asked directly: permitted settings, the draw, and the pages they see."""

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from surveys.allocation.assignment import Assignment, commitment, draw_list, list_document
from surveys.definition import DIRECT
from surveys.errors import DefinitionError
from surveys.journey.steps import DIRECTLY, NOT_AT_ALL, steps_of
from surveys.study_file import read_study_file, write_study_file
from tests.factories import definition, document

GROUP = {"share": 0.2, "consent": {"en": "May we?", "de": "Dürfen wir?"}}
DIE = document()["die"]


def test_a_share_in_whole_hundredths_up_to_a_half_is_taken_exactly() -> None:
    for share, exact in ((0.01, "1/100"), (0.07, "7/100"), (0.29, "29/100"), (0.5, "1/2")):
        assert definition(direct_group=GROUP | {"share": share}).direct_share == Fraction(exact)
    assert definition().direct_share == 0


@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        ({"share": 0.0}, "direct_group.share: Input should be greater than 0"),
        ({"share": 0.51}, "direct_group.share: Input should be less than or equal to 0.5"),
        ({"share": 0.333}, "direct_group.share: expected whole hundredths, such as 0.15, got 0.333"),
        ({"consent": {"en": "May we?"}}, "direct_group.consent: the text in de is missing"),
        ({"consent": ""}, "direct_group.consent"),
    ],
)
def test_impossible_values_are_refused_with_their_place(group: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        definition(direct_group=GROUP | group)
    assert sentence in str(raised.value)


def test_no_subsample_of_a_die_may_be_called_direct() -> None:
    named = DIE | {"subsamples": {"1": DIE["subsamples"]["1"], DIRECT: DIE["subsamples"]["2"]}}
    with pytest.raises(DefinitionError, match="the name direct is kept for people who are asked without a die"):
        definition(die=named)


def test_the_desk_is_warned_that_nothing_protects_these_answers() -> None:
    assert definition().warnings() == []
    assert definition(direct_group=GROUP).warnings() == [
        "20% of the people are drawn to be asked directly, without a die, if they agree. "
        "What they answer is stored as it is: nothing protects it."
    ]


def test_the_group_stands_in_the_study_file() -> None:
    asked = definition(direct_group=GROUP)
    written = write_study_file(asked)
    assert "share: 0.2" in written
    assert read_study_file(written) == asked


def test_the_design_of_the_die_is_that_of_a_study_without_the_group() -> None:
    asked = definition(direct_group=GROUP, die=DIE | {"weights": {"1": 2}})
    assert asked.design() == definition(die=DIE | {"weights": {"1": 2}}).design()
    assert asked.planned_with_die == 38  # 48 · 0.8, rounded
    # One of five lines is direct; the other four are split in thirds by the weights 2 and 1.
    assert asked.group_weights == {"1": 8, "2": 4, "direct": 3}
    assert definition().group_weights == definition().subsample_weights


def drawn(share: str, *, length: int = 400, scheme: Any = "permuted_block") -> list[Assignment]:
    return draw_list(
        length=length,
        subsamples={"1": 1, "2": 1},
        arms={"a": 1, "b": 1},
        scheme=scheme,
        block_multiples=(1, 2),
        direct_share=Fraction(share),
    )


def test_a_list_holds_the_share_but_for_its_last_block_and_the_arms_alike_in_every_group() -> None:
    lines = drawn("1/5")
    counts = Counter((line.subsample, line.arm) for line in lines)
    groups = Counter(line.subsample for line in lines)
    assert groups == {DIRECT: pytest.approx(80, abs=1), "1": pytest.approx(160, abs=3), "2": pytest.approx(160, abs=3)}
    for group in groups:
        assert abs(counts[group, "a"] - counts[group, "b"]) <= 4  # at most one block is cut off


def test_without_a_share_nobody_is_drawn() -> None:
    assert DIRECT not in {line.subsample for line in drawn("0")}


@pytest.mark.parametrize("scheme", ["simple", "complete", "permuted_block"])
def test_every_scheme_draws_people_in_no_order_that_could_be_foreseen(scheme: str) -> None:
    lists = [[line.subsample == DIRECT for line in drawn("1/4", length=40, scheme=scheme)] for _ in range(400)]
    # Any one line is direct in a quarter of all lists: 100 ± 5 standard deviations of 8.7.
    assert all(abs(sum(one[place] for one in lists) - 100) < 44 for place in range(40))


def test_the_published_hash_covers_who_is_asked_directly() -> None:
    lines = drawn("1/2", length=10)
    text = list_document(lines, study="s", number=1, nonce="n")
    asked_directly = [one["subsample"] == DIRECT for one in json.loads(text)["assignments"]]
    assert asked_directly == [line.subsample == DIRECT for line in lines]
    assert any(asked_directly)
    other = [Assignment(subsample="1", arm=line.arm) if line.subsample == DIRECT else line for line in lines]
    assert commitment(list_document(other, study="s", number=1, nonce="n")) != commitment(text)


@pytest.mark.parametrize(
    ("asked", "last"), [(DIRECTLY, ("quiz", "direct_questions", "finished")), (NOT_AT_ALL, ("video", "quiz", "finished"))]
)
def test_people_in_the_direct_group_see_no_die(asked: tuple[str, ...], last: tuple[str, ...]) -> None:
    steps = steps_of(definition(direct_group=GROUP), asked=asked)
    assert steps[:4] == ("welcome", "consent", "background", "direct_consent")
    assert steps[-3:] == last
    assert not {"die", "questions"} & set(steps)


def test_everybody_else_is_asked_for_consent_and_then_sees_what_everybody_sees() -> None:
    assert [step for step in steps_of(definition(direct_group=GROUP)) if step != "direct_consent"] == list(steps_of(definition()))
