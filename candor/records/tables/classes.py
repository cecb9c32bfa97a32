"""Classes of a table as a local search sees them: their members, and the loss of each row at hand in each class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from candor.records.hierarchies import Hierarchy

Floats = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]
Single = npt.NDArray[np.float32]
Accept = Callable[[Floats], npt.NDArray[np.bool_]]
"""Whether classes are good enough, by their counts of each sensitive value; shapes (classes, values) and (classes,)."""
MOST_PAIRS = 5_000_000
"""Pairs of a row and a class whose losses are kept at hand."""
BLOCK = 100_000
"""Pairs whose losses are computed at once."""
DEAR, FAR, SPARE = 0.3, 1e6, 100
"""The loss above which the rows of a class are at hand, that of joining an empty class, and how many classes are empty at first."""


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
    from_root = paths(tree)
    found = np.zeros((len(from_root), len(from_root)), dtype=np.int64)
    for column in from_root.T[1:]:
        found = np.where(column[:, None] == column, column, found)
    return found


def paths(tree: Hierarchy) -> Nodes:
    """The nodes from the root to each node, which then repeats itself.

    Returns
    -------
    ndarray of int, shape (nodes, levels)
    """
    chains = [tree.chain(node)[::-1] for node in range(len(tree.labels))]
    depth = max(map(len, chains))
    return np.array([chain + chain[-1:] * (depth - len(chain)) for chain in chains], dtype=np.int64)


class Classes:
    """Classes, their members, and the loss of each row at hand in each class. Some are empty: they can be opened.

    One class is that of suppressed rows. It may be small, loses 1 in each cell, and is closed when it holds as many as may be suppressed.

    Parameters
    ----------
    nodes : ndarray of int, shape (rows, attributes)
        The labels of each row; of suppressed ones −1.
    leaves : ndarray of int, shape (rows, attributes)
    hierarchies : sequence of Hierarchy, shape (attributes,)
    k : int
    codes : mapping of str to (ndarray of int, int)
        The sensitive values of each row, and how many different ones there are.
    accepts : mapping of str to callable
    may_suppress : int
    """

    def __init__(
        self,
        nodes: Nodes,
        leaves: Nodes,
        hierarchies: Sequence[Hierarchy],
        k: int,
        codes: Mapping[str, tuple[Nodes, int]],
        accepts: Mapping[str, Accept],
        may_suppress: int,
    ) -> None:
        self.k, self.leaves, self.accepts, self.may_suppress = k, leaves, accepts, may_suppress
        self.above = [paths(tree)[own].astype(np.uint16) for tree, own in zip(hierarchies, leaves.T, strict=True)]
        """For each attribute the labels above each row, from the root down; shape (rows, levels)."""
        self.chains = np.hstack(self.above)
        self.begins = np.cumsum([0, *(above.shape[1] for above in self.above[:-1])])
        """Where the labels of each attribute begin among them."""
        self.common = [common_nodes(tree) for tree in hierarchies]
        self.losses = [np.array(tree.losses, dtype=np.float32) for tree in hierarchies]
        self.joint = [losses[common] for losses, common in zip(self.losses, self.common, strict=True)]
        here = nodes[:, 0] >= 0
        labels, of = np.unique(nodes[here], axis=0, return_inverse=True)
        self.suppressed = len(labels)
        self.of = np.full(len(nodes), self.suppressed)
        self.of[here] = of.ravel()
        self.nodes = np.vstack([labels, np.full((1 + SPARE, labels.shape[1]), -1)])
        self.sizes = np.bincount(self.of, minlength=len(self.nodes)).astype(np.float32)
        self.members = [part.tolist() for part in np.split(np.argsort(self.of, kind="stable"), np.cumsum(self.sizes[:-1]).astype(int))]
        self.costs: Single = np.asarray(
            np.sum([losses[self.nodes[:, at]] for at, losses in enumerate(self.losses)], axis=0), dtype=np.float32
        )
        self.costs[self.suppressed :] = 0.0
        self.costs[self.suppressed] = len(hierarchies)
        self.least = np.full(len(self.nodes), k)
        """Rows that each class has at least, unless it is empty."""
        self.least[self.suppressed] = 0
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
        own, at = np.unique(self.leaves[self.rows], axis=0, return_inverse=True)
        self.at = np.full(len(self.of), -1, dtype=np.int64)
        self.at[self.rows] = at.ravel()
        self.own = own.T.copy()
        self.joined = np.zeros((len(own), len(self.nodes)), dtype=np.float32)
        for labels, joint, leaves in zip(self.nodes.T, self.joint, self.own, strict=True):
            self.joined += np.ascontiguousarray(joint[:, labels])[leaves]
        self.joined[:, self.suppressed :] = FAR
        self._settle(self.suppressed)

    @property
    def loss(self) -> float:
        """For all rows together."""
        return float(self.costs @ self.sizes)

    def costs_of_joining(self, at: Nodes | slice) -> Single:
        """The loss of all classes when a row joins them; its own class loses what it costs there already."""
        joined = self.joined[at]
        return np.asarray(joined + self.sizes * (joined - self.costs))

    def cheapest(self, rows: Nodes, *, but_own: bool = False) -> tuple[Nodes, Single]:
        """The class that loses least when a row at hand joins it, maybe but for its own class, and how much; each shape (rows,)."""
        best, least = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.float32)
        for part in self._blocks(len(rows)):
            costs, every = self.costs_of_joining(self.at[rows[part]]), np.arange(len(part))
            if but_own:
                costs[every, self.of[rows[part]]] = FAR
            best[part] = costs.argmin(axis=1)
            least[part] = costs[every, best[part]]
        return best, least

    def substitutes(self, rows: Nodes) -> tuple[Nodes, Single]:
        """The row at hand that could come to each class at the least further cost, and that cost; each shape (classes,)."""
        best, least = np.zeros(len(self.sizes), dtype=np.int64), np.full(len(self.sizes), np.inf, dtype=np.float32)
        for part in self._blocks(len(rows)):
            extra = self.costs_of_joining(self.at[rows[part]]) - self.costs[self.of[rows[part]], None]
            lower = extra.min(axis=0) < least
            best[lower] = rows[part][extra[:, lower].argmin(axis=0)]
            least[lower] = extra[:, lower].min(axis=0)
        return best, least

    def _blocks(self, rows: int) -> list[Nodes]:
        """Numbers of rows, so many at once that their losses in all classes fit into a processor's own memory."""
        return np.array_split(np.arange(rows), 1 + rows * len(self.sizes) // BLOCK)

    def accepted(self, moves: Mapping[int, int]) -> bool:
        """Whether all classes would be diverse after these moves."""
        for name, counts in self.counts.items():
            changed: dict[int, Floats] = {}
            for row, target in moves.items():
                for one, by in ((int(self.of[row]), -1), (target, 1)):
                    changed.setdefault(one, counts[one].copy())[self.codes[name][row]] += by
            if not self.accepts[name](np.array([own for one, own in changed.items() if one != self.suppressed and own.any()])).all():
                return False
        return True

    def diverse(self, classes: set[int]) -> bool:
        """Whether these classes are."""
        some = sorted(one for one in classes if self.members[one] and one != self.suppressed)
        return all(self.accepts[name](counts[some]).all() for name, counts in self.counts.items())

    def move(self, moves: Mapping[int, int], settle: int | None = None) -> None:
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
        if one == self.suppressed:
            self.joined[:, one] = self.costs[one] if len(members) < self.may_suppress else FAR
            return
        if not members:
            self.costs[one], self.joined[:, one] = 0.0, FAR
            return
        chains = self.chains[members]
        shared = np.add.reduceat((chains == chains[0]).all(axis=0), self.begins, dtype=np.intp)
        found = chains[0, self.begins + shared - 1]
        if (found != self.nodes[one]).any() or self.joined[:1, one].max(initial=0) >= FAR:
            self.nodes[one] = found
            self.costs[one] = sum(float(losses[node]) for losses, node in zip(self.losses, found.tolist(), strict=True))
            self.joined[:, one] = self._joined(found)

    def _joined(self, labels: Iterable[int]) -> Single:
        """The losses of these labels when each row at hand joins their class."""
        return np.asarray(sum(joint[node][own] for joint, node, own in zip(self.joint, labels, self.own, strict=True)))
