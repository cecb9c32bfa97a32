"""Risks: published records still tell something to people who know something about one student."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil, comb

from candor.records.schema import Record

ROUNDING = 1e-9
"""A number with these digits stays as it is, though its double may be a little above."""
Formed = tuple[int, Record, "list[Formed]"]
"""The number of a vertex's look, the vertex, and the same of its children."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsiderRisk:
    """The gain of a person who knows one sensitive value, as an instructor knows the grades she gave.

    Attributes
    ----------
    singled_out : float
        The share of values after which one record is left: all of it is disclosed.
    two_left : float
        The share after which at most two are left.
    mean_match : float
        The mean of 1/(records that are left).
    """

    singled_out: float
    two_left: float
    mean_match: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAlikes:
    """The most that look-alike vertices tell: somebody has m of them, and one has some value with this probability.

    Attributes
    ----------
    m : int
        How many vertices of one record look alike there.
    highest : float
        The largest probability, over all orbits and values, that at least one of the m has the value.
    bound : float
        m times the share of the value in the orbit, at most 1: no probability is above it. With ℓ-diversity it is at most m/ℓ.
    """

    m: int
    highest: float
    bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Risks:
    """Risks of a file of records.

    Attributes
    ----------
    records, classes, smallest_class : int
    prosecutor_highest, prosecutor_mean : float
        The chance to pick the right record for somebody who is known to be in the file. The mean is the marketer's: the share of records
        that somebody who links all of them gets right. A journalist, who does not know who is in the file, has at most the prosecutor's.
    linked : dict of str to int
        How many records are the only ones with their labels, by what the attacker knows.
    insider : dict of str to InsiderRisk
        By sensitive attribute. Empty when values were shuffled (anatomy): a record with a known value is nobody's then.
    certain : dict of str to float
        The share of values that everybody in the class has below the same labels: no record need be singled out to learn them.
    distance : dict of str to float
        t: the largest distance of the values of an orbit from those of its label, by sensitive attribute.
    look_alikes : dict of str to LookAlikes
        By sensitive attribute.
    """

    records: int
    classes: int
    smallest_class: int
    prosecutor_highest: float
    prosecutor_mean: float
    linked: dict[str, int]
    insider: dict[str, InsiderRisk]
    certain: dict[str, float]
    distance: dict[str, float]
    look_alikes: dict[str, LookAlikes]

    def to_dict(self) -> dict[str, object]:
        """As plain values."""
        return asdict(self)


_json = json.JSONEncoder(ensure_ascii=False).encode


def _text(vertex: Record, depth: int) -> str:
    below = sorted(_text(child, depth - 1) for child in vertex["children"]) if depth else ()
    return f"[{_json(sorted(vertex['quasi_identifiers'].items()))}, [{', '.join(below)}]]"


def form_of(record: Record) -> str:
    """The look of a record: all its labels, in any order of siblings."""
    return _text(record, 64)


KNOWLEDGE: dict[str, Callable[[Record], object]] = {
    "labels of the root": lambda record: _text(record, 0),
    "labels of the children": lambda record: tuple(sorted(_text(child, 0) for child in record["children"])),
    "number of children": lambda record: len(record["children"]),
    "children with their children": lambda record: tuple(sorted(_text(child, 1) for child in record["children"])),
    "all labels": form_of,
}
LACKING = "a label that only this record lacks"


def linked(records: Sequence[Record]) -> dict[str, int]:
    """How many records of a file are the only ones with what an attacker knows; the fifth of 002's attacks is negative knowledge.

    Parameters
    ----------
    records : sequence of dict
        Original or published.

    Returns
    -------
    dict of str to int
    """
    found = {}
    for name, known in KNOWLEDGE.items():
        counts = Counter(known(record) for record in records)
        found[name] = sum(times == 1 for times in counts.values())
    having: dict[str, set[int]] = defaultdict(set)
    for at, record in enumerate(records):
        for child in record["children"]:
            having[_text(child, 0)].add(at)
    lacking = {min(set(range(len(records))) - those) for those in having.values() if len(those) == len(records) - 1}
    return {**found, LACKING: len(lacking)}


def risks(records: Sequence[Record]) -> Risks:
    """The risks of a file of records, from the file alone.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    Risks

    Notes
    -----
    The insider knows all labels of a student and one sensitive value. Left are the records of the class that have this value below the same
    labels. Assumption: the values of other students are not known.

    References
    ----------
    Gursoy, Inan, Nergiz & Saygin (2017), §4.1, “the adversary could be an insider”.
    """
    classes: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        classes[form_of(record)].append(record)
    left: dict[str, Counter[int]] = defaultdict(Counter)
    certain: Counter[str] = Counter()
    for members in classes.values():
        bags: dict[tuple[tuple[str, ...], str], dict[int, Counter[object]]] = defaultdict(lambda: defaultdict(Counter))
        for at, record in enumerate(members):
            for path, name, value in _values(record, ()):
                bags[path, name][at][value] += 1
        for (_, name), of in bags.items():
            having = Counter(value for bag in of.values() for value in bag)
            together = sum(of.values(), Counter())
            for bag in of.values():
                for value, times in bag.items():
                    left[name][having[value]] += times
            certain[name] += sum(times for value, times in together.items() if having[value] == len(of))
    sizes = [len(members) for members in classes.values()]
    orbits = _orbits(records)
    is_shuffled = bool(records) and all("anatomy" in record for record in records)
    return Risks(
        records=len(records),
        classes=len(sizes),
        smallest_class=min(sizes, default=0),
        prosecutor_highest=1 / min(sizes) if sizes else 0.0,
        prosecutor_mean=len(sizes) / max(1, len(records)),
        linked=linked(records),
        insider={} if is_shuffled else {name: _insider(counts) for name, counts in left.items()},
        certain={name: certain[name] / counts.total() for name, counts in left.items()},
        distance=_distances(orbits),
        look_alikes=_look_alikes(orbits, is_shuffled=is_shuffled),
    )


