"""Local recoding of a table by counting: at each combination of levels, the cheapest first, rows that enough others share are published."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from candor.records.hierarchies import Hierarchy
from candor.records.schema import ParameterError

Floats = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]
Accept = Callable[[Floats], npt.NDArray[np.bool_]]
"""Whether classes are good enough, by their counts of each sensitive value; shapes (classes, values) and (classes,)."""
MOST_COMBINATIONS = 20_000
STEPS = (0.1, 0.2, 0.4, 0.8, 1.2, 2.0)
"""Losses of a row up to which all combinations are tried before dearer ones."""


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

    Returns
    -------
    Recoded

    Raises
    ------
    ParameterError
        If more rows than that cannot be published.
    """
    return _Recoding(leaves, hierarchies, k, sensitive, accepts).run(suppress)


class _Recoding:
    """Distinct rows with their numbers; equal rows always get equal labels."""

    def __init__(
        self, leaves: Nodes, hierarchies: Sequence[Hierarchy], k: int, sensitive: Mapping[str, Nodes], accepts: Mapping[str, Accept]
    ) -> None:
        self.k, self.hierarchies, self.accepts = k, hierarchies, accepts
        columns = np.column_stack([leaves, *(sensitive[name] for name in accepts)])
        self.distinct, self.row_of, numbers = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
        self.row_of = self.row_of.ravel()
        self.rows = numbers.astype(float)
        width = len(hierarchies)
        self.leaves = self.distinct[:, :width]
        self.codes = {name: self.distinct[:, width + at] for at, name in enumerate(accepts)}
        self.values = {name: int(codes.max()) + 1 for name, codes in self.codes.items()}
        chains = [[tree.chain(node) for node in range(len(tree.labels))] for tree in hierarchies]
        self.depths = [max(map(len, of)) for of in chains]
        up = [np.array([chain + [0] * (depth - len(chain)) for chain in of]) for of, depth in zip(chains, self.depths, strict=True)]
        self.losses = [np.array(tree.losses) for tree in hierarchies]
        self.labels = [[up[at][self.leaves[:, at], level] for level in range(depth)] for at, depth in enumerate(self.depths)]
        self.costs = [[self.losses[at][of] for of in levels] for at, levels in enumerate(self.labels)]

    def run(self, suppress: float) -> Recoded:
        if (combinations := int(np.prod(self.depths))) > MOST_COMBINATIONS:
            raise ParameterError(f"expected at most {MOST_COMBINATIONS} combinations of levels, found {combinations}: give fewer levels")
        nodes = np.full(self.leaves.shape, -1, dtype=np.int64)
        free = np.arange(len(self.leaves))
        order = self._order()
        for most in (*STEPS, np.inf):
            free = self._sweep(order, free, nodes, most)
        self._merge(free, nodes, may_suppress=suppress * self.rows.sum())
        left = self.rows[nodes[:, 0] < 0].sum()
        if left > suppress * self.rows.sum():
            raise ParameterError(f"{left:.0f} of {self.rows.sum():.0f} rows would be suppressed; expected at most {suppress:.1%}")
        cells = sum(np.where(nodes[:, at] < 0, 1.0, losses[nodes[:, at]]) for at, losses in enumerate(self.losses))
        loss = float((self.rows * cells).sum() / self.rows.sum() / len(self.losses))
        return Recoded(nodes=nodes[self.row_of], loss=loss)

    def _order(self) -> list[tuple[int, ...]]:
        """Combinations of levels by their mean loss."""
        means = [[float((cost * self.rows).sum()) for cost in costs] for costs in self.costs]
        combinations = itertools.product(*(range(depth) for depth in self.depths))
        return sorted(combinations, key=lambda levels: sum(mean[level] for mean, level in zip(means, levels, strict=True)))

    def _sweep(self, order: Sequence[tuple[int, ...]], free: Nodes, nodes: Nodes, most: float) -> Nodes:
        """Publish what can be at a loss of at most `most`; the rows that are left."""
        for levels in order:
            if not len(free):
                break
            costs = sum(cost[level][free] for cost, level in zip(self.costs, levels, strict=True))
            chosen = free[costs <= most]
            if not len(chosen):
                continue
            labels = [of[level][chosen] for of, level in zip(self.labels, levels, strict=True)]
            keys = labels[0].astype(np.int64)
            for own, losses in zip(labels[1:], self.losses[1:], strict=True):
                keys = keys * len(losses) + own
            _, group = np.unique(keys, return_inverse=True)
            good = self._good(chosen, group)[group]
            if good.any():
                nodes[chosen[good]] = np.column_stack(labels)[good]
                free = free[nodes[free, 0] < 0]
        return free

    def _good(self, chosen: Nodes, group: Nodes) -> npt.NDArray[np.bool_]:
        """The rule for groups of rows that may be published."""
        groups = int(group.max()) + 1
        good = np.bincount(group, self.rows[chosen], minlength=groups) >= self.k
        for name, accept in self.accepts.items():
            values = self.values[name]
            at = np.flatnonzero(good)
            counts = np.bincount(group * values + self.codes[name][chosen], self.rows[chosen], minlength=groups * values)
            good[at] = accept(counts.reshape(groups, values)[at].astype(np.float64))
        return good

    def _merge(self, free: Nodes, nodes: Nodes, *, may_suppress: float) -> None:
        """Rows that are left over join the class where they cost least, unless leaving them out costs less and is allowed."""
        while len(free):
            classes, of = np.unique(nodes[nodes[:, 0] >= 0], axis=0, return_inverse=True)
            published = np.flatnonzero(nodes[:, 0] >= 0)
            if not len(classes):
                return
            sizes = np.bincount(of.ravel(), self.rows[published])
            left = self.rows[free].sum()
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
            for best in np.argsort(costs, kind="stable"):
                rows = np.concatenate([free, published[of.ravel() == best]])
                if self._good(rows, np.zeros(len(rows), dtype=np.int64))[0]:
                    nodes[rows] = [own[best] for own in joined]
                    return
            rows = published[of.ravel() == int(np.argmin(costs))]
            nodes[rows] = -1
            free = np.concatenate([free, rows])
