"""Gaps in texts that somebody still has to fill."""

import time

import pytest

from surveys.drafting.texts import gaps_in


def test_gaps_are_told_in_their_words() -> None:
    assert gaps_in("You [[what is\n done]] for [[minutes]] minutes, [sic] and [[x]") == ["what is done", "minutes"]


@pytest.mark.parametrize("begun", ["[", "[[", "[[ ", "[[x]"])
def test_gaps_that_never_end_cost_no_more_than_their_letters(begun: str) -> None:
    """A text of 20,000 letters took seconds, and each page of the draft reads all its texts."""
    began = time.process_time()
    assert gaps_in(begun * 100_000 + " and [[then]]") in (["then"], ["and [[then"])
    assert time.process_time() - began < 5
