"""Joins rows of students on their numbers, and throws the numbers away. No Django. No sentence repeats a number or a value."""

import base64
import secrets
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, NamedTuple, TypedDict

from analysis.sources.records.columns import RecordColumns
from analysis.sources.records.statements import documents, roles_in
from analysis.sources.records.values import (
    CHILDREN,
    ENTRY,
    HOME,
    HOMES,
    MOST_VALUES,
    NOT_GIVEN,
    Attribute,
    Vertex,
    are_numbers,
    bins_of,
    in_order,
)
from analysis.sources.table_files import FEWEST, MOST_KEPT, are_simulated
from candor.records.schema import MOST_CHILDREN
from surveys.reading.words import Sentence, UnreadableError
from surveys.reading.words import sentence as _

FEWEST_DIGITS = 5
"""Whole numbers with so many digits, all different, are numbers of people."""
FEWEST_NAMES, NEARLY_ALL = 5, 0.9
"""So many texts that one student alone has are names, if they fill this share of the cells. Two people may have one name, or none."""
SHARED = -1


class DeclaredFile(TypedDict):
    """A file as somebody declared it (`rows.BroughtFile`), and its size in bytes."""

    name: str
    kind: str
    group: str
    key: str
    columns: Sequence[str]
    roles: Mapping[str, str]
    below: str
    on: Sequence[str]
    size: int


class Packed(TypedDict):
    """All that is kept: the number of students, whether they are simulated, the attributes, and the records in base 64."""

    n: int
    simulated: bool
    attributes: list[Attribute]
    records: str


class Row(NamedTuple):
    """A row of a file. `above`: the values that name the row to which it belongs; `own`: those that name it for the rows below it;
    `named_as`: the kind of name that the key is, where there are several kinds.
    """

    line: int
    key: str
    told: dict[str, str]
    above: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    named_as: str = ""


