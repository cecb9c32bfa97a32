"""The rows of a release: their order is chance, and groups must be large."""

import pytest

from analysis.packages.errors import TooFewPeopleError
from analysis.packages.rows import Row, groups_of, require_large_groups, rows_of, shuffled_csv

ROWS = [Row(arm=arm, subsample=subsample, answers=(index % 2, None)) for index in range(10) for arm in "ab" for subsample in "12"]


def test_the_file_holds_the_rows_in_an_order_that_nobody_can_repeat() -> None:
    files = [shuffled_csv(ROWS, questions=["arm", "x"]) for _ in range(20)]
    assert len(set(files)) == 20
    for text in files:
        assert text.splitlines()[0] == "arm,subsample,answer_arm,answer_x"
        assert sorted(map(repr, rows_of(text))) == sorted(map(repr, ROWS))


def test_every_place_is_as_likely_for_the_row_that_came_first() -> None:
    first, rows = Row(arm="a", subsample="1", answers=(1,)), [Row(arm="b", subsample="2", answers=(0,))] * 3
    places = [rows_of(shuffled_csv([first, *rows], questions=["x"])).index(first) for _ in range(2000)]
    # Binomial(2000, 1/4) has a standard deviation of 19.4; 6 of them are passed once in 10⁸ runs.
    assert all(abs(places.count(place) - 500) < 6 * 19.4 for place in range(4))


def test_an_arm_of_a_subsample_with_fewer_than_five_people_is_refused() -> None:
    groups = groups_of(ROWS, arms=["a", "b"], subsamples=["1", "2"])
    assert [group.n for group in groups] == [10] * 4
    require_large_groups(groups)
    small = groups_of([row for row in ROWS if (row.arm, row.subsample) != ("b", "2")], arms=["a", "b"], subsamples=["1", "2"])
    with pytest.raises(TooFewPeopleError, match=r"at least 5 finished people .* found 0 in arm b, subsample 2"):
        require_large_groups(small)
