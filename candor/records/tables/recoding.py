"""Local recoding of a table by counting: at each combination of levels, the cheapest first, rows that enough others share are published."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candor.records.hierarchies import Hierarchy
from candor.records.schema import ParameterError
from candor.records.tables.improving import improve

Floats = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]
Single = npt.NDArray[np.float32]
Accept = Callable[[Floats], npt.NDArray[np.bool_]]
"""Whether classes are good enough, by their counts of each sensitive value; shapes (classes, values) and (classes,)."""
Part = Callable[[Floats, Floats], Floats]
"""How many rows of each sensitive value a class may keep so that it is good enough, by their counts and the fewest rows that are worth it:
shapes (classes, values) and (classes,)."""
MOST_COMBINATIONS = 20_000
STEPS, FEW_STEPS = (0.2, 1.0), (0.5,)
"""Losses of a row up to which all combinations are tried before dearer ones; few when classes are published in part."""
LEAST_PART, WORTH_CUTTING, NEAREST = 0.75, 35, 20
"""A class is published in part when that is so much of it, and it is so large. Rows that are left over try so many classes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoded:
    """Labels of each row.

    Attributes
    ----------
    nodes : ndarray of int, shape (rows, attributes)
        Nodes of the hierarchies; of suppressed rows −1.
    loss : float
        Mean NCP over all cells; a suppressed row costs 1 in each.
    """

    nodes: Nodes
    loss: float

    @property
    def suppressed(self) -> int:
        """How many rows are left out."""
        return int((self.nodes[:, 0] < 0).sum())


def recode(
    leaves: Nodes,
    hierarchies: Sequence[Hierarchy],
    *,
    k: int,
    sensitive: Mapping[str, Nodes],
    accepts: Mapping[str, Accept],
    suppress: float,
    part: Part | None = None,
) -> Recoded:
    """Labels with which each row looks like at least k − 1 others.

    Parameters
    ----------
    leaves : ndarray of int, shape (rows, attributes)
        The leaf of each value.
    hierarchies : sequence of Hierarchy, shape (attributes,)
    k : int
    sensitive : mapping of str to ndarray of int, shape (rows,)
        Codes from 0 of sensitive values.
    accepts : mapping of str to callable
        What classes must keep, by sensitive attribute.
    suppress : float
        The largest share of rows that may be left out.
    part : callable, optional
        With one sensitive attribute: which part of a class can be published when all of it cannot. The rest waits for dearer labels.

    Returns
    -------
    Recoded

    Raises
    ------
    ParameterError
        If more rows than that cannot be published.
    """
    nodes = _Recoding(leaves, hierarchies, k, sensitive, accepts, part).run(suppress)
    if part is None:
        may_suppress = int(suppress * len(nodes))
        nodes = improve(nodes, leaves, hierarchies, k=k, sensitive=sensitive, accepts=accepts, may_suppress=may_suppress)
    losses = [np.array(tree.losses) for tree in hierarchies]
    cells = [np.where(own < 0, 1.0, of[own]).mean() for own, of in zip(nodes.T, losses, strict=True)]
    return Recoded(nodes=nodes, loss=float(np.mean(cells)))


