"""From records to a release that the checker accepts, or to a refusal that says why."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from candor import complaints
from candor.records import checking
from candor.records.clustering import cluster
from candor.records.construction import Builder, Place, PublishedClass
from candor.records.diversity import Demands, Repair, largest_levels
from candor.records.embedding import embed
from candor.records.hierarchies import read_hierarchies
from candor.records.schema import ParameterError, Record
from candor.records.shuffling import secret_orders, shuffled
from candor.records.trees import Forest

SUPPRESSED_AT_MOST = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Published records, and what their keeper knows besides.

    Attributes
    ----------
    records : list of dict
        In an order drawn from the operating system's randomness. Parts that are alike are the same objects: change none.
    suppressed : int
        How many records were left out.
    classes : list of PublishedClass
        The keeper's: members are rows of `forest.roots`.
    forest : Forest
        The keeper's: the records as they were.
    """

    records: list[Record]
    suppressed: int
    classes: list[PublishedClass]
    forest: Forest


def read_records(records: Iterable[Record], hierarchies: object, *, auxiliary: Iterable[str] = ()) -> Forest:
    """Compile records, and check each of them.

    Parameters
    ----------
    records : iterable of dict
        As docs/records.md describes them; each is read once.
    hierarchies : mapping
        ``{NAME: {VALUE: [VALUE, PARENT, …, "*"]}}``; numbers may have ``{"interval": WIDTHS}``.
    auxiliary : iterable of str
        Attributes that somebody confirmed to be published as they are.

    Returns
    -------
    Forest

    Raises
    ------
    HierarchyError, RecordError
        Naming the attribute, or the record and the path.
    """
    forest = Forest(read_hierarchies(hierarchies), auxiliary=auxiliary)
    with without_collection():
        for record in records:
            forest.add(record)
    forest.settle()
    return forest


def anonymize(
    records: Forest | Iterable[Record],
    hierarchies: object = None,
    *,
    k: int,
    diversity: Mapping[str, int] | None = None,
    class_size: int | None = None,
    suppress: float = SUPPRESSED_AT_MOST,
    t: float | None = None,
    auxiliary: Iterable[str] = (),
    anatomy: bool = False,
    classes: Iterable[Iterable[int]] | None = None,
    tell: Callable[[float], object] = lambda share: None,
) -> Release:
    """Records of which k look alike, with diverse sensitive values.

    Parameters
    ----------
    records : Forest or iterable of dict
        Records, or what `read_records` made of them.
    hierarchies : mapping, optional
        See `read_records`; not needed with a Forest.
    k : int
        Records of a class, at least.
    diversity : mapping of str to int, optional
        ℓ by sensitive attribute: ℓ times the commonest value of an orbit is at most its size. 0 demands nothing.
    class_size : int, optional
        Records of a class that are aimed at; larger classes make diversity cheaper. Default: k.
    suppress : float
        The largest share of records that may be left out.
    t : float, optional
        The largest distance of the values of an orbit from those of its label.
    auxiliary : iterable of str
        See `read_records`.
    anatomy : bool
        Whether the values of each sensitive attribute change places within each orbit; every record then says so. The
        connection of two values of a person is lost.
    classes : iterable of iterable of int, optional
        Rows of the records of each class, from an earlier release (`candor.records.releases.manifest`), which are used again.
    tell : callable
        Is told the share that is done; may raise to stop.

    Returns
    -------
    Release

    Raises
    ------
    HierarchyError, RecordError
        If the input is not as described.
    ParameterError
        If no release of these records can keep the parameters; it says the largest that are possible.

    Notes
    -----
    Assumption: quasi-identifiers and structure are all that an attacker knows. An instructor knows grades too (see `candor.records.risk`).
    The algorithm aligns children by counting (`candor.records.construction`) and clusters on the loss of that (`embedding`).

    References
    ----------
    Gursoy, Inan, Nergiz & Saygin (2017), Privacy-Preserving Learning Analytics, IEEE Transactions on Learning Technologies 10(1), §4.

    Examples
    --------
    >>> courses = {name: [name, "CS", "*"] for name in ("CS1", "CS2")}
    >>> def student(*taken):
    ...     children = [{"quasi_identifiers": {"course": one}, "sensitive": {}, "children": []} for one in taken]
    ...     return {"quasi_identifiers": {}, "sensitive": {}, "children": children}
    >>> release = anonymize([student("CS1", "CS1"), student("CS2", "CS1")], {"course": courses}, k=2)
    >>> sorted(child["quasi_identifiers"]["course"] for child in release.records[0]["children"])
    ['CS', 'CS1']
    """
    forest = records if isinstance(records, Forest) else read_records(records, hierarchies, auxiliary=auxiliary)
    demands = Demands(levels=dict(diversity or {}), t=t)
    size = _checked(forest, k=k, size=class_size, suppress=suppress, demands=demands)
    tell(0.2)
    chosen = (
        _clustered(forest, k=k, size=size, suppress=suppress, demands=demands, tell=lambda share: tell(0.2 + 0.5 * share))
        if classes is None
        else _again(forest, classes)
    )
    n = len(forest.roots)
    if (suppressed := n - sum(map(len, chosen))) > suppress * n:
        raise ParameterError(complaints.SUPPRESSED % {"suppressed": suppressed, "n": n, "most": f"{suppress:.0%}"})
    with without_collection():
        built, published = _built(forest, chosen, demands=demands, anatomy=anatomy)
    tell(0.9)
    kept = frozenset(forest.auxiliary)
    with without_collection():
        broken = next(checking.violations(published, k=k, diversity=demands.levels, t=t, auxiliary=kept), None)
    if broken is not None:
        raise ParameterError(f"the checker refuses this release: {broken}")
    tell(1.0)
    return Release(records=published, suppressed=suppressed, classes=built, forest=forest)


