"""Records as trees of numbers: labels become nodes of hierarchies, sensitive values numbers of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from candor import complaints
from candor.records.hierarchies import Hierarchy, HierarchyError, Intervals, interval_label, is_finite, short
from candor.records.schema import AUXILIARY, CHILDREN, DEEPEST, LABELS, MOST_CHILDREN, RELEASED, VALUES, Record, RecordError, Released

Vertex = tuple[int, int, tuple["Vertex", ...]]
"""The node of its labels, the number of its sensitive values, its children."""
REQUIRED = frozenset((LABELS, VALUES, CHILDREN))


class Kind(NamedTuple):
    """The vertices that have the same attributes below the same kind; only they can look alike."""

    number: int
    parent: int
    names: tuple[str, ...]
    sensitive: dict[str, None]
    """Names of sensitive attributes that occur; a vertex without one of them has a blank."""


class Root(NamedTuple):
    """A record: a node of each hierarchy of its root, its sensitive values, its children, and what is published as it is."""

    kind: int
    nodes: tuple[int, ...]
    values: int
    children: tuple[Vertex, ...]
    released: Released | None


class Flat(Hierarchy):
    """Values that are told or not: one level up to ``*``. It grows with every value that is looked up."""

    def leaf(self, value: object) -> int:
        """The node of a value, made when it is new."""
        text = value if isinstance(value, str) else repr(value)
        if text not in self.leaves:
            self.leaves[text] = len(self.labels)
            self.labels.append(text)
            self.parents.append(0)
        return self.leaves[text]

    def settle(self) -> None:
        """Count the values."""
        self.below = [len(self.leaves)] + [1] * len(self.leaves)
        self.losses = [float(len(self.leaves) > 1)] + [0.0] * len(self.leaves)


class Forest:
    """Records, compiled one by one so that the written ones need not stay in memory.

    A vertex with several quasi-identifiers has one tree of labels: the last attribute is generalised up to ``*`` first, then the one
    before it. So children are aligned by counting, as with one attribute. The labels that the members of a place share are published
    afterwards, attribute by attribute.

    Parameters
    ----------
    hierarchies : mapping of str to Hierarchy
        Of every quasi-identifier. For sensitive numbers the first width of their intervals is that of the bins.
    auxiliary : iterable of str
        Attributes that somebody confirmed, one by one, to be published as they are. Others count as quasi-identifiers; without a
        hierarchy they are told or not.
    """

    def __init__(self, hierarchies: Mapping[str, Hierarchy], *, auxiliary: Iterable[str] = ()) -> None:
        self.hierarchies = dict(hierarchies)
        self.auxiliary = frozenset(auxiliary)
        self.kinds: list[Kind] = []
        self.roots: list[Root] = []
        self.parents: list[int] = []
        """The parent of each node, or itself."""
        self.nodes: list[tuple[int, tuple[int, ...]]] = []
        """The kind of each node, and a node of the hierarchy of each attribute."""
        self.values: list[tuple[dict[str, object], dict[str, object]]] = []
        """The sensitive values that occur together in a vertex, and its confirmed auxiliary attributes."""
        self._kinds: dict[tuple[int, tuple[str, ...]], int] = {}
        self._nodes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._labels_seen: dict[object, tuple[int, int]] = {}
        self._values_seen: dict[object, int] = {}

    def add(self, record: Record) -> None:
        """Read one more record.

        Raises
        ------
        RecordError
            If it is not as described, or a value is not a leaf of its hierarchy. The message names the record and the path.
        """
        try:
            labels, told = self._labels(record, -1)
            kind = self._kind(-1, tuple(labels))
            nodes = tuple(self.hierarchies[name].leaf(labels[name]) for name in self.kinds[kind].names)
            values = self._value(record, told, kind)
            self.roots.append(Root(kind, nodes, values, self._children(record["children"], kind, 1), record.get("released")))
        except (RecordError, HierarchyError) as error:
            path = " → ".join([f"record {len(self.roots) + 1}", *error.args[:0:-1]])
            raise RecordError(f"{path}: {error.args[0]}") from None

    def settle(self) -> None:
        """End the reading: the losses of all labels are known."""
        for hierarchy in self.hierarchies.values():
            hierarchy.settle()
        self._labels_seen, self._values_seen = {}, {}

    def labels_of(self, kind: int, nodes: Iterable[int]) -> dict[str, object]:
        """The labels of nodes, by attribute."""
        return {name: self.hierarchies[name].labels[node] for name, node in zip(self.kinds[kind].names, nodes, strict=True)}

    def node(self, kind: int, nodes: tuple[int, ...]) -> int:
        """The node of labels; its ancestors are made with it."""
        found = self._nodes.get((kind, nodes))
        if found is not None:
            return found
        last = next((at for at in reversed(range(len(nodes))) if nodes[at]), None)
        if last is None:
            parent = len(self.nodes)
        else:
            above = self.hierarchies[self.kinds[kind].names[last]].parents[nodes[last]]
            parent = self.node(kind, (*nodes[:last], above, *nodes[last + 1 :]))
        self._nodes[kind, nodes] = found = len(self.nodes)
        self.nodes.append((kind, nodes))
        self.parents.append(parent)
        return found

    def _children(self, written: object, above: int, depth: int) -> tuple[Vertex, ...]:
        if type(written) is not list or len(written) > MOST_CHILDREN:
            found = f"{len(written)} of them" if type(written) is list else short(written)
            raise RecordError(f"expected a list of at most {MOST_CHILDREN} children, found {found}")
        if written and depth >= DEEPEST:
            raise RecordError(f"expected at most {DEEPEST} levels")
        children: list[Vertex] = []
        try:
            for child in written:
                try:
                    node, kind = self._labels_seen[(above, *child[LABELS].items())]
                    values = self._values_seen[(kind, *child[VALUES].items())] if len(child) == 3 and CHILDREN in child else None
                except (KeyError, TypeError, AttributeError):
                    values = None
                if values is None:
                    node, kind, values = self._vertex(child, above)
                below = child[CHILDREN]
                children.append((node, values, self._children(below, kind, depth + 1) if below or type(below) is not list else ()))
        except (RecordError, HierarchyError) as error:
            raise RecordError(*error.args, f"child {len(children) + 1}") from None
        return tuple(children)

    def _vertex(self, child: Record, above: int) -> tuple[int, int, int]:
        """Node, kind and values of a vertex that is like none before, or has auxiliary attributes."""
        labels, told = self._labels(child, above)
        kind = self._kind(above, tuple(labels))
        node = self.node(kind, tuple(self.hierarchies[name].leaf(labels[name]) for name in self.kinds[kind].names))
        if len(child) == 3 and all(type(value) is str for value in labels.values()):
            self._labels_seen[(above, *labels.items())] = node, kind
        return node, kind, self._value(child, told, kind)

    def _labels(self, vertex: object, above: int) -> tuple[dict[str, object], dict[str, object]]:
        """Attributes that are generalised, and those confirmed to be published as they are."""
        if type(vertex) is not dict or not vertex.keys() >= REQUIRED or type(vertex[LABELS]) is not dict:
            raise RecordError(f"expected quasi_identifiers, sensitive and children, found {short(vertex)}")
        if extra := sorted(map(str, vertex.keys() - REQUIRED - ({AUXILIARY, RELEASED} if above < 0 else {AUXILIARY}))):
            raise RecordError(f"unknown field {extra[0]!r}")
        auxiliary = vertex.get(AUXILIARY, {})
        if type(auxiliary) is not dict:
            raise RecordError(f"expected auxiliary attributes by name, found {short(auxiliary)}")
        labels = {**vertex[LABELS], **{name: value for name, value in auxiliary.items() if name not in self.auxiliary}}
        for name in labels:
            if name in auxiliary and name not in self.hierarchies:
                self.hierarchies[name] = Flat(name)
            if name not in self.hierarchies:
                raise RecordError(complaints.NO_HIERARCHY % {"name": repr(name)})
        return labels, {name: value for name, value in auxiliary.items() if name in self.auxiliary}

    def _kind(self, above: int, names: tuple[str, ...]) -> int:
        key = above, tuple(sorted(names))
        number = self._kinds.setdefault(key, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(Kind(number, above, names, {}))
        return number

    def _value(self, vertex: Record, told: dict[str, object], kind: int) -> int:
        """The number of the sensitive values of a vertex."""
        written = vertex["sensitive"]
        if type(written) is not dict:
            raise RecordError(f"expected sensitive values by name, found {short(written)}")
        values: dict[str, object] = {}
        for name, value in written.items():
            if not (value is None or isinstance(value, str | bool) or (isinstance(value, int | float) and is_finite(value))):
                raise RecordError(f"{name!r}: expected a text, a number or null, found {short(value)}")
            bins = self.hierarchies.get(name)
            values[name] = interval_label(value, bins.widths[0], name=name) if isinstance(bins, Intervals) and value is not None else value
            self.kinds[kind].sensitive[name] = None
        found = len(self.values)
        self.values.append((values, told))
        return found if told else self._values_seen.setdefault((kind, *written.items()), found)
