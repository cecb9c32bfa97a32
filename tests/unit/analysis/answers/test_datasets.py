"""People who are alike stand in one row."""

import tracemalloc

import numpy as np

from analysis.answers.datasets import NOT_REPORTED, Backgrounds, People


def people(n: int, *, arms: int, different: int) -> People:
    draw = np.random.default_rng(1)
    return People(
        arm=draw.integers(0, arms, n),
        subsample=draw.integers(0, 2, n),
        reported={"cheated": draw.integers(NOT_REPORTED, 2, n).astype(np.int8)},
        background=draw.integers(0, different, n),
        backgrounds=Backgrounds(covariates={"age": np.arange(float(different))}),
    )


def test_rows_of_people_who_are_alike_have_everybody_in_them_once() -> None:
    everybody = people(500, arms=3, different=4)
    found = everybody.alike("cheated", arms=3, subsamples=2)
    there = everybody.who_answered("cheated")
    assert (found.row[~there] == NOT_REPORTED).all()
    assert np.bincount(found.row[there]).tolist() == found.frequencies.tolist()
    for values, theirs in (
        (found.reported, everybody.reported["cheated"]),
        (found.arm, everybody.arm),
        (found.subsample, everybody.subsample),
        (found.covariates["age"], everybody.covariates["age"]),
    ):
        np.testing.assert_array_equal(values[found.row[there]], theirs[there])
    assert len(found.frequencies) == 4 * 3 * 2 * 2


def test_nobody_answered_and_nobody_came() -> None:
    assert len(people(0, arms=2, different=1).alike("cheated", arms=2, subsamples=2).row) == 0
    nobody = people(5, arms=2, different=3)
    nobody.reported["cheated"][:] = NOT_REPORTED
    found = nobody.alike("cheated", arms=2, subsamples=2)
    assert (found.row.tolist(), found.frequencies.tolist()) == ([NOT_REPORTED] * 5, [])


def test_people_who_all_differ_take_memory_for_themselves_alone() -> None:
    """Not for each combination of a background, an arm and an answer that nobody has."""
    everybody = people(20_000, arms=6, different=20_000)
    tracemalloc.start()
    try:
        everybody.alike("cheated", arms=6, subsamples=2)
        assert tracemalloc.get_traced_memory()[1] < 150 * 20_000
    finally:
        tracemalloc.stop()
