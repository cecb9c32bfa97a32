"""Workers keep people's background answers in memory from chunk to chunk of a run, and no longer."""

import gc
import weakref
from datetime import timedelta
from time import monotonic, sleep
from typing import Any

import pytest

from analysis.runs import resampling


class Answers(dict[str, Any]):
    """The analyses of a run, for a test to see them go."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Answers]]:
    found: list[weakref.ref[Answers]] = []

    def analyses(run_id: int) -> Answers:
        answers = Answers()
        found.append(weakref.ref(answers))
        return answers

    monkeypatch.setattr(resampling, "_analyses", analyses)
    return found


def alive(made: list[weakref.ref[Answers]]) -> int:
    gc.collect()
    return sum(one() is not None for one in made)


def test_the_next_chunk_of_a_run_takes_what_the_one_before_read(made: list[weakref.ref[Answers]]) -> None:
    kept = resampling._FromChunkToChunk()
    assert kept.of(1, 5) is kept.of(1, 5)
    assert len(made) == 1
    kept.of(1, 6)
    assert len(made) == 2, "a run of the same number with another seed is another run"
    kept.forget()
    assert alive(made) == 0


def test_a_run_that_goes_on_elsewhere_is_forgotten_after_a_moment(made: list[weakref.ref[Answers]]) -> None:
    kept = resampling._FromChunkToChunk()
    kept.LONGEST = timedelta(seconds=1)
    kept.of(1, 5)
    assert made[0]() is not None
    until = monotonic() + 60
    while alive(made) and monotonic() < until:
        sleep(0.02)
    assert alive(made) == 0
