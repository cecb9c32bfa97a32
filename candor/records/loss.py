"""The loss of a release against the original: certainty of labels, and values that are blank."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass

from candor.records.anonymising import Release
from candor.records.construction import Place
from candor.records.trees import Vertex


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Shares from 0, nothing, to 1, all.

    Attributes
    ----------
    overall : float
        Mean NCP over all labels of the original records.
    labels : dict of str to float
        The same for each quasi-identifier.
    blank : dict of str to float
        For each sensitive attribute, the share of its values that is not published.
    suppressed : float
        The share of records that is left out.
    """

    overall: float
    labels: dict[str, float]
    blank: dict[str, float]
    suppressed: float

    def to_dict(self) -> dict[str, object]:
        """As plain values."""
        return asdict(self)


def losses(release: Release) -> Losses:
    """The loss of a release.

    Parameters
    ----------
    release : Release

    Returns
    -------
    Losses

    Notes
    -----
    NCP of a label = (leaves at or below it − 1)/(all leaves − 1), of an interval its width in the range of values; a vertex or record that
    is left out costs 1 for each label.

    References
    ----------
    Xu, Wang, Pei, Wang, Shi & Fu (2006), Utility-Based Anonymization Using Local Recoding, KDD, §2.
    """
    forest = release.forest
    vertices: Counter[int] = Counter()
    told: Counter[str] = Counter()
    stack: list[Vertex] = []
    for root in forest.roots:
        vertices[root.kind] += 1
        told.update(_names(forest.values[root.values][0]))
        stack.extend(root.children)
    while stack:
        node, values, children = stack.pop()
        vertices[forest.nodes[node][0]] += 1
        told.update(_names(forest.values[values][0]))
        stack.extend(children)
    cells: Counter[str] = Counter()
    for kind, number in vertices.items():
        cells.update(dict.fromkeys(forest.kinds[kind].names, number))
    saved: dict[str, float] = defaultdict(float)
    published: Counter[str] = Counter()

    def walk(place: Place) -> None:
        for name, node in zip(forest.kinds[place.kind].names, place.nodes, strict=True):
            saved[name] += len(place.values) * (1 - forest.hierarchies[name].losses[node])
        for number in place.values:
            published.update(name for name in _names(forest.values[number][0]) if name not in place.blank)
        for child in place.children:
            walk(child)

    for one in release.classes:
        walk(one.root)
    return Losses(
        overall=1 - sum(saved.values()) / max(1, cells.total()),
        labels={name: 1 - saved[name] / number for name, number in cells.items()},
        blank={name: 1 - published[name] / number for name, number in told.items()},
        suppressed=release.suppressed / len(forest.roots),
    )


def _names(values: dict[str, object]) -> list[str]:
    return [name for name, value in values.items() if value is not None]