def _checked(forest: Forest, *, k: int, size: int | None, suppress: float, demands: Demands) -> int:
    """The class size; refuses parameters that cannot be kept."""
    n = len(forest.roots)
    if k < 2:
        raise ParameterError(complaints.SMALL_K % {"k": k})
    if k > n:
        raise ParameterError(complaints.LARGE_K % {"n": n, "k": k})
    if size is not None and size < k:
        raise ParameterError(complaints.SMALL_CLASSES % {"k": k, "found": size})
    if not 0 <= suppress < 1:
        raise ParameterError(complaints.SHARE % {"found": suppress})
    if demands.t is not None and not 0 <= demands.t <= 1:
        raise ParameterError(complaints.T % {"found": demands.t})
    largest = largest_levels(forest) if demands.levels else {}
    numbers = {name for values, _ in forest.values for name, value in values.items() if isinstance(value, float) and value != int(value)}
    for name, level in demands.levels.items():
        if name not in largest:
            raise ParameterError(complaints.NO_SENSITIVE % {"name": repr(name), "known": ", ".join(largest) or "none"})
        if level < 0:
            raise ParameterError(complaints.NEGATIVE_LEVEL % {"name": repr(name), "level": level})
        if level > max(1, largest[name]):
            raise ParameterError(complaints.LARGE_LEVEL % {"name": repr(name), "most": largest[name], "level": level})
        if level > 1 and name in numbers:
            raise ParameterError(complaints.NO_BINS % {"name": repr(name)})
    return size or max(k, *demands.levels.values(), 1)


def _clustered(forest: Forest, *, k: int, size: int, suppress: float, demands: Demands, tell: Callable[[float], object]) -> list[list[int]]:
    """Rows of each class; records whose roots have other attributes are never mixed."""
    n = len(forest.roots)
    embedding = embed(forest, demands.names)
    kinds = np.array([root.kind for root in forest.roots])
    chosen: list[list[int]] = []
    suppressed = 0
    for kind in np.unique(kinds):
        rows = np.flatnonzero(kinds == kind)
        if len(rows) < k:
            suppressed += len(rows)
            continue
        found = cluster(
            embedding,
            rows,
            size=size,
            diversity=max([1, *(demands.levels[name] for name in demands.names)]),
            may_suppress=int(suppress * n) - suppressed,
            tell=tell,
        )
        chosen += found.members
        suppressed += len(found.suppressed)
    if suppressed > suppress * n:
        raise ParameterError(complaints.UNLIKE % {"suppressed": suppressed, "n": n, "k": k, "most": f"{suppress:.0%}"})
    return chosen


