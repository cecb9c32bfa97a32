"""Do published student records hold what they promise? Standard library only, so that it travels with the records as ``check.py``.

A record is ``{"quasi_identifiers": {NAME: LABEL}, "sensitive": {NAME: VALUE or null}, "children": [records]}``; siblings have no order.
* Class: the records of one form: the same labels, names of sensitive attributes, mark of shuffled values, and children of the same forms.
* k: every class has at least k records.
* Orbit: the vertices of a class that look alike, as their ancestors do.
* ℓ: in every orbit, ℓ times the commonest value is at most the number of vertices. All blank passes, partly blank fails, and so do
  numbers with decimals: neighbours are no diversity, so they are published as intervals.
* t: half the L1 distance between the values of an orbit and those of its label in the whole file (of a root: of all roots) is at most t.
"""

import sys

if __name__ == "__main__" and __package__ is None and not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]  # the folder of this file: a module that somebody put there must not stand in for one of Python's

import json
import math
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

FIELDS = ("quasi_identifiers", "sensitive", "children", "auxiliary", "released", "anatomy")
DEEPEST, MALFORMED, PLAIN, ANSWERS = 64, ("fields", "values"), {str, int, float, bool, type(None)}, {"0", "1", "None"}
Record = Mapping[str, Any]
Records = Iterable[Record]
Names = Iterable[str]
Known = Mapping[str, Names] | None
Levels = Mapping[str, int] | None
T = float | None
Values = dict[str, Counter[object]]
Looked = tuple[int, Record, "list[Looked]"]


class Violation(NamedTuple("Violation", [("record", int), ("vertex", str), ("rule", str), ("found", str)])):
    """A broken promise: in which record (from 1), at which vertex, and by which rule."""

    def __str__(self) -> str:
        return f"record {self.record}, {self.vertex}: {self.rule}: {self.found}"


class _MalformedError(Exception):
    """A rule, what was found, and the vertices from there up to the root."""


class Forms:
    """Numbers for the looks of vertices: two have the same number when they look the same."""

    def __init__(self, auxiliary: Names = (), groups: Known = None) -> None:
        self.numbers, self.texts = dict[object, int](), dict[object, int]()
        self.auxiliary, self.groups = frozenset(auxiliary), {name: [*those] for name, those in (groups or {}).items()}

    def look(self, vertex: Record, depth: int = 0) -> Looked:
        """The number of a vertex's form, the vertex, and the same of its children."""
        try:
            labels, values, children = vertex["quasi_identifiers"], vertex["sensitive"], vertex["children"]
            seen = (*labels.items(), None, *values)
            own = None if len(vertex) > 3 or type(children) is not list else self.texts.get(seen)
            if wrong := [value for value in values.values() if type(value) not in PLAIN]:
                raise _MalformedError("values", f"expected a text, a number or null, found {wrong[0]!r:.60}", vertex)
        except (KeyError, TypeError, AttributeError):
            raise _MalformedError("fields", f"expected {', '.join(FIELDS[:3])}, found {vertex!r:.80}") from None
        own = self._own(vertex, depth, seen) if own is None else own
        if not children:
            return own, vertex, []
        if depth == DEEPEST:
            raise _MalformedError("fields", f"expected at most {DEEPEST} levels", vertex)
        try:
            looked = [self.look(child, depth + 1) for child in children]
        except _MalformedError as error:
            raise _MalformedError(*error.args, vertex) from None
        return self.numbers.setdefault((own, *sorted([child[0] for child in looked])), len(self.numbers)), vertex, looked

    def _own(self, vertex: Record, depth: int, seen: tuple[object, ...]) -> int:
        """The number of what a vertex shows itself; refuses what it should not show."""
        if extra := [one for one in vertex if one not in FIELDS[: 4 if depth else 6] or (one == "anatomy" and vertex[one] is not True)]:
            raise _MalformedError("extra field", repr(extra[0]), vertex)
        if type(vertex["children"]) is not list or any(type(vertex.get(one, {})) is not dict for one in FIELDS[3:5]):
            raise _MalformedError("fields", f"expected a list of children, auxiliary and released as objects, found {vertex!r:.80}", vertex)
        labels = [*vertex["quasi_identifiers"].items()]
        unconfirmed = [one for one in vertex.get("auxiliary", {}).items() if one[0] not in self.auxiliary]
        if wrong := [label for _, label in (*labels, *unconfirmed) if type(label) not in (str, int)]:
            raise _MalformedError("labels", f"expected texts or whole numbers, found {wrong[0]!r:.60}", vertex)
        for name, value in vertex.get("released", {}).items():
            texts, answers = ([*value], {*map(repr, value.values())}) if type(value) is dict else ([value], set())
            named = name == "answers" if type(value) is dict else name in ("arm", "subsample")
            if not named or answers - ANSWERS or any(type(one) is not str or one not in self.groups.get(name, [one]) for one in texts):
                raise _MalformedError("extra field", f"released: expected arm, subsample, answers, found {name!r}: {value!r:.60}", vertex)
        told: tuple[object, ...] = tuple(sorted((name, type(label).__name__, label) for name, label in labels))
        told += ("auxiliary", *sorted((name, repr(label)) for name, label in unconfirmed)) if unconfirmed else ()
        own = self.numbers.setdefault((told, "anatomy" in vertex, *sorted(vertex["sensitive"])), len(self.numbers))
        if len(vertex) == 3 and all(type(label) is str for _, label in labels):
            self.texts[seen] = own  # only texts: 1, 1.0 and true would be equal as keys
        return own


