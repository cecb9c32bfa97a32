"""Classes of a table, improved row by row: surplus rows move, dear classes are dissolved, rows of tight classes are replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from candor.records.hierarchies import Hierarchy
from candor.records.tables.classes import FAR, Accept, Classes, Nodes
from candor.records.tables.opening import LEAST_GAIN, Opener

MOST_NODES, ROUNDS = 1500, 2
"""Labels of a hierarchy up to which there is time for the search, and how often all is tried."""
NOT_CHEAP = 0.12
"""The loss above which classes take rows in, or give them: dense and exact classes lose nothing, and gain nothing."""


def improve(
    nodes: Nodes,
    leaves: Nodes,
    hierarchies: Sequence[Hierarchy],
    *,
    k: int,
    sensitive: Mapping[str, Nodes],
    accepts: Mapping[str, Accept],
    may_suppress: int,
) -> Nodes:
    """Labels that lose less, with classes as large and as diverse as demanded.

    Parameters
    ----------
    nodes : ndarray of int, shape (rows, attributes)
        Labels with which the demands hold; of suppressed rows −1.
    leaves, hierarchies, k, sensitive, accepts
        As for `candor.records.tables.recoding.recode`.
    may_suppress : int
        How many rows may be left out, where that loses less.

    Returns
    -------
    ndarray of int, shape (rows, attributes)

    Notes
    -----
    Local search; one matrix holds the loss of each of the dearest rows in each class. A row of a class with more than k joins the class
    where it costs least; a class is dissolved when its rows cost less elsewhere; a row leaves a class of k when another one replaces it.
    """
    losses = sum(np.array(tree.losses)[nodes[:, at]] for at, tree in enumerate(hierarchies))
    some = (nodes[:, 0] < 0) | (losses > NOT_CHEAP)
    if not some.any() or max(len(tree.labels) for tree in hierarchies) > MOST_NODES:
        return nodes
    codes = {name: (sensitive[name][some], int(sensitive[name].max()) + 1) for name in accepts}
    classes = Classes(nodes[some], leaves[some], hierarchies, k, codes, accepts, may_suppress)
    opener = Opener(classes, hierarchies)
    for _ in range(ROUNDS):
        if not move_surplus(classes) + dissolve(classes) + replace(classes) + opener.run():
            break
    found = nodes.copy()
    found[some] = classes.nodes[classes.of]
    return found


def move_surplus(classes: Classes) -> int:
    """Rows of classes with more than k join the class where they cost least."""
    candidates = classes.rows[(classes.sizes > classes.least)[classes.of[classes.rows]]]
    gains = classes.costs[classes.of[candidates]] - classes.cheapest(candidates)[1]
    return sum(_move_if_better(classes, int(row)) for row in candidates[np.argsort(-gains)][: int((gains > LEAST_GAIN).sum())])


def _move_if_better(classes: Classes, row: int) -> bool:
    source = int(classes.of[row])
    if classes.sizes[source] <= classes.least[source]:
        return False
    costs = classes.costs_of_joining(classes.at[row : row + 1])[0]
    target = int(costs.argmin())
    if target == source or costs[target] > classes.costs[source] - LEAST_GAIN or not classes.accepted({row: target}):
        return False
    classes.move({row: target})
    return True


def dissolve(classes: Classes) -> int:
    """Dissolve classes whose rows cost less elsewhere, the dearest first."""
    done = 0
    for one in np.argsort(-classes.costs * classes.sizes).tolist():
        members = list(classes.members[one])
        if not members or one == classes.suppressed or classes.at[members].min() < 0 or len(members) > 3 * classes.k:
            continue
        costs = classes.costs_of_joining(classes.at[members])
        costs[:, one] = FAR
        if costs.min(axis=1).sum() < classes.costs[one] * classes.sizes[one]:
            done += _dissolved(classes, one, np.argsort(costs.min(axis=1)).tolist(), members)
    return done


def _dissolved(classes: Classes, one: int, order: Sequence[int], members: Sequence[int]) -> bool:
    """Whether each member in turn found a place, and all together cost less."""
    before, spent, moved = float(classes.costs[one] * classes.sizes[one]), 0.0, {}
    for position in order:
        row = members[position]
        costs = classes.costs_of_joining(classes.at[row : row + 1])[0]
        costs[one] = FAR
        target = int(costs.argmin())
        spent += float(costs[target])
        if spent > before - LEAST_GAIN:
            break
        moved[row] = target
        classes.move({row: target}, settle=one)
    if len(moved) == len(members) and classes.diverse(set(moved.values())):
        return True
    classes.move(dict.fromkeys(moved, one))
    return False


def replace(classes: Classes) -> int:
    """A row of a class of k leaves for where it costs less, and a surplus row of another class replaces it."""
    own = classes.of[classes.rows]
    surplus, tight = classes.rows[(classes.sizes > classes.least)[own]], classes.rows[(classes.sizes == classes.least)[own]]
    if not len(surplus):
        return 0
    gains = classes.costs[classes.of[tight]] - classes.cheapest(tight)[1]
    substitutes, extra = classes.substitutes(surplus)
    net = gains - extra[classes.of[tight]]
    best = np.argsort(-net)[: int((net > LEAST_GAIN).sum())]
    return sum(_replaced(classes, int(row), int(substitutes[classes.of[row]])) for row in tight[best])


def _replaced(classes: Classes, row: int, substitute: int) -> bool:
    source, giver = int(classes.of[row]), int(classes.of[substitute])
    target = int(classes.costs_of_joining(classes.at[row : row + 1])[0].argmin())
    if len({source, giver, target}) < 3 or classes.sizes[giver] <= classes.least[giver] or classes.sizes[source] != classes.k:
        return False
    three = [source, giver, target]
    before = float(classes.costs[three] @ classes.sizes[three])
    moves = {substitute: source, row: target}
    if not classes.accepted(moves):
        return False
    classes.move(moves)
    if float(classes.costs[three] @ classes.sizes[three]) < before - LEAST_GAIN:
        return True
    classes.move({substitute: giver, row: source})
    return False