def _again(forest: Forest, classes: Iterable[Iterable[int]]) -> list[list[int]]:
    """Classes that are used again."""
    chosen = [list(one) for one in classes]
    rows = [row for one in chosen for row in one]
    if len(set(rows)) < len(rows) or not all(0 <= row < len(forest.roots) for row in rows):
        raise ParameterError(f"classes: expected rows from 0 to {len(forest.roots) - 1}, each at most once")
    if any(len({forest.roots[row].kind for row in one}) > 1 for one in chosen):
        raise ParameterError(complaints.OTHER_QUESTIONS)
    return chosen


def _built(
    forest: Forest, chosen: Iterable[Sequence[int]], *, demands: Demands, anatomy: bool
) -> tuple[list[PublishedClass], list[Record]]:
    """The classes, repaired, and their records in an order that nobody can draw again."""
    builder = Builder(forest)
    built = [builder.build(members) for members in chosen]
    repair = Repair(forest, built, demands)
    if demands.names or demands.t is not None:
        repair.run()
    if anatomy:
        repair.shuffle()
    publisher = _Publisher(forest)
    published = shuffled([record for one in built for record in publisher.records(one)])
    return built, [{**record, "anatomy": True} for record in published] if anatomy else published


class _Publisher:
    """Writes classes as records; parts that are alike are written once."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.told: dict[tuple[int, frozenset[str]], dict[int, dict[str, object]]] = {}
        self.labels: dict[tuple[int, tuple[int, ...]], dict[str, object]] = {}
        self.leaves: dict[tuple[int, tuple[int, ...], frozenset[str]], dict[int, Record]] = {}

    def records(self, one: PublishedClass) -> Iterator[Record]:
        """The records of a class, each with its children in an order of its own."""
        for row, record in zip(one.members, self._vertices(one.root), strict=True):
            if (released := self.forest.roots[row].released) is not None:
                record["released"] = released
            yield record

    def _vertices(self, place: Place) -> list[Record]:
        labels = self._labels(place)
        told = self._told(place)
        if not place.children and not self.forest.auxiliary:
            alike = self.leaves.setdefault((place.kind, place.nodes, place.blank), {})
            for number in place.values:
                if number not in alike:
                    alike[number] = {"quasi_identifiers": labels, "sensitive": told[number], "children": []}
            # A root gets what was released for it, and no other record may share that.
            return [alike[number] if self.forest.kinds[place.kind].parent >= 0 else alike[number].copy() for number in place.values]
        families = [self._vertices(child) for child in place.children]
        children: Iterable[Sequence[Record]] = zip(*families, strict=True) if families else ((),) * len(place.values)
        if len(families) > 1:
            orders = secret_orders(len(place.values), len(families)).tolist()
            children = [[family[at] for at in order] for family, order in zip(children, orders, strict=True)]
        found: list[Record] = [
            {"quasi_identifiers": labels, "sensitive": told[number], "children": list(below)}
            for number, below in zip(place.values, children, strict=True)
        ]
        if self.forest.auxiliary:
            for number, record in zip(place.values, found, strict=True):
                if auxiliary := self.forest.values[number][1]:
                    record["auxiliary"] = auxiliary
        return found

    def _labels(self, place: Place) -> dict[str, object]:
        key = place.kind, place.nodes
        if key not in self.labels:
            self.labels[key] = self.forest.labels_of(*key)
        return self.labels[key]

    def _told(self, place: Place) -> dict[int, dict[str, object]]:
        """The published values of each number, without those that are blank here."""
        told = self.told.setdefault((place.kind, place.blank), {})
        names = [(name, name in place.blank) for name in self.forest.kinds[place.kind].sensitive]
        for number in place.values:
            if number not in told:
                written = self.forest.values[number][0]
                told[number] = {name: None if blank else written.get(name) for name, blank in names}
        return told


@contextmanager
def without_collection() -> Iterator[None]:
    """No search for cycles meanwhile: there are none among so many small objects, and looking for them takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            due = gc.get_count()[0] > gc.get_threshold()[0]
            if due and not gc.get_freeze_count():  # which Python counts one by one
                gc.freeze()  # everything is old now, without having been looked at
                gc.unfreeze()
            gc.enable()
