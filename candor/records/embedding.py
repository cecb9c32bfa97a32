"""Records as sparse vectors, whose weighted distance to the smallest in each component is the loss of a class.

At each label v of a hierarchy, the vertices of a class that can be published at or below v number as many as in the record with fewest.
So a class loses Σ_i Σ_v w(v)·(x_i(v) − min_j x_j(v)), with x_i(v) the vertices of record i at or below v, and w(v) the NCP that v saves
against its parent. This is exact for the root and its children. Deeper vertices count below the same parent only.

NCP hardly tells a course from its department where there are hundreds of courses, but counts of students by course do. So w(v) also has
a share of the entropy that v saves: that of a leaf drawn uniformly below it (Gionis & Tassa, 2009, k-Anonymization with Minimal Loss of
Information, IEEE Transactions on Knowledge and Data Engineering 21(2)).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from candor.records.hierarchies import Hierarchy
from candor.records.trees import Forest, Vertex

KEPT, BIT = 0.15, 0.06
"""The worth of keeping a vertex whose label is ``*``, as a share of an attribute: its place and its sensitive values survive. And the worth
of a bit of entropy, beside the NCP."""


class Embedding(NamedTuple):
    """One row for each record."""

    vectors: sparse.csr_array
    """Weighted counts, shape (records, features), float32."""
    totals: npt.NDArray[np.float32]
    """Their sums, shape (records,)."""
    cells: npt.NDArray[np.float32]
    """Quasi-identifiers of each record, at all vertices: what is lost when the record is suppressed. Shape (records,)."""
    values: sparse.csr_array
    """Codes (from 1) of the sensitive values that must be diverse, one column for each attribute of each exact place."""


class _Features:
    """Features by their place: the feature of the parent's exact label, and the node."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.costs = {name: _costs(hierarchy) for name, hierarchy in forest.hierarchies.items()}
        kinds = [[self.costs[name] for name in kind.names] for kind in forest.kinds]
        self.losses = [sum(costs[node] for costs, node in zip(kinds[kind], nodes, strict=True)) for kind, nodes in forest.nodes]
        self.numbers: dict[tuple[int, int], int] = {}
        self.chains: list[list[int]] = []
        self.weights: list[float] = []

    def exact(self, above: int, node: int) -> int:
        """The feature of a vertex below another; those of its ancestors are made with it."""
        number = self.numbers.get((above, node))
        if number is None:
            number = self.numbers[above, node] = len(self.weights)
            losses, parent = self.losses, self.forest.parents[node]
            self.weights.append(losses[parent] - losses[node] if parent != node else KEPT * len(self.forest.nodes[node][1]))
            self.chains.append([])
            self.chains[number] = [number, *(self.chains[self.exact(above, parent)] if parent != node else ())]
        return number

    def of_root(self, kind: int, at: int, node: int) -> int:
        """The feature of one attribute of the root."""
        name = self.forest.kinds[kind].names[at]
        above = -2 - 64 * kind - at
        number = self.numbers.get((above, node))
        if number is None:
            number = self.numbers[above, node] = len(self.weights)
            costs, parent = self.costs[name], self.forest.hierarchies[name].parents[node]
            self.weights.append(costs[parent] - costs[node])
            self.chains.append([])
            self.chains[number] = [number, *(self.chains[self.of_root(kind, at, parent)] if node else ())]
        return number


def _costs(hierarchy: Hierarchy) -> list[float]:
    """The price of publishing each label."""
    return [loss + BIT * math.log2(max(1, leaves)) for loss, leaves in zip(hierarchy.losses, hierarchy.below, strict=True)]


def embed(forest: Forest, demanded: Iterable[str] = ()) -> Embedding:
    """Records as vectors.

    Parameters
    ----------
    forest : Forest
    demanded : iterable of str
        Sensitive attributes that must be diverse.

    Returns
    -------
    Embedding
    """
    features = _Features(forest)
    codes = _Codes(forest, demanded)
    rows, starts = array("i"), array("q", [0])
    cells = np.zeros(len(forest.roots), dtype=np.float32)
    numbers, exact, widths = features.numbers, features.exact, [len(nodes) for _, nodes in forest.nodes]

    def walk(children: tuple[Vertex, ...], above: int) -> int:
        found = 0
        for node, values, below in children:
            number = numbers.get((above, node))
            if number is None:
                number = exact(above, node)
            rows.append(number)
            found += widths[node]
            if codes.names:
                codes.add(number, values)
            if below:
                found += walk(below, number)
        return found

    for record, root in enumerate(forest.roots):
        rows.extend([features.of_root(root.kind, at, node) for at, node in enumerate(root.nodes)])
        if codes.names:
            codes.add(-1 - root.kind, root.values)
        cells[record] = len(root.nodes) + walk(root.children, -1)
        starts.append(len(rows))
        codes.end()
    lengths = [len(chain) for chain in features.chains]
    of = np.fromiter((one for chain in features.chains for one in chain), dtype=np.int32, count=sum(lengths))
    weights = np.array(features.weights, dtype=np.float32)
    chains = sparse.csr_array((weights[of], of, np.cumsum([0, *lengths])), shape=(len(weights), len(weights)))
    exact_counts = sparse.csr_array(
        (np.ones(len(rows), dtype=np.float32), np.frombuffer(rows, dtype=np.int32), np.frombuffer(starts, dtype=np.int64)),
        shape=(len(forest.roots), len(weights)),
    )
    vectors = sparse.csr_array(exact_counts @ chains)
    vectors.eliminate_zeros()
    return Embedding(vectors, np.asarray(vectors.sum(axis=1), dtype=np.float32).ravel(), cells, codes.matrix(len(forest.roots)))


class _Codes:
    """Sensitive values that must be diverse: the first vertex of each exact place counts."""

    def __init__(self, forest: Forest, demanded: Iterable[str]) -> None:
        self.names = list(demanded)
        self.values = forest.values
        self.places: dict[tuple[int, str], int] = {}
        self.codes: dict[tuple[str, object], int] = {}
        self.record: dict[int, int] = {}
        self.columns, self.data, self.starts = array("i"), array("i"), array("q", [0])

    def add(self, place: int, values: int) -> None:
        """Note the values of a vertex."""
        written = self.values[values][0]
        for name in self.names:
            if (value := written.get(name)) is not None:
                column = self.places.setdefault((place, name), len(self.places))
                self.record.setdefault(column, self.codes.setdefault((name, value), len(self.codes) + 1))

    def end(self) -> None:
        """End a record."""
        self.columns.extend(self.record)
        self.data.extend(self.record.values())
        self.starts.append(len(self.data))
        self.record = {}

    def matrix(self, records: int) -> sparse.csr_array:
        """All codes."""
        return sparse.csr_array(
            (np.array(self.data, dtype=np.int32), np.array(self.columns, dtype=np.int32), np.array(self.starts)),
            shape=(records, max(1, len(self.places))),
        )