class Joined:
    """Students as they come together."""

    def __init__(self) -> None:
        self.students: dict[str, int] = {}
        self.named: dict[tuple[str | int, ...], Vertex] = {}
        """The rows that rows of another file belong to, by group, student and what names them."""
        self.records: list[Vertex] = []
        self.roles: dict[str, str] = {}
        self.nested: set[str] = set()
        self.values: dict[str, dict[str, int]] = {}
        """How often each value of an attribute occurs."""
        self.whose: dict[str, dict[str, int]] = {}
        """The student who alone has a value, or `SHARED`."""
        self.texts: dict[str, str] = {}
        """Equal values are one text in memory."""
        self.has_roots = False
        self.named_as = ""
        """The kind of name that all statements have for students; empty before the first."""

    def take(self, rows: Iterator[Row], one: DeclaredFile, *, named_by: Sequence[str]) -> None:
        """Students, or what belongs to them, or to a row of theirs. `named_by`: the columns by which files below find these rows."""
        group, first = one["group"], array("l")
        names = {name: f"{group}.{name}" if group else name for name in one["roles"]}
        self._declare({names[name]: role for name, role in one["roles"].items() if role in HOME}, nested=bool(group))
        if group:
            self._declare({group: "quasi_identifier"}, nested=True)
        for row in rows:
            line = row.line
            if not row.key:
                raise wrong_at(one, line, _("expected the number of a student, found nothing"))
            at = self.students.get(row.key)
            if not group:
                if at is not None:
                    raise wrong_at(one, line, _("the student of line %(first)s stands here again", first=first[at]))
                first.append(line)
            elif at is None and self.has_roots:
                raise wrong_at(one, line, _("this student is not in the file of students"))
            if not self.has_roots:
                self._require_the_same_kind(row, one)
            if at is None:
                at = self.students[row.key] = len(self.records)
                self.records.append({"quasi_identifiers": {}, "sensitive": {}, "children": []})
            told = {names[name]: value for name, value in row.told.items()}
            if group:
                made = self._vertex({group: ENTRY, **told}, at)
                self._put_below(self._above(at, row, one), made, one, line)
                if named_by and self.named.setdefault((group, at, *row.own), made) is not made:
                    same = _list(named_by)
                    problem = _("another row of this student has the same “%(columns)s”: nothing can be below one of them", columns=same)
                    raise wrong_at(one, line, problem)
            else:
                self.records[at] = self._vertex(told, at)
        self.has_roots = self.has_roots or not group

    def _require_the_same_kind(self, row: Row, one: DeclaredFile) -> None:
        """A student with an account here and an address there would be two records, each less than they are. A file of students tells."""
        if self.named_as and row.named_as not in ("", self.named_as):
            problem = _(
                "expected a student named by “%(before)s”, as before, found “%(found)s”: without a file of students nobody can tell "
                "whether two names are one student",
                before=self.named_as,
                found=row.named_as,
            )
            raise wrong_at(one, row.line, problem)
        self.named_as = row.named_as or self.named_as

    def _above(self, at: int, row: Row, one: DeclaredFile) -> Vertex:
        """The row to which a row belongs: its student, or a row of the same student in another file."""
        if not one["below"]:
            return self.records[at]
        if (found := self.named.get((one["below"], at, *row.above))) is None:
            problem = _("this student has no “%(group)s” with this “%(columns)s”", group=one["below"], columns=_list(one["on"]))
            raise wrong_at(one, row.line, problem)
        return found

    def _put_below(self, above: Vertex, made: Vertex, one: DeclaredFile, line: int) -> None:
        if len(above[CHILDREN]) >= MOST_CHILDREN:
            if one["below"]:
                raise wrong_at(one, line, _("expected at most %(most)s rows of one “%(group)s”", most=MOST_CHILDREN, group=one["below"]))
            raise wrong_at(one, line, _("expected at most %(most)s rows of one student", most=MOST_CHILDREN))
        above[CHILDREN].append(made)

    def take_records(self, part: IO[bytes], one: DeclaredFile) -> None:
        """Records as docs/records.md describes them. They have no number, so nothing can be joined with them."""
        for number, document in documents(part, one["name"]):
            told: dict[str, str] = dict(self.roles)
            with naming(one["name"]):
                record = roles_in(document, told, where=_("record %(number)s", number=number))
            self._declare(told, nested=None)
            self.records.append(self._interned(record, depth=0))

    def _declare(self, roles: Mapping[str, str], *, nested: bool | None) -> None:
        for name, role in roles.items():
            if self.roles.setdefault(name, role) != role:
                raise UnreadableError(_("“%(name)s” has two roles: %(roles)s", name=name, roles=f"{self.roles[name]}, {role}"))
            self.values.setdefault(name, {})
            self.whose.setdefault(name, {})
            if nested:
                self.nested.add(name)

    def _vertex(self, told: Mapping[str, str], student: int) -> Vertex:
        vertex: Vertex = {"quasi_identifiers": {}, "sensitive": {}, "children": []}
        for name, value in told.items():
            vertex[HOME[self.roles[name]]][name] = self._counted(name, value, student)
        return vertex

    def _interned(self, record: Vertex, *, depth: int) -> Vertex:
        for home in HOMES:
            for name, value in record[home].items():
                record[home][name] = self._counted(name, value, len(self.records))
                if depth:
                    self.nested.add(name)
        for child in record[CHILDREN]:
            self._interned(child, depth=depth + 1)
        return record

    def _counted(self, name: str, value: str, student: int) -> str:
        counts, whose = self.values[name], self.whose[name]
        counts[value] = counts.get(value, 0) + 1
        if whose.setdefault(value, student) != student:
            whose[value] = SHARED
        return self.texts.setdefault(value, value)

    def packed(self) -> Packed:
        """Everything that is kept."""
        n, simulated = len(self.records), are_simulated(self.students)
        self.students.clear()
        self.named.clear()
        if n < FEWEST:
            raise UnreadableError(_("expected at least %(fewest)s students, found %(found)s", fewest=FEWEST, found=n))
        if not self.values:
            raise UnreadableError(_("expected at least one attribute that is kept, found none"))
        for name, counts in self.values.items():
            self._require_no_identifier(name, counts, n)
        bins = {name: bins_of(counts) for name, counts in self.values.items() if self.roles[name] == "sensitive"}
        secrets.SystemRandom().shuffle(self.records)
        written = RecordColumns.of(self.records, bins).to_bytes()
        if len(written) > MOST_KEPT:
            raise UnreadableError(_("this is more than can be kept: leave out columns, or bring it in parts"))
        attributes: list[Attribute] = [
            {
                "name": name,
                "role": self.roles[name],
                "nested": name in self.nested,
                "values": in_order({bins.get(name, {}).get(value, value) for value in counts}),
            }
            for name, counts in self.values.items()
        ]
        return {"n": n, "simulated": simulated, "attributes": attributes, "records": base64.b64encode(written).decode()}

    def _require_no_identifier(self, name: str, counts: Mapping[str, int], n: int) -> None:
        """Refuse what looks like the name or the number of a person, and what has too many values to be protected."""
        given = {value: times for value, times in counts.items() if value != NOT_GIVEN}
        alone = [value for value in given if self.whose[name][value] != SHARED]
        if are_numbers(given):
            is_name = len(alone) == len(given) == n and all("." not in value and len(value) >= FEWEST_DIGITS for value in given)
        else:
            is_name = len(alone) >= FEWEST_NAMES and sum(given[value] for value in alone) >= NEARLY_ALL * sum(given.values())
        if is_name:
            problem = _("“%(name)s” has another value for nearly every student, as a name has. Its role is: identifier", name=name)
            raise UnreadableError(problem)
        bins = bins_of(given) if self.roles[name] == "sensitive" else {}
        if len({bins.get(value, value) for value in given}) > MOST_VALUES:
            raise UnreadableError(_("“%(name)s” has more than %(most)s values: make them coarser", name=name, most=MOST_VALUES))


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Put the name of the file before what is wrong with it: there are several."""
    try:
        yield
    except UnreadableError as error:
        raise UnreadableError(*(_("“%(file)s”, %(problem)s", file=file, problem=one) for one in error.problems)) from None


def wrong_at(one: DeclaredFile, line: int, problem: Sentence) -> UnreadableError:
    """The refusal of a line of a file, or of a statement."""
    if one["kind"] == "xapi":
        return UnreadableError(_("“%(file)s”, statement %(line)s: %(problem)s", file=one["name"], line=line, problem=problem))
    return UnreadableError(_("“%(file)s”, line %(line)s: %(problem)s", file=one["name"], line=line, problem=problem))


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
