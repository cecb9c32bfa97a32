"""Classes of a table, improved row by row: surplus rows move, dear classes are dissolved, rows of tight classes are replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from candor.records.hierarchies import Hierarchy

Floats = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]
Single = npt.NDArray[np.float32]
Accept = Callable[[Floats], npt.NDArray[np.bool_]]
MOST_PAIRS, MOST_NODES = 5_000_000, 1500
"""Pairs of a row and a class whose losses are kept at hand, and labels of a hierarchy up to which there is time for that."""
ROUNDS, LEAST_GAIN, FAR = 2, 1e-4, 1e6
DEAR, NOT_CHEAP = 0.3, 0.12
"""Losses above which rows move, and above which classes take them in: dense and exact classes lose nothing, and gain nothing."""


def improve(
    nodes: Nodes,
    leaves: Nodes,
    hierarchies: Sequence[Hierarchy],
    *,
    k: int,
    sensitive: Mapping[str, Nodes],
    accepts: Mapping[str, Accept],
) -> Nodes:
    """Labels that lose less, with classes as large and as diverse as demanded.

    Parameters
    ----------
    nodes : ndarray of int, shape (rows, attributes)
        Labels with which the demands hold; of suppressed rows −1. They stay suppressed.
    leaves, hierarchies, k, sensitive, accepts
        As for `candor.records.tables.recoding.recode`.

    Returns
    -------
    ndarray of int, shape (rows, attributes)

    Notes
    -----
    Local search; one matrix holds the loss of each of the dearest rows in each class. A row of a class with more than k joins the class
    where it costs least; a class is dissolved when its rows cost less elsewhere; a row leaves a class of k when another one replaces it.
    """
    losses = sum(np.array(tree.losses)[nodes[:, at]] for at, tree in enumerate(hierarchies))
    some = (nodes[:, 0] >= 0) & (losses > NOT_CHEAP)
    if not some.any() or max(len(tree.labels) for tree in hierarchies) > MOST_NODES:
        return nodes
    codes = {name: (sensitive[name][some], int(sensitive[name].max()) + 1) for name in accepts}
    search = _Search(nodes[some], leaves[some], hierarchies, k, codes, accepts)
    for _ in range(ROUNDS):
        if not search.move_surplus() + search.dissolve() + search.replace():
            break
    found = nodes.copy()
    found[some] = search.nodes[search.of]
    return found


def common_nodes(tree: Hierarchy) -> Nodes:
    """The lowest node at or above each two nodes.

    Returns
    -------
    ndarray of int, shape (nodes, nodes)

    Examples
    --------
    >>> from candor.records.hierarchies import from_chains
    >>> tree = from_chains("course", {"CS1": ["CS1", "CS", "*"], "CS2": ["CS2", "CS", "*"], "ART": ["ART", "*"]})
    >>> tree.labels[common_nodes(tree)[tree.leaf("CS1"), tree.leaf("CS2")]]
    'CS'
    """
    chains = [tree.chain(node)[::-1] for node in range(len(tree.labels))]
    depth = max(map(len, chains))
    from_root = np.array([chain + [-1 - node] * (depth - len(chain)) for node, chain in enumerate(chains)], dtype=np.int64)
    found = np.zeros((len(chains), len(chains)), dtype=np.int64)
    for column in from_root.T[1:]:
        found = np.where((column[:, None] == column) & (column >= 0), column, found)
    np.fill_diagonal(found, np.arange(len(chains)))
    return found


class _Search:
    """Classes, their members, and the loss of each row at hand in each class."""

    def __init__(
        self,
        nodes: Nodes,
        leaves: Nodes,
        hierarchies: Sequence[Hierarchy],
        k: int,
        codes: Mapping[str, tuple[Nodes, int]],
        accepts: Mapping[str, Accept],
    ) -> None:
        self.k, self.leaves, self.accepts = k, leaves, accepts
        self.common = [common_nodes(tree) for tree in hierarchies]
        self.losses = [np.array(tree.losses, dtype=np.float32) for tree in hierarchies]
        self.joint = [losses[common] for losses, common in zip(self.losses, self.common, strict=True)]
        self.nodes, of = np.unique(nodes, axis=0, return_inverse=True)
        self.of = of.ravel()
        self.sizes = np.bincount(self.of).astype(np.float32)
        self.members = [part.tolist() for part in np.split(np.argsort(self.of, kind="stable"), np.cumsum(self.sizes[:-1]).astype(int))]
        self.costs: Single = np.asarray(
            np.sum([losses[self.nodes[:, at]] for at, losses in enumerate(self.losses)], axis=0), dtype=np.float32
        )
        self.codes = {name: own for name, (own, _) in codes.items()}
        self.counts = {name: self._counts(own, values) for name, (own, values) in codes.items()}
        self._take_at_hand()

    def _counts(self, codes: Nodes, values: int) -> Floats:
        return np.bincount(self.of * values + codes, minlength=len(self.nodes) * values).reshape(-1, values).astype(np.float64)

    def _take_at_hand(self) -> None:
        """The rows of the dearest classes, as many as there is room for."""
        order = np.argsort(-self.costs, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self.sizes[order]), MOST_PAIRS / len(order)))
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[:enough]] = self.costs[order[:enough]] > DEAR
        self.rows = np.flatnonzero(chosen[self.of])
        self.own, at = np.unique(self.leaves[self.rows], axis=0, return_inverse=True)
        self.at = np.full(len(self.of), -1, dtype=np.int64)
        self.at[self.rows] = at.ravel()
        self.joined = np.zeros((len(self.own), len(self.nodes)), dtype=np.float32)
        for attribute, joint in enumerate(self.joint):
            self.joined += np.ascontiguousarray(joint[:, self.nodes[:, attribute]])[self.own[:, attribute]]

    def _costs_of_joining(self, at: Nodes | slice) -> Single:
        """The loss of all classes when a row joins them; its own class loses what it costs there already."""
        joined = self.joined[at]
        return np.asarray(joined + self.sizes * (joined - self.costs))

    def move_surplus(self) -> int:
        """Rows of classes with more than k join the class where they cost least."""
        least = self._costs_of_joining(slice(None)).min(axis=1) if len(self.own) else np.zeros(0)
        candidates = self.rows[self.sizes[self.of[self.rows]] > self.k]
        gains = self.costs[self.of[candidates]] - least[self.at[candidates]]
        return sum(self._move_if_better(int(row)) for row in candidates[np.argsort(-gains)][: int((gains > LEAST_GAIN).sum())])

    def _move_if_better(self, row: int) -> bool:
        source = int(self.of[row])
        if self.sizes[source] <= self.k:
            return False
        costs = self._costs_of_joining(self.at[row : row + 1])[0]
        target = int(costs.argmin())
        if target == source or costs[target] > self.costs[source] - LEAST_GAIN or not self._accepted({row: target}):
            return False
        self._move({row: target})
        return True

    def dissolve(self) -> int:
        """Dissolve classes whose rows cost less elsewhere, the dearest first."""
        done = 0
        for one in np.argsort(-self.costs * self.sizes).tolist():
            members = list(self.members[one])
            if not members or self.at[members].min() < 0 or len(members) > 3 * self.k:
                continue
            costs = self._costs_of_joining(self.at[members])
            costs[:, one] = FAR
            if costs.min(axis=1).sum() < self.costs[one] * self.sizes[one] and len(self.members) > 1:
                done += self._dissolved(one, np.argsort(costs.min(axis=1)).tolist(), members)
        return done

    def _dissolved(self, one: int, order: Sequence[int], members: Sequence[int]) -> bool:
        """Whether each member in turn found a place, and all together cost less."""
        before, spent, moved = float(self.costs[one] * self.sizes[one]), 0.0, {}
        for position in order:
            row = members[position]
            costs = self._costs_of_joining(self.at[row : row + 1])[0]
            costs[one] = FAR
            target = int(costs.argmin())
            spent += float(costs[target])
            if spent > before - LEAST_GAIN:
                break
            moved[row] = target
            self._move({row: target}, settle=one)
        if len(moved) == len(members) and self._diverse(set(moved.values())):
            return True
        self._move(dict.fromkeys(moved, one))
        return False

    def replace(self) -> int:
        """A row of a class of k leaves for where it costs less, and a surplus row of another class replaces it."""
        if not len(self.rows):
            return 0
        costs = self._costs_of_joining(slice(None))
        own = self.of[self.rows]
        gains = self.costs[own] - costs.min(axis=1)[self.at[self.rows]]
        surplus = self.rows[self.sizes[own] > self.k]
        if not len(surplus):
            return 0
        extra = costs[self.at[surplus]] - self.costs[self.of[surplus]][:, None]
        substitutes = surplus[extra.argmin(axis=0)]
        net = np.where(self.sizes[own] == self.k, gains - extra.min(axis=0)[own], 0)
        best = np.argsort(-net)[: int((net > LEAST_GAIN).sum())]
        return sum(self._replaced(int(row), int(substitutes[self.of[row]])) for row in self.rows[best])

    def _replaced(self, row: int, substitute: int) -> bool:
        source, giver = int(self.of[row]), int(self.of[substitute])
        target = int(self._costs_of_joining(self.at[row : row + 1])[0].argmin())
        if len({source, giver, target}) < 3 or self.sizes[giver] <= self.k or self.sizes[source] != self.k:
            return False
        three = [source, giver, target]
        before = float(self.costs[three] @ self.sizes[three])
        moves = {substitute: source, row: target}
        if not self._accepted(moves):
            return False
        self._move(moves)
        if float(self.costs[three] @ self.sizes[three]) < before - LEAST_GAIN:
            return True
        self._move({substitute: giver, row: source})
        return False

    def _accepted(self, moves: Mapping[int, int]) -> bool:
        """Whether all classes would be diverse after these moves."""
        for name, counts in self.counts.items():
            changed: dict[int, Floats] = {}
            for row, target in moves.items():
                for one, by in ((int(self.of[row]), -1), (target, 1)):
                    changed.setdefault(one, counts[one].copy())[self.codes[name][row]] += by
            if not self.accepts[name](np.array([own for own in changed.values() if own.any()])).all():
                return False
        return True

    def _diverse(self, classes: set[int]) -> bool:
        return all(self.accepts[name](counts[sorted(classes)]).all() for name, counts in self.counts.items())

    def _move(self, moves: Mapping[int, int], settle: int | None = None) -> None:
        """Move rows; classes get the labels that their members share, but one that is being dissolved (`settle`) keeps its own."""
        changed = set()
        for row, target in moves.items():
            source = int(self.of[row])
            self.members[source].remove(row)
            self.members[target].append(row)
            self.of[row] = target
            for name, counts in self.counts.items():
                counts[source, self.codes[name][row]] -= 1
                counts[target, self.codes[name][row]] += 1
            changed |= {source, target}
        for one in changed:
            self.sizes[one] = len(self.members[one])
            if one != settle or not self.members[one]:
                self._settle(one)

    def _settle(self, one: int) -> None:
        """The labels and losses of a class, from its members."""
        members = self.members[one]
        if not members:
            self.costs[one], self.joined[:, one] = 0.0, FAR
            return
        own = self.leaves[members]
        found = own[0].copy()
        for at, common in enumerate(self.common):
            for node in set(own[:, at].tolist()):
                found[at] = common[found[at], node]
        if (found != self.nodes[one]).any() or self.joined[:1, one].max(initial=0) >= FAR:
            self.nodes[one] = found
            self.costs[one] = sum(float(losses[node]) for losses, node in zip(self.losses, found.tolist(), strict=True))
            self.joined[:, one] = sum(joint[node][self.own[:, at]] for at, (joint, node) in enumerate(zip(self.joint, found, strict=True)))
