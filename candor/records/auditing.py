"""The curator's audit: what was published covers something original, nothing was invented, no order was kept, and shuffled values moved.

Shares no code with the anonymiser.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from math import log, sqrt

import numpy as np

from candor.records.checking import Forms, Looked, Violation
from candor.records.schema import Record

Hierarchies = Mapping[str, Mapping[str, Sequence[object]]]
INTERVAL = re.compile(r"\[(-?[\d.]+(?:e[+-]?\d+)?),(-?[\d.]+(?:e[+-]?\d+)?)([\])])")
LAGS, LEAST_PAIRS = 40, 12
"""At so many distances in the file neighbours are no neighbours in the original, unless by chance; with fewer pairs nothing can be said."""
SURPRISE = 8.0
"""Standard deviations beyond chance from which an order was kept."""
RESHUFFLES, FALSE_ALARMS = 8, 1e-6
"""How often marked values are shuffled again, and the share of shuffled files that may be taken for files that were not."""

Said = tuple[str, object, bool]
"""A name, what a published vertex tells of it, and whether that is a sensitive value."""


class Audit:
    """Compares published records with the original ones.

    Parameters
    ----------
    originals : sequence of dict
        Records as they were given to the anonymiser.
    hierarchies : mapping, optional
        As they were given. Without them a label that is no original value of its attribute is taken to cover everything.
    anatomy : bool
        Whether sensitive values were shuffled, and are not compared.
    """

    def __init__(self, originals: Sequence[Record], hierarchies: Hierarchies | None = None, *, anatomy: bool = False) -> None:
        self.originals, self.anatomy = originals, anatomy
        self.chains = {name: tree for name, tree in (hierarchies or {}).items() if "interval" not in tree}
        self.known = set(hierarchies or ())
        self.values: dict[str, set[str]] = defaultdict(set)
        self.seen: dict[tuple[str, object, object], bool] = {}
        self.told: dict[int, dict[str, object]] = {}
        """All attributes of each vertex of the originals, by its identity: they live as long as this."""
        self.by_root: dict[object, list[int]] = defaultdict(list)
        for number, record in enumerate(originals):
            self._collect(record)
            self.by_root[repr(self.told[id(record)])].append(number)

    def _collect(self, vertex: Record) -> None:
        self.told[id(vertex)] = told = _told(vertex)
        for name, value in told.items():
            self.values[name].add(str(value))
        for child in vertex["children"]:
            self._collect(child)

    def violations(self, published: Sequence[Record]) -> Iterator[Violation]:
        """Inventions, and whether the order of the originals was kept.

        Parameters
        ----------
        published : sequence of dict

        Yields
        ------
        Violation
        """
        candidates = [self._candidates(record) for record in published]
        for number, (record, found) in enumerate(zip(published, candidates, strict=True), start=1):
            if not found:
                yield Violation(number, self._invented(record), "invented", "no original record has what this one tells")
                return
        left_out = unmatched(candidates)
        if left_out is not None:
            yield Violation(left_out + 1, "root", "invented", "more records like this one are published than there were")
        if (kept := _kept_order(candidates)) is not None:
            yield Violation(1, "root", "order", f"{kept:.0%} of neighbours in this file are neighbours in the original; expected no order")
        if self.anatomy and (unmoved := self._unmoved(published, candidates)) is not None:
            yield Violation(1, "root", "anatomy", unmoved)

    def _unmoved(self, published: Sequence[Record], candidates: Sequence[Sequence[int]]) -> str | None:
        """Whether more records have two attributes of one original than after a shuffle within orbits, unless with a probability of 10⁻⁶.

        A file that was shuffled and the same file shuffled again have the same distribution, and classes are independent. So Hoeffding's
        inequality bounds the difference from the mean of some shuffles, for all pairs of attributes together.
        """
        forms, cells, classes = Forms(name for one in published for name in one.get("auxiliary", ())), _Cells(), Counter[int]()
        for number, record in enumerate(published):
            looked = forms.look(record)
            classes[looked[0]] += 1
            cells.collect(number, looked, (), self.values)
        original = [_Cells.of(record) for record in self.originals]
        pairs = list(combinations_with_replacement(sorted({name for _, name in cells.values}), 2))
        rng = np.random.default_rng()
        arranged = [cells.arranged(len(published), rng if again else None) for again in range(1 + RESHUFFLES)]
        allowed = sqrt((1 + 1 / RESHUFFLES) * sum(size**2 for size in classes.values()) * log(max(1, len(pairs)) / FALSE_ALARMS) / 2)
        for pair in pairs:
            there = [Counter({cell: times for cell, times in one.items() if cell[0] in pair}) for one in original]
            whole = []
            for one in arranged:
                told = [Counter({cell: times for cell, times in own.items() if cell[0] in pair}) for own in one]
                whole.append(sum(any(own <= there[at] for at in found) for own, found in zip(told, candidates, strict=True)))
            if whole[0] - sum(whole[1:]) / RESHUFFLES > allowed:
                names = " and ".join(dict.fromkeys(pair))
                return f"{whole[0]} records have {names} as an original has; after a shuffle {sum(whole[1:]) / RESHUFFLES:.0f} would"
        return None

    def _candidates(self, record: Record) -> list[int]:
        said = self._said(record)
        return [
            number
            for numbers in self.by_root.values()
            if self._vertex_covers(said, self.originals[numbers[0]])
            for number in numbers
            if self._children_cover(record, self.originals[number])
        ]

    def _said(self, published: Record) -> list[Said]:
        labels = {**published["quasi_identifiers"], **published.get("auxiliary", {})}
        values = {} if self.anatomy else {name: value for name, value in published["sensitive"].items() if value is not None}
        return [(name, label, False) for name, label in labels.items()] + [(name, value, True) for name, value in values.items()]

    def _vertex_covers(self, said: Sequence[Said], original: Record) -> bool:
        told = self.told[id(original)]
        return all(name in told and self._covers(name, label, told[name], value_of=value_of) for name, label, value_of in said)

    def _covers(self, name: str, label: object, value: object, *, value_of: bool = False) -> bool:
        """Whether a label may stand for a value."""
        key = (name, repr(label), repr(value))
        if key not in self.seen:
            interval = INTERVAL.fullmatch(label) if isinstance(label, str) else None
            if label == value or str(label) == str(value) or (label == "*" and not value_of):
                covers = True
            elif interval and _number(value) is not None:
                number, low, high = _number(value) or 0.0, float(interval[1]), float(interval[2])
                covers = low - 1e-9 <= number < high + 1e-9
            elif name in self.known or value_of:
                covers = not value_of and str(label) in self.chains.get(name, {}).get(str(value), ())
            else:
                covers = str(label) not in self.values[name]
            self.seen[key] = covers
        return self.seen[key]

    def _children_cover(self, published: Record, original: Record) -> bool:
        wanted, there = published["children"], original["children"]
        if len(wanted) > len(there):
            return False
        return not wanted or unmatched([self._covering(child, there) for child in wanted]) is None

    def _covering(self, child: Record, there: Sequence[Record]) -> list[int]:
        said = self._said(child)
        return [
            at
            for at, one in enumerate(there)
            if self._vertex_covers(said, one) and (not child["children"] or self._children_cover(child, one))
        ]

    def _invented(self, record: Record) -> str:
        """The vertex that the originals with this root lack."""
        said = self._said(record)
        for numbers in self.by_root.values():
            if self._vertex_covers(said, self.originals[numbers[0]]):
                there = self.originals[numbers[0]]["children"]
                missing = unmatched([self._covering(child, there) for child in record["children"]])
                if missing is not None:
                    labels = record["children"][missing]["quasi_identifiers"]
                    return "root → " + ", ".join(f"{name} {label}" for name, label in labels.items())
        return "root"


class _Cells:
    """Sensitive values by orbit and attribute, with the record of each."""

    def __init__(self) -> None:
        self.values: dict[tuple[object, str], tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))

    def collect(self, number: int, looked: Looked, path: tuple[int, ...], known: Mapping[str, set[str]]) -> None:
        """Note the values of a vertex and those below it; bins are no original values."""
        form, vertex, children = looked
        path = (*path, form)
        for name, value in vertex["sensitive"].items():
            if str(value) in known[name]:
                records, values = self.values[path, name]
                records.append(number)
                values.append(str(value))
        for child in children:
            self.collect(number, child, path, known)

    def arranged(self, records: int, rng: np.random.Generator | None) -> list[Counter[tuple[str, str]]]:
        """The values of each record, as they are or shuffled within orbits."""
        found: list[Counter[tuple[str, str]]] = [Counter() for _ in range(records)]
        for (_, name), (numbers, values) in self.values.items():
            for number, at in zip(numbers, range(len(values)) if rng is None else rng.permutation(len(values)), strict=True):
                found[number][name, values[at]] += 1
        return found

    @staticmethod
    def of(record: Record) -> Counter[tuple[str, str]]:
        """The values of an original."""
        found, waiting = Counter[tuple[str, str]](), [record]
        while waiting:
            vertex = waiting.pop()
            found.update((name, str(value)) for name, value in vertex["sensitive"].items())
            waiting += vertex["children"]
        return found


def unmatched(candidates: Sequence[Sequence[int]]) -> int | None:
    """The first of those that cannot each have a candidate of its own; None when all can (augmenting paths, without recursion).

    Examples
    --------
    >>> unmatched([[0, 1], [0]]), unmatched([[0], [0]])
    (None, 1)
    """
    owner: dict[int, int] = {}
    for start in range(len(candidates)):
        came_from: dict[int, int] = {}
        waiting, free = [start], None
        while waiting and free is None:
            one = waiting.pop()
            for target in candidates[one]:
                if target not in came_from:
                    came_from[target] = one
                    if target not in owner:
                        free = target
                        break
                    waiting.append(owner[target])
        if free is None:
            return start
        previous = {one: target for target, one in owner.items()} if came_from[free] != start else {}
        while free is not None:
            one = came_from[free]
            owner[free] = one
            free = previous.get(one) if one != start else None
    return None


def _kept_order(candidates: Sequence[Sequence[int]]) -> float | None:
    """The share of neighbours that may be neighbours in the original, when it is far above that of records further apart."""
    sets = [set(found) for found in candidates]

    def share(lag: int) -> tuple[float, int]:
        pairs = [any(at + 1 in after for at in before) for before, after in zip(sets, sets[lag:], strict=False)]
        return (sum(pairs) / len(pairs), len(pairs)) if pairs else (0.0, 0)

    near, pairs = share(1)
    if pairs < LEAST_PAIRS:
        return None
    far = [share(2 + at * (len(sets) - 4) // LAGS) for at in range(LAGS)]
    chance = max(sum(rate * number for rate, number in far) / sum(number for _, number in far), 1 / len(sets))
    spread = (chance * (1 - min(chance, 0.999)) / pairs) ** 0.5
    return near if near - chance > SURPRISE * spread + 2 / pairs else None


def _told(vertex: Record) -> dict[str, object]:
    return {**vertex["quasi_identifiers"], **vertex.get("auxiliary", {}), **vertex["sensitive"]}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except ValueError:
        return None