def violations(
    records: Records, *, k: int, diversity: Levels = None, by: str = "frequency", t: T = None, auxiliary: Names = (), groups: Known = None
) -> Iterator[Violation]:
    """Everything that breaks a promise, in the order of the rules; nothing when all hold.

    `diversity` is ℓ by attribute (0 and 1 demand nothing), `by` says how ℓ is counted: "frequency" (above), "distinct" values or the
    "entropy" of an orbit, at least log ℓ. `auxiliary` names attributes that may be published as they are; others count as labels.
    `groups` names all arms ("arm"), subsamples ("subsample") and questions ("answers") that there are.
    """
    forms, demanded = Forms(auxiliary, groups), {name: level for name, level in (diversity or {}).items() if level > 1}
    classes: dict[int, list[int]] = defaultdict(list)
    orbits: dict[tuple[int, int], tuple[int, int, str, Values, Values]] = {}  # number, record, path, values of the label and its own
    by_label: dict[object, Values] = defaultdict(lambda: defaultdict(Counter))

    def walk(looked: Looked, above: int, path: str, number: int) -> None:
        form, vertex, children = looked
        if (orbit := orbits.get((above, form))) is None:
            path = f"{path} → {_name(vertex)}" if path else "root"
            label = tuple(sorted(vertex["quasi_identifiers"].items())) if above >= 0 else None
            orbit = orbits[above, form] = (len(orbits), number, path, by_label[label], defaultdict(Counter))
        for name, value in vertex["sensitive"].items():
            orbit[3][name][value] += 1
            orbit[4][name][value] += 1
        for child in children:
            walk(child, orbit[0], orbit[2], number)

    for number, record in enumerate(records, start=1):
        try:
            looked = forms.look(record)
        except _MalformedError as error:
            rule, found, *above = error.args
            yield Violation(number, " → ".join(["root", *map(_name, above[-2::-1])]), rule, found)
            continue
        classes[looked[0]].append(number)
        if demanded or t is not None:
            walk(looked, -1, "", number)
    if not classes:
        yield Violation(0, "root", "k", "there is no record")
    for members in (one for one in classes.values() if len(one) < k):
        yield Violation(members[0], "root", "k", f"only {len(members)} records look like this one; expected at least {k}")
    for _, number, path, of, values in orbits.values():
        for name, counter in values.items():
            yield from (Violation(number, path, *broken) for broken in _judged(name, counter, demanded.get(name, 0), by, t, of[name]))


