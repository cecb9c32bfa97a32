"""The published form of a class: the places that all members fill, found by counting.

At every label, from the leaves up, as many places are made as the member with fewest vertices at or below it can fill; what is left over
moves up to the parent. This attains the most places at or below every label at once, so it loses least among all alignments of children.
Grandchildren are aligned inside the place of their parent, at every depth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from candor.records.trees import Forest, Vertex


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
        self.depths = [0] * len(forest.parents)
        for node in range(len(self.depths)):
            self.depths[node] = self._depth(node)

    def _depth(self, node: int) -> int:
        parent = self.parents[node]
        return 0 if parent == node else self.depths[node] or 1 + self._depth(parent)

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
        places: list[Place] = []
        waiting: list[dict[int, list[Vertex]]] = []
        for family in families:
            own: dict[int, list[Vertex]] = {}
            for vertex in family:
                own.setdefault(vertex[0], []).append(vertex)
            waiting.append(own)
        by_depth: dict[int, set[int]] = defaultdict(set)
        for node in set(chain.from_iterable(waiting)):
            by_depth[self.depths[node]].add(node)
        for depth in range(max(by_depth), -1, -1):
            for node in by_depth[depth]:
                here = [own.get(node) for own in waiting]
                parent = self.parents[node]
                if all(here):
                    filled = [vertices for vertices in here if vertices]
                    places += self._fill(node, filled)
                moved = False
                if parent != node:
                    for own, vertices in zip(waiting, here, strict=True):
                        if vertices:
                            own.setdefault(parent, []).extend(vertices)
                            moved = True
                if moved:
                    by_depth[depth - 1].add(parent)
        return places

    def _fill(self, node: int, filled: list[list[Vertex]]) -> list[Place]:
        """As many places as all members can fill; takes the vertices out of their lists."""
        number = min(map(len, filled))
        if any(len(vertices) > 1 for vertices in filled):
            for vertices in filled:
                vertices.sort(key=_with_most_children)
        places = []
        for at in range(number):
            own = [vertices[at] for vertices in filled]
            children = self.align([vertex[2] for vertex in own]) if own[0][2] else []
            places.append(Place(self.forest.nodes[node][0], self._labels(node, own), [vertex[1] for vertex in own], children))
        for vertices in filled:
            del vertices[:number]
        return places

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
