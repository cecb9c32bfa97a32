"""Reads a table that somebody brings: a CSV file whose columns were declared one by one. Nothing is guessed, and nothing is half read.

Keys of students are compared with each other and thrown away: what comes out has no key and is put into an order drawn by chance. This
module reads files from outside and does without Django; `surveys.reading` runs it.
"""

import base64
import csv
import math
import re
import secrets
import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import IO, NotRequired, TypedDict

from candor.written_keys import key_in
from surveys.reading.words import Sentence, UnreadableError, digits
from surveys.reading.words import sentence as _

FEWEST = 20
SIMULATED = "simulated-"
"""The beginning of each key in the example files (docs/make_examples.py)."""
DELIMITERS = (",", ";", "\t")
LONGEST_NAME, LONGEST_LINE = 100, 60_000
LARGEST_CELL = 1_000_000
MOST_KEPT = 30_000_000
"""Characters of the packed columns together."""
MOST_UNPACKED = 256 * 2**20
"""Bytes of all columns as they are unpacked again, in a process that has other work. Nothing packs to nearly nothing."""
MISSING = -1
FORMULA = ("=", "@")
"""Beginnings of cells that a spreadsheet would compute."""
NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d{0,20})?|\.\d{1,20})(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)
DECIMAL_COMMA = ";"
"""Programs that write a decimal comma put this delimiter between columns. Beside another one, “1,000” may be a thousand."""
WITH_COMMAS = re.compile(r"[+-]?[\d.]*,[\d.,]*", re.ASCII)
COMMA_ELSEWHERE = _("expected a number with a point, found one with a comma; beside semicolons it is a decimal comma")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
NOTHING = frozenset({"", "NA", "NaN"})
_entropy = secrets.SystemRandom()

Read = Callable[[str], float]
"""A cell as a number; raises KeyError or ValueError for one that the column does not declare."""


class Declared(TypedDict):
    """A column as somebody declared it: a category has values, a number bounds."""

    name: str
    role: str
    several: bool
    values: NotRequired[Sequence[str]]
    minimum: NotRequired[float]
    maximum: NotRequired[float]