def _judged(name: str, values: Counter[object], level: int, by: str, t: float | None, of: Counter[object]) -> Iterator[tuple[str, str]]:
    """The rules that an orbit breaks, by the values of one attribute in it."""
    size, blanks = values.total(), values[None]
    if level > 1 and 0 < blanks < size:
        yield "blanks", f"{name} is blank in {blanks} of {size} vertices that look alike; expected all or none"
    elif level > 1 and not blanks:
        if numbers := [value for value in values if isinstance(value, float) and value % 1 != 0]:
            yield "bins", f"{name} is published as {numbers[0]!r}; expected intervals, because neighbouring numbers are no diversity"
        value, most = values.most_common(1)[0]
        entropy = -sum(count / size * math.log(count / size) for count in values.values())
        reached = {"frequency": size / most, "distinct": len(values), "entropy": math.exp(entropy) + 1e-9}[by]
        if reached < level:
            yield "ℓ", f"{name} is {value!r} in {most} of {size} vertices that look alike; expected ℓ = {level} by {by}"
    if t is not None and blanks < size:
        told, whole = size - blanks, of.total() - of[None]
        distance = sum(abs(values[value] / told - count / whole) for value, count in of.items() if value is not None) / 2
        if distance > t + 1e-9:
            yield "t", f"{name}: {size} vertices that look alike are {distance:.4f} from all of their label; expected at most {t:g}"


def _name(vertex: Record) -> str:
    return ", ".join(f"{name} {label}" for name, label in vertex["quasi_identifiers"].items()) or "vertex"


def _once(pairs: Sequence[tuple[str, object]], sensitive: set[str]) -> dict[str, object]:
    if len(names := dict(pairs)) < len(pairs):
        raise ValueError(f"a name stands twice in one object, among {', '.join(names)}")
    sensitive.update(found if isinstance(found := names.get("sensitive"), dict) else ())
    return names


def _printable(line: str) -> str:
    """The beginning and the end of a long line, where no name of a stranger moves the cursor."""
    line = line if len(line) < 1000 else f"{line[:800]} … {line[-200:]}"
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in line)


def main(arguments: Sequence[str] | None = None, say: Callable[[str], object] = print) -> int:
    """Check a file; 0 when all holds, 1 with the first violation, 2 when it cannot be read or is malformed."""
    parser = ArgumentParser(description="Check k and ℓ of published student records.")
    parser.add_argument("records")
    parser.add_argument("--k", type=int, required=True)
    parser.add_argument("--l", default="", metavar="NAME=L,…")
    parser.add_argument("--auxiliary", action="append", default=[])
    chosen, named = parser.parse_args(arguments), set[str]()
    try:
        asked = {name: level for name, _, level in (part.rpartition("=") for part in chosen.l.split(",") if part)}
        with open(chosen.records, encoding="utf-8") as file:
            records = json.load(file, object_pairs_hook=lambda pairs: _once(pairs, named))
        wrong = ["no list"] * (not isinstance(records, list)) + [f"k = {chosen.k}"] * (chosen.k < 1)
        known = {name for name, level in asked.items() if name in named and level.isdecimal() and len(level) < 10}
        if wrong := wrong + [f"ℓ of {name} = {level}" for name, level in asked.items() if name not in known]:
            raise ValueError(f"expected a list, k from 1, a whole ℓ of {', '.join(sorted(named)) or 'nothing'}; found {', '.join(wrong)}")
        levels = {name: int(level) for name, level in asked.items()}
        broken = next(violations(records, k=chosen.k, diversity=levels, auxiliary=chosen.auxiliary), None)
        if broken and broken.rule in MALFORMED:
            raise ValueError(broken)
    except (OSError, ValueError, RecursionError) as error:
        say(_printable(f"{chosen.records}: {error or 'nested too deeply'}"))
        return 2
    held = [f"k = {chosen.k}", *(f"ℓ of {name} = {level}" for name, level in levels.items() if level > 1)]
    say(_printable(f"violated: {broken}" if broken else f"holds: {len(records)} records, {', '.join(held)}"))
    return int(broken is not None)


if __name__ == "__main__":
    sys.exit(main())
