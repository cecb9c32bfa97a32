"""Sensitivities by exhaustive enumeration of small networks: of what is offered, and of what is not."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest

from candor.errors import DataError
from candor.networks.circles import NO_LIST, PARTS, Circles, Thresholds
from candor.networks.class_means.release import UNIT, mean_over_classes, private_sum_of_class_means, sum_of_class_means
from candor.networks.class_types.release import TYPES, class_types, private_class_types
from candor.networks.class_types.release import sensitivity as sensitivity_of_types
from candor.networks.classes import NO_CLASS
from candor.networks.degrees.release import degrees
from candor.networks.ties.release import CELLS, cell_names, ties
from candor.privacy.sensitivity import Sensitivity

Edge = tuple[int, int]
ROSTER = 4


def subsets(things: list[Edge] | list[int]) -> Iterator[tuple[object, ...]]:
    for size in range(len(things) + 1):
        yield from combinations(things, size)


def told_by(student: int) -> list[tuple[int, int]]:
    """Every answer of one student about a roster of others: each list of friends, with each set of friendships among them; or no list."""
    others = [one for one in range(ROSTER) if one != student]
    answers = [(NO_LIST, NO_LIST)]
    for friends in subsets(others):
        answers += [(len(friends), len(linked)) for linked in subsets(list(combinations(friends, 2)))]
    return answers


@pytest.mark.parametrize("statistic", [degrees, ties, lambda circles: ties(circles, Thresholds(friends=(3, 5), clustering=(0.3, 0.5)))])
def test_one_students_answers_move_a_histogram_by_two_in_every_network_of_three_students(statistic) -> None:
    """Replaced: L1 2, squared L2 2. Added or removed (no list instead of one): L1 1."""
    replaced, removed = [], []
    first = told_by(0)
    for others in product(set(told_by(1)), set(told_by(2))):
        seen = {answer: statistic(Circles([answer, *others])) for answer in set(first)}
        replaced += [one - other for one in seen.values() for other in seen.values()]
        removed += [one - seen[NO_LIST, NO_LIST] for one in seen.values()]
    assert Sensitivity.largest(replaced) == Sensitivity(l1=2, l2_squared=2, linf=1)
    assert Sensitivity.largest(removed) == Sensitivity(l1=1, l2_squared=1, linf=1)


def test_no_list_is_not_a_list_of_nobody() -> None:
    assert degrees(Circles([[0, 0], [-1, -1]])).tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert ties(Circles([[-1, -1]])).sum() == 0
    assert degrees(Circles(np.empty((0, 2), dtype=int))).tolist() == [0] * 9


def test_every_circle_is_in_the_cell_that_a_plain_reading_gives() -> None:
    """The oracle: fractions and sentences, one circle at a time."""
    names = cell_names()
    for friends in range(9):
        for linked in range(friends * (friends - 1) // 2 + 1):
            (cell,) = np.flatnonzero(ties(Circles([[friends, linked]])))
            (type_,) = np.flatnonzero(class_types(Circles([[friends, linked]]), [0], count=1))
            if friends < 2:
                assert (names[cell], TYPES[type_]) == ("0 or 1 friends", "nobody has two friends")
                continue
            group = 0 if friends < 4 else 1 if friends < 6 else 2
            three_times = 3 * 2 * linked
            column = (three_times >= friends * (friends - 1)) + (three_times >= 2 * friends * (friends - 1))
            assert (cell, type_) == (1 + 3 * group + column, 1 + column)
    assert len(names) == CELLS == len(set(names))
    assert [name.split(",")[0] for name in names[1::3]] == ["2 to 3 friends", "4 to 5 friends", "6 friends or more"]


def test_coefficients_are_exact() -> None:
    for friends in range(2, 9):
        pairs = friends * (friends - 1) // 2
        assert PARTS % pairs == 0
        found = Circles([[friends, linked] for linked in range(pairs + 1)]).coefficients
        assert (found * pairs == np.arange(pairs + 1) * PARTS).all()


def graphs(people: int) -> Iterator[frozenset[Edge]]:
    yield from (frozenset(edges) for edges in subsets(list(combinations(range(people), 2))))


def degree_histogram(people: int, graph: frozenset[Edge]) -> np.ndarray:
    found = np.bincount(np.array(sorted(graph), dtype=int).ravel(), minlength=people)
    return np.bincount(found, minlength=people)


def triangles(people: int, graph: frozenset[Edge]) -> int:
    return sum({(a, b), (a, c), (b, c)} <= graph for a, b, c in combinations(range(people), 3))


@pytest.mark.parametrize("people", [4, 5])
def test_one_friendship_moves_an_undirected_degree_histogram_by_four_not_two(people: int) -> None:
    """The page on networks says this of edge privacy; slides of 2012 say 2."""
    changes = [degree_histogram(people, graph) - degree_histogram(people, graph - {edge}) for graph in graphs(people) for edge in graph]
    assert Sensitivity.largest(changes) == Sensitivity(l1=4, l2_squared=8, linf=2)


def test_triangles_and_people_have_no_bound_that_does_not_grow_with_the_class() -> None:
    """The page on networks says this of triangles and of node privacy, by all graphs of three, four and five people."""
    by_size = {}
    for people in (3, 4, 5):
        one_friendship = max(triangles(people, graph) - triangles(people, graph - {edge}) for graph in graphs(people) for edge in graph)
        alone = [frozenset(edge for edge in graph if 0 not in edge) for graph in graphs(people)]
        one_person = max(
            int(np.abs(degree_histogram(people, graph) - degree_histogram(people, rest)).sum())
            for graph, rest in zip(graphs(people), alone, strict=True)
        )
        by_size[people] = one_friendship, one_person
    assert by_size == {3: (1, 6), 4: (2, 8), 5: (3, 10)}


SMALL_CLASS = [(NO_LIST, NO_LIST), (1, 0), (2, 0), (2, 1), (3, 1), (4, 3)]


def test_a_whole_class_moves_the_mean_by_one_over_n_and_the_types_by_two() -> None:
    """Partition privacy: all circles of the first of two classes are replaced, by those of none, one or two students."""
    contents = [(), *((one,) for one in SMALL_CLASS), *product(SMALL_CLASS, repeat=2)]
    for other in SMALL_CLASS:
        worlds = [(Circles([other, *content]), [1] + [0] * len(content)) for content in contents]
        sums = [sum_of_class_means(*world, count=2) for world in worlds]
        types = [class_types(*world, count=2) for world in worlds]
        assert Sensitivity.largest(one - two for one in sums for two in sums).l1 == UNIT
        assert Sensitivity.largest(one - two for one in types for two in types) == Sensitivity(l1=2, l2_squared=2, linf=1)


@pytest.mark.parametrize("memberships", [1, 2, 3])
def test_a_student_who_leaves_and_enters_as_many_classes_as_possible_moves_the_types_as_far_as_is_said(memberships: int) -> None:
    """Every class left, and every class entered, becomes close and was mixed. So much noise is drawn."""
    others, places = [[2, 1], [4, 3]] * memberships, [[one] + [NO_CLASS] * (memberships - 1) for one in range(2 * memberships)]
    worlds = [([2, 0], range(0, 2 * memberships, 2)), ([2, 1], range(1, 2 * memberships, 2))]
    left, entered = (class_types(Circles([*others, circle]), [*places, list(of)], count=2 * memberships) for circle, of in worlds)
    assert Sensitivity.largest([entered - left]) == (claimed := sensitivity_of_types(memberships=memberships))
    assert private_class_types(left, memberships=memberships, rho=0.5).noise_sd == pytest.approx(claimed.l2_squared**0.5)
    assert private_sum_of_class_means([0], memberships=memberships, rho=0.5).noise_sd == pytest.approx(UNIT * memberships)


def test_an_empty_class_must_count_a_half() -> None:
    """Any other constant lets a student who changes classes move the sum by more than one class does."""
    rows = [(circle, place) for circle in ((2, 0), (2, 1)) for place in (0, 1)]

    def largest(empty: float) -> float:
        found = 0.0
        for other in rows:
            sums = []
            for row in rows:
                circles, places = zip(other, row, strict=True)
                total = float(sum_of_class_means(Circles(list(circles)), list(places), count=2)[0])
                sums.append(total / UNIT + (empty - 0.5) * (2 - len(set(places))))
            found = max(found, max(sums) - min(sums))
        return found

    assert [largest(empty) for empty in (0.0, 0.25, 0.5, 0.75, 1.0)] == [1.5, 1.25, 1.0, 1.25, 1.5]


def test_class_means_are_the_means_that_one_works_out_by_hand() -> None:
    circles = Circles([[2, 1], [3, 1], [3, 2], [1, 0], [-1, -1], [8, 28]])
    classes = np.array([[0, 1], [0, NO_CLASS], [1, 1], [2, 0], [3, 3], [NO_CLASS, NO_CLASS]])
    # (1 + 1/3)/2, (1 + 2/3)/2, nobody, nobody
    assert sum_of_class_means(circles, classes, count=4).tolist() == [667 + 833 + 500 + 500]
    assert class_types(circles, classes, count=4).tolist() == [2, 0, 0, 2]


def test_the_mean_has_the_noise_that_it_says() -> None:
    noisy = [mean_over_classes(private_sum_of_class_means([6000], rho=0.5), count=12) for _ in range(2000)]
    means = np.array([mean for mean, _sd in noisy])
    assert noisy[0][1] == pytest.approx(1 / 12, rel=1e-6)
    assert means.mean() == pytest.approx(0.5, abs=6 / 12 / 2000**0.5)
    assert means.std() == pytest.approx(1 / 12, rel=0.1)
    assert [mean_over_classes(private_sum_of_class_means([far], rho=1), count=12)[0] for far in (-(10**9), 10**9)] == [0, 1]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Circles([[9, 0]]), r"student 0: expected 0 to 8 friends d with 0 to d\(d−1\)/2 linked pairs.*got 9 and 0"),
        (lambda: Circles([[2, 1], [3, 4]]), "student 1: .*got 3 and 4"),
        (lambda: Circles([[-1, 0]]), "got -1 and 0"),
        (lambda: Circles([[1.0, 0.0]]), "got float64"),
        (lambda: Circles([1, 0]), r"shape \(2,\)"),
        (lambda: Thresholds(friends=(2, 5)), r"above 2 and up to 8: got \(2, 5\)"),
        (lambda: Thresholds(friends=(5, 5)), r"got \(5, 5\)"),
        (lambda: Thresholds(friends=(4, 9)), r"got \(4, 9\)"),
        (lambda: Thresholds(clustering=(0.0, 0.5)), r"got \(0.0, 0.5\)"),
        (lambda: Thresholds(clustering=(0.5, 1.1)), r"got \(0.5, 1.1\)"),
        (lambda: Thresholds(clustering=(0.5, 0.5)), "rise, above 0 and up to 1"),
        (lambda: Thresholds(clustering=(float("nan"), 0.5)), "rise, above 0"),
        (lambda: sum_of_class_means(Circles([[2, 1]] * 2), [0, -2], count=3), "from -1 to 2: got -2 to 0"),
        (lambda: sum_of_class_means(Circles([[2, 1]] * 2), [0, 3], count=3), "from -1 to 2: got 0 to 3"),
        (lambda: sum_of_class_means(Circles([[2, 1]]), [0, 0], count=3), "the classes of 1 students"),
        (lambda: sum_of_class_means(Circles([[2, 1]]), [0], count=0), "a class is a whole number"),
    ],
)
def test_what_does_not_fit_is_refused(make, said: str) -> None:
    with pytest.raises(DataError, match=said):
        make()