def names_of(line: str) -> tuple[list[str], str]:
    """The columns that a first line names, and the delimiter between them. A line break in a name, which quotes allow, is a space."""
    first = line.removeprefix("\ufeff").rstrip("\r\n").replace("\r\n", "\n")
    if len(first) > LONGEST_LINE:
        raise UnreadableError(_("line 1: expected at most %(most)s characters, found more", most=digits(LONGEST_LINE)))
    if "\r" in first:
        raise UnreadableError(
            _("line 1: expected lines that end with a line feed, found another end; a spreadsheet program saves them as “CSV UTF-8”")
        )
    delimiter = _delimiter_of(first)
    try:
        cells = next(csv.reader([first], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise UnreadableError(_("line 1: not the first line of a CSV file: %(error)s", error=str(error))) from None
    names = [" ".join(part for line in cell.split("\n") if (part := line.strip())) for cell in cells]
    check_names(names)
    return names, delimiter


def _delimiter_of(first: str) -> str:
    return max(DELIMITERS, key=first.count)


def _goes_on(first: str) -> bool:
    """Whether a cell in quotes does not end in this line."""
    try:
        next(csv.reader([first], delimiter=_delimiter_of(first), strict=True), [])
    except csv.Error as error:
        return str(error) == "unexpected end of data"
    return False


def check_names(names: Sequence[str]) -> None:
    """Refuse names that no column can have, and two alike."""
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if not name or len(name) > LONGEST_NAME or CONTROL.search(name):
            raise UnreadableError(_("line 1, column %(place)s: expected a name of 1 to %(most)s letters", place=place, most=LONGEST_NAME))
        if name.startswith(FORMULA):
            raise UnreadableError(_("line 1, column %(place)s: expected a name, found a formula", place=place))
        if name in seen:
            raise UnreadableError(_("line 1 names the column “%(name)s” twice", name=name))
        seen.add(name)
    if not names:
        raise UnreadableError(_("line 1: expected the names of the columns, found nothing"))


def decoded(file: Iterable[bytes]) -> Iterator[str]:
    """The lines of a file in UTF-8, the first of them whole, even if it has breaks in quotes; another encoding is refused by line and
    column.
    """
    names: list[str] = []
    delimiter, first = ",", ""
    for number, line in enumerate(file, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            place = line[: error.start].count(delimiter.encode())
            column = names[place] if place < len(names) else f"{place + 1}"
            raise refused(
                number, column, _("expected text in UTF-8, found another encoding; a spreadsheet program saves it as “CSV UTF-8”")
            ) from None
        if not names:
            first += text
            if _goes_on(first) and len(first) <= LONGEST_LINE:
                continue
            names, delimiter = names_of(first)
            text = first
        yield text
    if first and not names:
        yield first  # quotes that never end


def read(file: IO[bytes], *, columns: Sequence[Declared], entries: int) -> dict[str, object]:
    """The declared columns, packed, of at least 20 students.

    `columns` are those of the first line, in its order, each with `name`, `role` (student, item, category, number, left_out), `values`
    or `minimum` and `maximum`, and `several`: a student has up to `entries` of it, in as many rows; of more some are drawn by chance.
    """
    names, rows, delimiter = opened(file, [column["name"] for column in columns])
    place_of_student = next(place for place, column in enumerate(columns) if column["role"] == "student")
    kept: list[tuple[int, Declared, Read, array[float]]] = [
        (place, column, _reader(column, delimiter), array("d" if column["role"] == "number" else "h"))
        for place, column in enumerate(columns)
        if column["role"] not in ("student", "left_out")
    ]
    students: dict[str, int] = {}
    first_lines, lines, whose = array("l"), array("l"), array("l")
    for line, row in rows:
        key = key_in(row[place_of_student])
        if not key or key.startswith(FORMULA):
            problem = _("expected a student’s key, found a formula") if key else _("expected a student’s key, found nothing")
            raise refused(line, names[place_of_student], problem)
        student = students.setdefault(key, len(students))
        if student == len(first_lines):
            first_lines.append(line)
        elif entries == 1:
            again = _(
                "the key of line %(first)s stands here again: keep one row, or give a column a role “in each row of a student”",
                first=first_lines[student],
            )
            raise refused(line, names[place_of_student], again)
        lines.append(line)
        whose.append(student)
        for place, column, value_of, cells in kept:
            try:
                cells.append(value_of(row[place]))
            except (KeyError, ValueError):
                raise refused(line, names[place], _expected(column, row[place], delimiter)) from None
    n, simulated = len(students), are_simulated(students)
    students.clear()
    if n < FEWEST:
        raise UnreadableError(_("expected at least %(fewest)s students, found %(found)s", fewest=FEWEST, found=n))
    require_room(sum(n * (entries if column["several"] else 1) * cells.itemsize for _place, column, _value_of, cells in kept))
    own = _rows_of_students(whose, n) if entries > 1 else []
    packed = []
    for place, column, _value_of, cells in kept:
        if own:
            cells = _in_entries(cells, own, entries) if column["several"] else _in_one(cells, own, lines, names[place])
        packed.append(_packed(cells))
    require_room(0, packed=sum(map(len, packed)))
    return {"n": n, "simulated": simulated, "columns": packed}


def require_room(unpacked: int, *, packed: int = 0) -> None:
    """Refuse what takes more bytes than can be kept."""
    if unpacked > MOST_UNPACKED or packed > MOST_KEPT:
        raise UnreadableError(_("this is more than can be kept: leave out columns, count fewer rows of a student, or bring it in parts"))


def are_simulated(keys: Collection[str]) -> bool:
    """Whether these are students of the example files, as each of their keys says. They are refused among others."""
    found = sum(key.lower().startswith(SIMULATED) for key in keys)
    if 0 < found < len(keys):
        told = {"found": found, "n": len(keys)}
        raise UnreadableError(_("%(found)s of %(n)s students are simulated, as their keys say: bring them without the others", **told))
    return found > 0


def opened(file: Iterable[bytes], expected: Sequence[str]) -> tuple[list[str], Iterator[tuple[int, list[str]]], str]:
    """The columns of a file, which must be those that were declared, its rows, each with its first line and as long as the first, and the
    delimiter.
    """
    lines = decoded(file)
    first = next(lines, "")
    names, delimiter = names_of(first)
    if names != list(expected):
        told = {"expected": ", ".join(expected)[:400], "found": ", ".join(names)[:400]}
        raise UnreadableError(_("line 1: expected the declared columns %(expected)s; found %(found)s", **told))
    return names, _rows(lines, names, delimiter, after=first.rstrip("\r\n").count("\n") + 1), delimiter


def _rows(lines: Iterator[str], names: Sequence[str], delimiter: str, *, after: int) -> Iterator[tuple[int, list[str]]]:
    """`after`: the lines of the names."""
    before = csv.field_size_limit(LARGEST_CELL)
    reader, line = csv.reader(lines, delimiter=delimiter, strict=True), after + 1
    try:
        for row in reader:
            if row:
                if len(row) != len(names):
                    raise refused(line, names[min(len(row), len(names) - 1)], _counted(len(names), len(row)))
                yield line, row
            line = reader.line_num + after + 1
    except csv.Error as error:
        raise UnreadableError(_("line %(line)s: not a CSV file: %(error)s", line=line, error=str(error))) from None
    finally:
        csv.field_size_limit(before)


def _reader(column: Declared, delimiter: str) -> Read:
    match column["role"]:
        case "item":
            return {"0": 0, "1": 1, "": MISSING}.__getitem__
        case "number":
            return _Number(column["minimum"], column["maximum"], comma="." if delimiter == DECIMAL_COMMA else ",")
        case "category":
            codes = {value: code for code, value in enumerate(column["values"])}
            return lambda cell: codes[cell] if cell in codes else _code(codes, cell.strip())
    return float


def _code(codes: Mapping[str, int], cell: str) -> int:
    return codes[cell] if cell in codes or cell not in NOTHING else MISSING


class _Number:
    """Reads numbers within bounds. `comma` is what a comma in them stands for."""

    def __init__(self, low: float, high: float, *, comma: str) -> None:
        self.low, self.high, self.comma = low, high, comma

    def __call__(self, cell: str) -> float:
        cell = cell.strip().replace(",", self.comma)
        if cell in NOTHING:
            return float("nan")
        number = float(cell) if NUMBER.fullmatch(cell) else float("nan")
        if not self.low <= number <= self.high:
            raise ValueError
        return number


def _rows_of_students(whose: Iterable[int], n: int) -> list[list[int]]:
    """The rows of each student, in an order drawn by chance: the first c are c drawn at random."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row, student in enumerate(whose):
        found[student].append(row)
    for rows in found.values():
        _entropy.shuffle(rows)
    return [found[student] for student in range(n)]


def _in_entries(cells: "array[float]", rows: Sequence[Sequence[int]], entries: int) -> "array[float]":
    """As many values of each student; what is not there is missing."""
    values: array[float] = array(cells.typecode)
    for own in rows:
        taken = [cells[row] for row in own[:entries]]
        values.extend([*taken, *[_nothing(cells)] * (entries - len(taken))])
    return values


def _in_one(cells: "array[float]", rows: Sequence[Sequence[int]], lines: Sequence[int], name: str) -> "array[float]":
    """The one value of each student, which all rows of the student tell, or some of them."""
    values: array[float] = array(cells.typecode)
    for own in rows:
        told = {cells[row]: lines[row] for row in own if _is_given(cells, row)}
        if len(told) > 1:
            raise refused(max(told.values()), name, _("expected the same value in all rows of a student, found another"))
        values.append(next(iter(told), _nothing(cells)))
    return values


def _is_given(cells: "array[float]", row: int) -> bool:
    """Whether a row tells something. A number may be −1, which is a code for nothing among categories alone."""
    return not math.isnan(cells[row]) if cells.typecode == "d" else cells[row] != MISSING


def _nothing(cells: "array[float]") -> float:
    return float("nan") if cells.typecode == "d" else MISSING


def _packed(cells: "array[float]") -> str:
    return base64.b64encode(zlib.compress(cells.tobytes(), 6)).decode()


def refused(line: int, column: str, problem: Sentence) -> UnreadableError:
    return UnreadableError(_("line %(line)s, column “%(column)s”: %(problem)s", line=line, column=column, problem=problem))


def _counted(expected: int, found: int) -> Sentence:
    return _("expected %(expected)s columns, found %(found)s", expected=expected, found=found)


def _expected(column: Declared, cell: str, delimiter: str) -> Sentence:
    found = cell.strip()[:40]
    if found.startswith(FORMULA):
        return _("expected a value, found the formula “%(found)s”", found=found)
    if column["role"] == "item":
        return _("expected 0, 1 or nothing, found “%(found)s”", found=found)
    if column["role"] == "number":
        if delimiter != DECIMAL_COMMA and WITH_COMMAS.fullmatch(found):
            return COMMA_ELSEWHERE
        bounds = {"low": digits(column["minimum"], "g"), "high": digits(column["maximum"], "g")}
        return _("expected a number from %(low)s to %(high)s or nothing, found “%(found)s”", found=found, **bounds)
    return _("expected one of the declared values or nothing, found “%(found)s”", found=found)
