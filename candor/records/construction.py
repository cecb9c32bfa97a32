"""The published form of a class: the places that all members fill, found by counting.

At every label, from the leaves up, as many places are made as the member with fewest vertices at or below it can fill; what is left over
moves up to the parent. This attains the most places at or below every label at once, so it loses least among all alignments of children.
Grandchildren are aligned inside the place of their parent, at every depth.
"""

from __future__ import annotations

from collections.abc import Sequence

from candor.records.trees import Forest, Vertex

Waiting = dict[int, list[Vertex]]
"""Vertices of one member that fill no place yet, by node."""


class Place:
    """One vertex of a class: each member fills it.

    Parameters
    ----------
    kind : int
    nodes : tuple of int
        A node of the hierarchy of each attribute.
    values : list of int, shape (members,)
        The sensitive values of the members.
    children : list of Place
    """

    __slots__ = ("blank", "children", "kind", "nodes", "values")

    def __init__(self, kind: int, nodes: tuple[int, ...], values: list[int], children: list[Place]) -> None:
        self.kind = kind
        self.nodes = nodes
        self.values = values
        self.children = children
        self.blank: frozenset[str] = frozenset()
        """Sensitive attributes that are not published here."""


class PublishedClass:
    """Records that look alike: the place of the root, and the rows of its members."""

    __slots__ = ("members", "root")

    def __init__(self, members: list[int], root: Place) -> None:
        self.members = members
        self.root = root


class Builder:
    """Builds classes of a settled forest."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.parents = forest.parents
        self.depths = [len(self._above(node)) - 1 for node in range(len(forest.parents))]
        self.deepest = max(self.depths, default=0)
        self.pairs: dict[tuple[int, int], int | None] = {}

    def build(self, members: Sequence[int]) -> PublishedClass:
        """The class of some records, which have the same attributes at their roots."""
        roots = [self.forest.roots[row] for row in members]
        kind = roots[0].kind
        names = self.forest.kinds[kind].names
        nodes = tuple(self.forest.hierarchies[name].common([root.nodes[at] for root in roots]) for at, name in enumerate(names))
        children = self.align([root.children for root in roots])
        return PublishedClass(list(members), Place(kind, nodes, [root.values for root in roots], children))

    def align(self, families: Sequence[Sequence[Vertex]]) -> list[Place]:
        """The places of the children of vertices that fill one place.

        Parameters
        ----------
        families : sequence of sequence of Vertex, shape (members,)
            The children of each member.

        Returns
        -------
        list of Place
        """
        if not all(families):
            return []
        if max(map(len, families)) == 1:
            own = [family[0] for family in families]
            node = self._common([vertex[0] for vertex in own])
            return [] if node is None else [self._place(node, own)]
        places: list[Place] = []
        depths = self.depths
        waiting: list[dict[int, Waiting]] = [{} for _ in range(self.deepest + 1)]  # of each depth, the vertices of each member by node
        for member, family in enumerate(families):
            for vertex in family:
                waiting[depths[vertex[0]]].setdefault(member, {}).setdefault(vertex[0], []).append(vertex)
        for depth in range(self.deepest, -1, -1):
            here = waiting[depth]
            if len(here) == len(families):
                first, *others = here.values()
                for node in set(first).intersection(*others):
                    self._fill(node, here, places)
            if depth:
                self._move_up(here, waiting[depth - 1])
        return places

    def _move_up(self, here: dict[int, Waiting], above: dict[int, Waiting]) -> None:
        """The rest waits at the parent; at a root it is dropped."""
        parents = self.parents
        for member, waiting in here.items():
            if not waiting:
                continue
            own = above.setdefault(member, {})
            for node, vertices in waiting.items():
                own.setdefault(parents[node], []).extend(vertices)

    def _fill(self, node: int, here: dict[int, Waiting], places: list[Place]) -> None:
        """Make as many places as all members can fill; their vertices wait no longer."""
        filled = [waiting.pop(node) for waiting in here.values()]
        most = max(map(len, filled))
        if most == 1:
            places.append(self._place(node, [vertices[0] for vertices in filled]))
            return
        number = min(map(len, filled))
        for vertices, waiting in zip(filled, here.values(), strict=True):
            vertices.sort(key=_with_most_children)
            if len(vertices) > number:
                waiting[node] = vertices[number:]
        places += [self._place(node, [vertices[at] for vertices in filled]) for at in range(number)]

    def _place(self, node: int, own: Sequence[Vertex]) -> Place:
        children = self.align([vertex[2] for vertex in own]) if own[0][2] else []
        return Place(self.forest.nodes[node][0], self._labels(node, own), [vertex[1] for vertex in own], children)

    def _common(self, nodes: Sequence[int]) -> int | None:
        """The lowest node at or above all; None when vertices are of different kinds."""
        found = nodes[0]
        for node in nodes:
            if node != found:
                pair = (found, node)
                if pair not in self.pairs:
                    above = self._above(found)
                    self.pairs[pair] = next((one for one in self._above(node) if one in above), None)
                common = self.pairs[pair]
                if common is None:
                    return None
                found = common
        return found

    def _above(self, node: int) -> list[int]:
        chain = [node]
        while (parent := self.parents[node]) != node:
            chain.append(node := parent)
        return chain

    def _labels(self, node: int, own: Sequence[Vertex]) -> tuple[int, ...]:
        """The labels that vertices share, attribute by attribute."""
        kind, nodes = self.forest.nodes[node]
        if len(nodes) < 2 or all(vertex[0] == node for vertex in own):
            return nodes
        names = self.forest.kinds[kind].names
        exact = [self.forest.nodes[vertex[0]][1] for vertex in own]
        return tuple(self.forest.hierarchies[name].common({one[at] for one in exact}) for at, name in enumerate(names))


def _with_most_children(vertex: Vertex) -> tuple[int, list[int]]:
    """Vertices with many children first, those with the same children side by side."""
    return -len(vertex[2]), sorted([child[0] for child in vertex[2]])
