"""The rules by which groups are shown, and the attacks that they stop: each attack works without its rule."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candor.errors import MethodError
from candor.subgroups.disclosure import groups_to_show

LEAST, CELLS = 10, 4


def people_of(*groups, cells=CELLS):
    """Labels and cells from (label, people in each cell)."""
    labels = np.array([label for label, people in groups for count in people for _ in range(count)])
    cell = np.array([place for _label, people in groups for place, count in enumerate(people) for _ in range(count)], dtype=np.intp)
    assert cells == CELLS
    return labels, cell


def shown_tables(variables, cell, reported, shown):
    """All that is shown: counts by cell and answer, of everybody and of every shown group."""
    kind = cell * 2 + reported
    yield np.bincount(kind, minlength=2 * CELLS)
    for name, groups in shown.items():
        for group in groups:
            yield np.bincount(kind[np.asarray(variables[name]) == group], minlength=2 * CELLS)


def unions(variables, name, groups):
    """The unions of the classes of one variable, the others being a class too, as rows of people."""
    labels = np.asarray(variables[name])
    classes = [labels == group for group in groups] + [~np.isin(labels, groups)]
    for chosen in chain.from_iterable(combinations(classes, size) for size in range(len(classes) + 1)):
        yield np.logical_or.reduce(chosen) if chosen else np.zeros(len(labels), dtype=bool)


def told(variables, cell, shown):
    """The fewest people, in some cell, by whom two sets of people differ whose tables anybody can make from the shown ones."""
    found = []
    names = list(shown)
    pairs = [(names[0], names[0]), *combinations(names, 2)] if names else []
    for first, second in pairs:
        for one in unions(variables, first, shown[first]):
            for other in unions(variables, second, shown[second]):
                found += [apart for apart in np.bincount(cell[one != other], minlength=CELLS).tolist() if apart]
    return min(found, default=LEAST)


def test_groups_that_are_large_in_every_cell_are_shown():
    labels, cell = people_of(("a", [10, 11, 12, 13]), ("b", [30, 30, 30, 30]))
    assert groups_to_show({"year": labels}, cell, cells=CELLS, least=LEAST) == {"year": ("a", "b")}


def test_the_row_of_the_one_person_in_a_small_group_follows_from_all_others_unless_a_second_group_hides_it():
    """The attack: all people less both shown groups is one row, with arm, subsample and answer."""
    labels, cell = people_of(("men", [30] * 4), ("other", [0, 0, 1, 0]), ("women", [20] * 4))
    variables = {"gender": labels}
    reported = np.random.default_rng(1).integers(0, 2, len(cell))
    everybody, men, women = shown_tables(variables, cell, reported, {"gender": ("men", "women")})
    (single,) = np.flatnonzero(labels == "other")
    assert np.flatnonzero(everybody - men - women).tolist() == [cell[single] * 2 + reported[single]], "without the rule"
    assert told(variables, cell, {"gender": ("men", "women")}) == 1
    assert groups_to_show(variables, cell, cells=CELLS, least=LEAST) == {}

    labels, cell = people_of(("men", [30] * 4), ("other", [0, 0, 1, 0]), ("third", [20] * 4), ("women", [40] * 4))
    shown = groups_to_show({"gender": labels}, cell, cells=CELLS, least=LEAST)
    assert shown == {"gender": ("men", "women")}
    assert told({"gender": labels}, cell, shown) >= LEAST


def test_people_without_an_answer_are_among_the_others():
    labels, cell = people_of(("", [3, 0, 0, 0]), ("a", [30] * 4), ("b", [20] * 4))
    assert groups_to_show({"year": labels}, cell, cells=CELLS, least=LEAST) == {}
    labels, cell = people_of(("", [10, 11, 12, 13]), ("a", [30] * 4), ("b", [20] * 4))
    assert groups_to_show({"year": labels}, cell, cells=CELLS, least=LEAST) == {"year": ("a", "b")}


def test_two_variables_whose_groups_differ_by_one_person_are_not_both_shown():
    """The attack: all women but one study physics, and nobody else does. The two tables differ by her row."""
    labels, cell = people_of(("men", [30] * 4), ("women", [30] * 4))
    subject = np.where(labels == "men", "arts", "physics")
    subject[np.flatnonzero(labels == "women")[7]] = "arts"
    variables = {"gender": labels, "subject": subject}
    alone = {name: groups_to_show({name: one}, cell, cells=CELLS, least=LEAST)[name] for name, one in variables.items()}
    assert told(variables, cell, alone) == 1, "without the rule"
    assert groups_to_show(variables, cell, cells=CELLS, least=LEAST) == {"gender": ("men", "women")}
    assert list(groups_to_show(dict(reversed(variables.items())), cell, cells=CELLS, least=LEAST)) == ["subject"]


def test_two_variables_that_cut_each_other_in_large_parts_are_both_shown():
    labels, cell = people_of(*[(f"{gender} {year}", [12] * 4) for gender in "ab" for year in "12"])
    variables = {"gender": np.array([one[0] for one in labels]), "year": np.array([one[-1] for one in labels])}
    assert groups_to_show(variables, cell, cells=CELLS, least=LEAST) == {"gender": ("a", "b"), "year": ("1", "2")}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), people=st.integers(50, 900), second=st.integers(1, 4), alike=st.floats(0, 1))
def test_whatever_is_shown_no_difference_tells_of_few(seed, people, second, alike):
    rng = np.random.default_rng(seed)
    cell = rng.integers(0, CELLS, people)
    first = rng.choice(["", "a", "b", "c"], people, p=[0.05, 0.5, 0.4, 0.05])
    other = np.where(rng.random(people) < alike, first, rng.choice(list("wxyz")[:second], people))
    variables = {"first": first, "other": other}
    shown = groups_to_show(variables, cell, cells=CELLS, least=LEAST)
    assert told(variables, cell, shown) >= LEAST
    order = rng.permutation(people)
    again = groups_to_show({name: one[order] for name, one in variables.items()}, cell[order], cells=CELLS, least=LEAST)
    assert again == shown, "the order of people does not matter"


def test_too_many_groups_and_arrays_of_other_lengths_are_refused():
    with pytest.raises(MethodError, match="at most 8 groups, found 9"):
        groups_to_show({"year": [str(one) for one in range(9)]}, np.zeros(9, dtype=np.intp), cells=1, least=LEAST)
    with pytest.raises(MethodError, match="each of 9 people"):
        groups_to_show({"year": ["a"]}, np.zeros(9, dtype=np.intp), cells=1, least=LEAST)
