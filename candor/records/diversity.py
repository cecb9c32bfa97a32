"""ℓ and t: orbits of classes, and their repair by the cheapest of pooling, dropping and blanking."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from candor import complaints
from candor.records.construction import Place, PublishedClass
from candor.records.embedding import KEPT
from candor.records.schema import ParameterError
from candor.records.shuffling import shuffled
from candor.records.trees import Forest, Vertex

MOST_ROUNDS, BLANK = 200, 3.0
"""A blank value costs as much as three labels: counts miss it, and what it had to do with the rest of its record."""


@dataclass(slots=True)
class Orbit:
    """Places of one or several classes whose vertices look alike, as their ancestors do."""

    depth: int
    form: int
    above: Orbit | None
    places: list[Place] = field(default_factory=list)
    siblings: list[list[Place]] = field(default_factory=list)
    """For each place, the list that it stands in."""
    values: dict[str, Counter[object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """Demands on sensitive values: ℓ by attribute (0 and 1 demand nothing), and the largest distance t of an orbit from its label."""

    levels: Mapping[str, int]
    t: float | None = None

    @property
    def names(self) -> list[str]:
        """Attributes for which ℓ is above 1."""
        return [name for name, level in self.levels.items() if level > 1]

    def fails(self, name: str, values: Counter[object], of: Counter[object] | None = None) -> bool:
        """Whether the values of an orbit are not diverse enough, or too far from those of their label."""
        size, blanks = values.total(), values[None]
        if blanks == size:
            return False
        level = self.levels.get(name, 0)
        if level > 1 and (blanks or max(values.values()) * level > size):
            return True
        return self.t is not None and of is not None and distance(values, of) > self.t


def distance(values: Counter[object], of: Counter[object]) -> float:
    """Half the L1 distance between two distributions; blanks do not count.

    Examples
    --------
    >>> distance(Counter("AB"), Counter("AAAB"))
    0.25
    """
    size, whole = values.total() - values[None], of.total() - of[None]
    if not size or not whole:
        return 0.0
    return sum(abs(values[value] / size - of[value] / whole) for value in {*values, *of} if value is not None) / 2


def largest_levels(forest: Forest) -> dict[str, int]:
    """The largest ℓ that each sensitive attribute allows: 1/(share of its commonest value), over all vertices that have one.

    Returns
    -------
    dict of str to int
    """
    counts: dict[str, Counter[object]] = {name: Counter() for kind in forest.kinds for name in kind.sensitive}
    numbers: Counter[int] = Counter()
    stack: list[Vertex] = []
    for root in forest.roots:
        numbers[root.values] += 1
        stack.extend(root.children)
    while stack:
        _, values, children = stack.pop()
        numbers[values] += 1
        stack.extend(children)
    for number, times in numbers.items():
        for name, value in forest.values[number][0].items():
            if value is not None:
                counts[name][value] += times
    return {name: values.total() // max(values.values()) if values else 0 for name, values in counts.items()}


class Repair:
    """Classes that are made diverse.

    Parameters
    ----------
    forest : Forest
    classes : list of PublishedClass
        Changed in place.
    demands : Demands
    """

    def __init__(self, forest: Forest, classes: Sequence[PublishedClass], demands: Demands) -> None:
        self.forest, self.classes, self.demands = forest, classes, demands
        self.forms: dict[object, int] = {}

    def run(self) -> None:
        """Repair until a whole round finds nothing: what was repaired may look like another class, and is then judged with it.

        Raises
        ------
        ParameterError
            If `MOST_ROUNDS` rounds do not end it.
        """
        for _ in range(MOST_ROUNDS):
            groups = self.groups()
            references = self._references(groups) if self.demands.t is not None else {}
            repaired = [self._repair(group, references) for group in groups]
            if not any(repaired):
                return
        raise ParameterError(complaints.NOT_DIVERSE)

    def groups(self) -> list[list[PublishedClass]]:
        """Classes that look alike."""
        found: dict[int, list[PublishedClass]] = defaultdict(list)
        for one in self.classes:
            found[self._form(one.root)].append(one)
        return list(found.values())

    def _form(self, place: Place) -> int:
        key = (place.kind, place.nodes, *sorted([self._form(child) for child in place.children]))
        return self.forms.setdefault(key, len(self.forms))

    def orbits(self, group: Sequence[PublishedClass]) -> list[Orbit]:
        """The orbits of classes that look alike, from the root down."""
        found: dict[object, Orbit] = {}

        def walk(place: Place, siblings: list[Place], above: Orbit | None) -> None:
            form = self._form(place)
            key = (id(above), form)
            if (orbit := found.get(key)) is None:
                orbit = found[key] = Orbit(above.depth + 1 if above else 0, form, above)
            orbit.places.append(place)
            orbit.siblings.append(siblings)
            for child in place.children:
                walk(child, place.children, orbit)

        for one in group:
            walk(one.root, [], None)
        for orbit in found.values():
            orbit.values = self._values(orbit.places)
        return list(found.values())

    def _values(self, places: Iterable[Place]) -> dict[str, Counter[object]]:
        """How often each value occurs, by attribute; a blank is None."""
        table = self.forest.values
        counts: dict[str, Counter[object]] = {}
        for place in places:
            for name in self.forest.kinds[place.kind].sensitive:
                counter = counts.setdefault(name, Counter())
                if name in place.blank:
                    counter[None] += len(place.values)
                else:
                    counter.update([table[number][0].get(name) for number in place.values])
        return counts

    def _references(self, groups: Iterable[Sequence[PublishedClass]]) -> dict[object, dict[str, Counter[object]]]:
        """The values of each label in all classes; of roots, those of all."""
        found: dict[object, dict[str, Counter[object]]] = defaultdict(lambda: defaultdict(Counter))
        for group in groups:
            for orbit in self.orbits(group):
                for name, values in orbit.values.items():
                    found[_label(orbit.places[0], orbit.depth, self.forest)][name].update(values)
        return found

    def _repair(self, group: Sequence[PublishedClass], references: Mapping[object, dict[str, Counter[object]]]) -> bool:
        """Repair one group until nothing fails; whether anything was done."""
        repaired = False
        while True:
            orbits = self.orbits(group)
            failing = [(orbit, name) for orbit in orbits for name in self._failing(orbit, references)]
            if not failing:
                return repaired
            deepest, name = max(failing, key=lambda one: one[0].depth)
            self._cheapest(deepest, name, orbits)
            repaired = True

    def _failing(self, orbit: Orbit, references: Mapping[object, dict[str, Counter[object]]]) -> Iterator[str]:
        of = references.get(_label(orbit.places[0], orbit.depth, self.forest)) if references else None
        for name, values in orbit.values.items():
            if self.demands.fails(name, values, of[name] if of is not None else None):
                yield name

    def _cheapest(self, orbit: Orbit, name: str, orbits: Sequence[Orbit]) -> None:
        """Blank the values of the whole orbit, drop its vertices, or pool it with a sibling orbit: what loses least."""
        values = orbit.values[name]
        blanked = BLANK * (values.total() - values[None])
        dropped = self._lost(orbit.places) if orbit.above is not None else float("inf")
        least, best = min(blanked, dropped), None
        if self.demands.fails(name, values):  # t alone is repaired by blanking
            for other in orbits:
                alike = other.above is orbit.above and other is not orbit and other.places[0].kind == orbit.places[0].kind
                if alike and orbit.above and not self.demands.fails(name, values + other.values[name]):
                    cost = self._pooling_cost(orbit, other)
                    if cost < least:
                        least, best = cost, other
        if best is not None:
            self._pool(orbit, best)
        elif dropped < blanked:
            for place, siblings in zip(orbit.places, orbit.siblings, strict=True):
                siblings[:] = [one for one in siblings if one is not place]
        else:
            for place in orbit.places:
                place.blank |= {name}

    def _common(self, orbit: Orbit, other: Orbit) -> tuple[int, ...]:
        first, second = orbit.places[0], other.places[0]
        names = self.forest.kinds[first.kind].names
        pairs = zip(names, first.nodes, second.nodes, strict=True)
        return tuple(self.forest.hierarchies[name].common((one, two)) for name, one, two in pairs)

    def _pooling_cost(self, orbit: Orbit, other: Orbit) -> float:
        """The NCP that a common label adds, and the children that are lost unless they look alike."""
        common = self._loss(orbit.places[0].kind, self._common(orbit, other))
        cost = 0.0
        alike = _forms_below(self, orbit) == _forms_below(self, other)
        for one in (orbit, other):
            for place in one.places:
                cost += len(place.values) * (common - self._loss(place.kind, place.nodes))
                cost += 0.0 if alike else self._lost(place.children)
        blanked = orbit.places[0].blank ^ other.places[0].blank
        return cost + sum(len(place.values) for place in orbit.places + other.places) * len(blanked)

    def _pool(self, orbit: Orbit, other: Orbit) -> None:
        common, alike = self._common(orbit, other), _forms_below(self, orbit) == _forms_below(self, other)
        blank = orbit.places[0].blank | other.places[0].blank
        for place in orbit.places + other.places:
            place.nodes, place.blank = common, blank
            if not alike:
                place.children.clear()

    def _loss(self, kind: int, nodes: tuple[int, ...]) -> float:
        names = self.forest.kinds[kind].names
        return sum(self.forest.hierarchies[name].losses[node] for name, node in zip(names, nodes, strict=True))

    def _lost(self, places: Iterable[Place]) -> float:
        """Loss of dropping places, with all that hangs on them."""
        lost = 0.0
        for place in places:
            told = len(place.nodes) * (1 + KEPT) - self._loss(place.kind, place.nodes)
            lost += len(place.values) * told + self._lost(place.children)
        return lost

    def shuffle(self) -> None:
        """Anatomy: the values of each sensitive attribute change places within each orbit, so that no two of a record stand together.

        Confirmed auxiliary attributes stay: a value that moved with them could be followed.
        """
        table = self.forest.values
        for group in self.groups():
            for orbit in self.orbits(group):
                numbers = [number for place in orbit.places for number in place.values]
                names = self.forest.kinds[orbit.places[0].kind].sensitive
                columns = {name: iter(shuffled([table[number][0].get(name) for number in numbers])) for name in names}
                for place in orbit.places:
                    told = [({name: next(column) for name, column in columns.items()}, table[number][1]) for number in place.values]
                    place.values = list(range(len(table), len(table) + len(told)))
                    table += told


def _forms_below(repair: Repair, orbit: Orbit) -> list[int]:
    return sorted(repair._form(child) for child in orbit.places[0].children)


def _label(place: Place, depth: int, forest: Forest) -> object:
    """The label as the checker means it: of a root, that it is one."""
    return None if depth == 0 else tuple(sorted((name, repr(label)) for name, label in forest.labels_of(place.kind, place.nodes).items()))