class _Recoding:
    """Distinct rows with their numbers. Those that are published are kept in lots: rows, their numbers, and their labels."""

    def __init__(
        self,
        leaves: Nodes,
        hierarchies: Sequence[Hierarchy],
        k: int,
        sensitive: Mapping[str, Nodes],
        accepts: Mapping[str, Accept],
        part: Part | None,
    ) -> None:
        self.k, self.hierarchies, self.accepts, self.part = k, hierarchies, accepts, part
        columns = np.column_stack([leaves, *(sensitive[name] for name in accepts)])
        self.distinct, self.row_of, numbers = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
        self.row_of = self.row_of.ravel()
        self.left = numbers.astype(np.float64)
        self.all = float(len(leaves))
        width = len(hierarchies)
        self.leaves = self.distinct[:, :width]
        self.codes = {name: self.distinct[:, width + at] for at, name in enumerate(accepts)}
        self.values = {name: int(codes.max()) + 1 for name, codes in self.codes.items()}
        chains = [[tree.chain(node) for node in range(len(tree.labels))] for tree in hierarchies]
        self.depths = [max(map(len, of)) for of in chains]
        up = [np.array([chain + [0] * (depth - len(chain)) for chain in of]) for of, depth in zip(chains, self.depths, strict=True)]
        self.losses = [np.array(tree.losses) for tree in hierarchies]
        self.labels = [
            [up[at][self.leaves[:, at], level].astype(np.int32) for level in range(depth)] for at, depth in enumerate(self.depths)
        ]
        self.half = width // 2
        self.first, self.second = self._halves(range(self.half)), self._halves(range(self.half, width))
        self.lots: list[tuple[Nodes, Floats, Nodes]] = []

    def run(self, suppress: float) -> Nodes:
        """The labels of all rows."""
        if (combinations := int(np.prod(self.depths))) > MOST_COMBINATIONS:
            raise ParameterError(f"expected at most {MOST_COMBINATIONS} combinations of levels, found {combinations}: give fewer levels")
        free = np.arange(len(self.leaves))
        order = self._order()
        for most in (*(STEPS if self.part is None else FEW_STEPS), np.inf):
            free = self._sweep(order, free, most)
        self._merge(free, may_suppress=suppress * self.all)
        if (left := self.left.sum()) > suppress * self.all:
            raise ParameterError(f"{left:.0f} of {self.all:.0f} rows would be suppressed; expected at most {suppress:.1%}")
        return self._nodes()

    def _nodes(self) -> Nodes:
        """The labels of each row: those of a distinct row are dealt to the rows that are like it."""
        found = np.full((len(self.row_of), len(self.depths)), -1, dtype=np.int64)
        if self.lots:
            rows, numbers, labels = (np.concatenate(parts) for parts in zip(*self.lots, strict=True))
            rest = np.flatnonzero(self.left)
            rows, numbers = np.concatenate([rows, rest]), np.concatenate([numbers, self.left[rest]])
            labels = np.concatenate([labels, np.full((len(rest), len(self.depths)), -1, dtype=np.int64)])
            order = np.argsort(rows, kind="stable")
            dealt = np.repeat(order, numbers[order].astype(np.int64))
            found[np.argsort(self.row_of, kind="stable")] = labels[dealt]
        return found

    def _halves(self, attributes: Sequence[int]) -> dict[tuple[int, ...], tuple[Single, Nodes]]:
        """The losses and the keys of all combinations of the levels of some attributes, each shape (distinct rows,)."""
        found: dict[tuple[int, ...], tuple[Single, Nodes]] = {}
        for levels in itertools.product(*(range(self.depths[at]) for at in attributes)):
            losses, keys = np.zeros(len(self.leaves), dtype=np.float32), np.zeros(len(self.leaves), dtype=np.int64)
            for at, level in zip(attributes, levels, strict=True):
                labels = self.labels[at][level]
                losses += self.losses[at][labels].astype(np.float32)
                keys = keys * len(self.losses[at]) + labels
            found[levels] = losses, keys
        return found

    def _order(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Combinations of levels, halved, by their mean loss."""
        means = [{levels: float((losses * self.left).sum()) for levels, (losses, _) in half.items()} for half in (self.first, self.second)]
        return sorted(itertools.product(self.first, self.second), key=lambda levels: means[0][levels[0]] + means[1][levels[1]])

    def _sweep(self, order: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], free: Nodes, most: float) -> Nodes:
        """Publish what can be at a loss of at most `most`; the rows that are left."""
        first, second = ({levels: losses[free] for levels, (losses, _) in half.items()} for half in (self.first, self.second))
        scale = np.int64(np.prod([len(losses) for losses in self.losses[self.half :]]))
        for levels in order:
            costs = first[levels[0]] + second[levels[1]]
            chosen = free[(costs <= most) & (self.left[free] > 0)]
            if not len(chosen):
                continue
            keys = self.first[levels[0]][1][chosen] * scale + self.second[levels[1]][1][chosen]
            _, group = np.unique(keys, return_inverse=True)
            taken = self._taken(chosen, self.left[chosen], group)
            if taken.any():
                self._publish(
                    chosen, taken, np.column_stack([own[level][chosen] for own, level in zip(self.labels, sum(levels, ()), strict=True)])
                )
        return free[self.left[free] > 0]

    def _publish(self, rows: Nodes, taken: Floats, labels: Nodes) -> None:
        some = taken > 0
        self.lots.append((rows[some], taken[some], labels[some]))
        np.subtract.at(self.left, rows[some], taken[some])

    def _taken(self, chosen: Nodes, numbers: Floats, group: Nodes, least: float = LEAST_PART) -> Floats:
        """How many of each distinct row can be published, when those of a group look alike."""
        groups = int(group.max()) + 1
        sizes = np.bincount(group, numbers, minlength=groups).astype(np.float64)
        good = sizes >= self.k
        worth = np.flatnonzero(good & (sizes >= WORTH_CUTTING))
        for name, accept in self.accepts.items():
            values = self.values[name]
            at = np.flatnonzero(good)
            cells = group * values + self.codes[name][chosen]
            counts = np.bincount(cells, numbers, minlength=groups * values).reshape(groups, values).astype(np.float64)
            good[at] = accept(counts[at])
        taken = np.where(good[group], numbers, 0.0)
        if self.part is not None and len(worth := worth[~good[worth]]):
            kept = self.part(counts[worth], np.maximum(self.k, least * sizes[worth]))
            limits = np.zeros((groups, values))
            limits[worth] = kept
            taken += _dealt(limits.ravel(), cells, numbers)
        return taken

    def _merge(self, free: Nodes, *, may_suppress: float) -> None:
        """Rows that are left over join the class where they cost least, unless leaving them out costs less and is allowed.

        A class that is nearest, and too unlike for that, is left over, too.
        """
        while len(free) and self.lots:
            rows, numbers, labels = (np.concatenate(parts) for parts in zip(*self.lots, strict=True))
            classes, of = np.unique(labels, axis=0, return_inverse=True)
            of = of.ravel()
            sizes = np.bincount(of, numbers)
            left = self.left[free].sum()
            common = [tree.common(self.leaves[free, at].tolist()) for at, tree in enumerate(self.hierarchies)]
            joined = [
                np.array([tree.common((common[at], node)) for node in range(len(tree.labels))])[classes[:, at]]
                for at, tree in enumerate(self.hierarchies)
            ]
            after = sum(losses[own] for losses, own in zip(self.losses, joined, strict=True))
            before = sum(losses[classes[:, at]] for at, losses in enumerate(self.losses))
            costs = (sizes + left) * after - sizes * before
            if left <= may_suppress and costs.min() >= left * len(self.losses):
                return
            nearest = np.argsort(costs, kind="stable")
            for best in nearest[:NEAREST]:
                own = of == best
                chosen, there = np.concatenate([free, rows[own]]), np.concatenate([self.left[free], numbers[own]])
                taken = self._taken(chosen, there, np.zeros(len(chosen), dtype=np.int64), least=0.0)
                if taken.any() and there.sum() - taken.sum() <= may_suppress:
                    self.lots = [(rows[~own], numbers[~own], labels[~own])]
                    np.add.at(self.left, rows[own], numbers[own])
                    self._publish(chosen, taken, np.tile([one[best] for one in joined], (len(chosen), 1)))
                    return
            own = of == nearest[0]
            self.lots = [(rows[~own], numbers[~own], labels[~own])] if not own.all() else []
            np.add.at(self.left, rows[own], numbers[own])
            free = np.flatnonzero(self.left)


def _dealt(limits: Floats, cells: Nodes, numbers: Floats) -> Floats:
    """How many of each lot are taken, when each cell takes up to its limit.

    Examples
    --------
    >>> _dealt(np.array([3.0, 1.0]), np.array([0, 1, 0]), np.array([2.0, 5.0, 2.0]))
    array([2., 1., 1.])
    """
    order = np.argsort(cells.astype(np.min_scalar_type(len(limits))), kind="stable")  # small numbers are sorted by their digits
    own, there = cells[order], numbers[order]
    sums = np.cumsum(there) - there
    begins = np.concatenate([[True], own[1:] != own[:-1]])
    before = sums - np.maximum.accumulate(np.where(begins, sums, 0.0))
    taken = np.empty_like(numbers)
    taken[order] = np.clip(limits[own] - before, 0, there)
    return taken