def rounded_up(risk: float, *, digits: int) -> float:
    """A risk as it is told: never smaller than it is, and never as none.

    Parameters
    ----------
    risk : float
        A probability, or a share of people.
    digits : int
        Digits that are kept.

    Examples
    --------
    >>> rounded_up(1 / 3, digits=2), rounded_up(0.2, digits=3), rounded_up(0.0001, digits=3)
    (0.34, 0.2, 0.001)
    """
    return ceil(risk * 10.0**digits - ROUNDING) / 10.0**digits


def _insider(left: Counter[int]) -> InsiderRisk:
    total = left.total()
    return InsiderRisk(
        singled_out=left[1] / total,
        two_left=(left[1] + left[2]) / total,
        mean_match=sum(times / number for number, times in left.items()) / total,
    )


class _Orbit:
    """Vertices that look alike, as their ancestors do: their values of one attribute, and in how many records each value occurs."""

    def __init__(self, name: str, label: object) -> None:
        self.name, self.label, self.records = name, label, 0
        self.values: Counter[object] = Counter()
        self.having: Counter[object] = Counter()


def _orbits(records: Sequence[Record]) -> list[_Orbit]:
    forms: dict[object, int] = {}
    paths: dict[object, int] = {}
    orbits: dict[tuple[int, str], _Orbit] = {}

    def formed(vertex: Record) -> Formed:
        below = [formed(child) for child in vertex["children"]]
        own = _shown(vertex), *sorted(one[0] for one in below)
        return forms.setdefault(own, len(forms)), vertex, below

    def walk(one: Formed, above: int, bags: dict[_Orbit, Counter[object]]) -> None:
        form, vertex, below = one
        path = paths.setdefault((above, form), len(paths))
        for name, value in vertex["sensitive"].items():
            if (orbit := orbits.get((path, name))) is None:
                orbit = orbits[path, name] = _Orbit(name, None if above < 0 else _shown(vertex))
            bags[orbit][value] += 1
        for child in below:
            walk(child, path, bags)

    for record in records:
        bags: dict[_Orbit, Counter[object]] = defaultdict(Counter)
        walk(formed(record), -1, bags)
        for orbit, bag in bags.items():
            orbit.records += 1
            orbit.values += bag
            orbit.having.update(bag.keys())
    return list(orbits.values())


def _shown(vertex: Record) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, repr(label)) for name, label in vertex["quasi_identifiers"].items()))


def _distances(orbits: Sequence[_Orbit]) -> dict[str, float]:
    """Half the L1 distance, blanks left out."""
    of: dict[tuple[str, object], Counter[object]] = defaultdict(Counter)
    for orbit in orbits:
        of[orbit.name, orbit.label] += orbit.values
    found: dict[str, float] = {}
    for orbit in orbits:
        whole = of[orbit.name, orbit.label]
        told, all_told = (counts.total() - counts[None] for counts in (orbit.values, whole))
        shares = (abs(orbit.values[value] / told - count / all_told) for value, count in whole.items() if value is not None) if told else ()
        found[orbit.name] = max(found.get(orbit.name, 0.0), sum(shares) / 2)
    return found


def _look_alikes(orbits: Sequence[_Orbit], *, is_shuffled: bool) -> dict[str, LookAlikes]:
    """From the records that have the value; of shuffled values, which are nobody's, from m draws out of the orbit."""
    found: dict[str, LookAlikes] = {}
    for orbit in orbits:
        size = orbit.values.total()
        m = size // orbit.records
        for value, times in orbit.values.items():
            chance = 1 - comb(size - times, m) / comb(size, m) if is_shuffled else orbit.having[value] / orbit.records
            if value is not None and (orbit.name not in found or chance > found[orbit.name].highest):
                found[orbit.name] = LookAlikes(m=m, highest=chance, bound=min(1.0, m * times / size))
    return found


def _values(vertex: Record, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, object]]:
    """Sensitive values that are told, with the labels of their vertex and its ancestors."""
    path = (*path, _text(vertex, 0))
    for name, value in vertex["sensitive"].items():
        if value is not None:
            yield path, name, value
    for child in vertex["children"]:
        yield from _values(child, path)
