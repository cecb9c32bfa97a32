"""Background questions from a REDCap data dictionary (CSV). The report has a reason for every field that is left out, and a note for
everything that a question lost.

This module reads files from outside and does without Django; `surveys.reading` runs it.
"""

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from candor.written_numbers import typed_number
from surveys.drafting.names import kept_names, name_from
from surveys.reading.markup import without_markup
from surveys.reading.words import Sentence, UnreadableError, limited
from surveys.reading.words import sentence as _

MOST_ROWS = 5000
MOST_COLUMNS = 100
MOST_CHOICES = 100
SHOWN = 200
"""Characters of a lost value in the report."""
NAME, FORM, HEADER, TYPE, LABEL = "Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label"
CHOICES, NOTE = "Choices, Calculations, OR Slider Labels", "Field Note"
VALIDATION, LOWEST, HIGHEST = "Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"
IDENTIFIER, BRANCHING, REQUIRED = "Identifier?", "Branching Logic (Show field only if...)", "Required Field?"
ANNOTATION = "Field Annotation"
KNOWN = (NAME, FORM, HEADER, TYPE, LABEL, CHOICES, NOTE, VALIDATION, LOWEST, HIGHEST, IDENTIFIER, BRANCHING, REQUIRED, ANNOTATION)
NEEDED = (NAME, TYPE, LABEL)
YES = {"y", "yes", "1"}
NUMBERS = {"integer": True, "number": False, "number_1dp": False, "number_2dp": False, "number_3dp": False, "number_4dp": False}
FIXED_CHOICES = {"yesno": "1, Yes | 0, No", "truefalse": "1, True | 0, False"}
PIPED = re.compile(r"\[[A-Za-z_][A-Za-z0-9_:()-]{0,99}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The outcome for one field. `notes`: why it was skipped, or everything that was lost of it."""

    number: int
    field: str
    label: str
    notes: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    questions: list[dict[str, object]] = field(default_factory=list)
    taken: list[Line] = field(default_factory=list)
    skipped: list[Line] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    """The instruments of the dictionary, which become one list."""


def read(file: IO[bytes], *, source: str, present: list[str]) -> dict[str, Any]:
    """The report as plain values, for `surveys.reading`."""
    try:
        text = str(file.read(), "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(_("Expected text in UTF-8, found another byte at position %(place)s.", place=error.start)) from error
    return asdict(read_dictionary(text, source=source, present=present))


def read_dictionary(text: str, *, source: str, present: Collection[str] = ()) -> Report:
    """The dictionary's fields that can become questions; the study already has those in `present`."""
    report, names = Report(), set(present)
    forms: dict[str, None] = {}
    for number, cells in enumerate(_rows(text, source), start=1):
        label = without_markup(cells.get(LABEL, ""))[0]
        lost = _Lost(cells)
        question, reason = _question(lost, label, names)
        notes = [reason] if reason else lost.notes()
        line = Line(number=number, field=lost[NAME], label=label, notes=[note.document() for note in notes])
        if lost[FORM]:
            forms[lost[FORM]] = None
        if question is None:
            report.skipped.append(line)
            continue
        names.add(str(question["name"]))
        report.questions.append(question)
        report.taken.append(line)
    report.forms.extend(list(forms)[:MOST_COLUMNS])
    return report


class _Lost:
    """The cells of one field, with a list of what a question cannot carry. A cell that nobody reads ends on that list."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        self._cells = cells
        self._read: set[str] = {FORM}
        self._notes: list[Sentence] = []

    def __getitem__(self, column: str) -> str:
        self._read.add(column)
        return self._cells.get(column, "")

    def note(self, words: Sentence) -> None:
        self._notes.append(words)

    def text(self, written: str) -> str:
        """A text without its markup, whose loss is noted."""
        plain, tags = without_markup(written)
        if tags:
            self.note(_("Its text lost its formatting: %(tags)s.", tags=", ".join(f"<{tag}>" for tag in tags[:20])))
        if piped := PIPED.findall(plain):
            self.note(_("Its text refers to other answers, which are not filled in: %(fields)s.", fields=", ".join(piped[:20])))
        return plain

    def notes(self) -> list[Sentence]:
        rest = [
            _("Its “%(column)s” was not taken over: %(value)s", column=column, value=_shown(value))
            for column, value in self._cells.items()
            if value and column not in self._read
        ]
        return limited([*self._notes, *rest])


def _rows(text: str, source: str) -> Iterator[dict[str, str]]:
    """The cells of each field by column, under the names that are known here."""
    heading = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(",;\t", key=heading.count)
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if any(row)] or [[]]
    except csv.Error as error:
        raise UnreadableError(_("%(source)s: not readable as CSV: %(error)s", source=source, error=str(error))) from error
    known = {_plain(name): name for name in KNOWN}
    columns = [known.get(_plain(name), name.strip()[:80]) for name in header]
    if missing := [name for name in NEEDED if name not in columns]:
        raise UnreadableError(
            _(
                "%(source)s: expected a REDCap data dictionary with the columns %(needed)s; missing: %(missing)s",
                source=source,
                needed=", ".join(NEEDED),
                missing=", ".join(missing),
            )
        )
    if len(rows) > MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise UnreadableError(
            _(
                "%(source)s: expected at most %(most_rows)s fields, found %(rows)s",
                source=source,
                most_rows=f"{MOST_ROWS:,}",
                rows=f"{len(rows):,}",
            )
            if len(rows) > MOST_ROWS
            else _("%(source)s: expected at most %(most)s columns, found %(found)s", source=source, most=MOST_COLUMNS, found=len(columns))
        )
    if repeated := sorted({name for name in columns if name and columns.count(name) > 1}):
        raise UnreadableError(
            _("%(source)s: these columns stand more than once: %(columns)s", source=source, columns=", ".join(repeated[:20]))
        )
    for number, row in enumerate(rows, start=2):
        if len(row) > len(columns):
            raise UnreadableError(
                _(
                    "%(source)s, row %(row)s: expected at most %(most)s cells, found %(found)s",
                    source=source,
                    row=number,
                    most=len(columns),
                    found=len(row),
                )
            )
        yield {column: cell.strip() for column, cell in zip(columns, row, strict=False)}


def _question(cells: _Lost, label: str, names: Collection[str]) -> tuple[dict[str, object] | None, Sentence | None]:
    """The question of one field; or None, and the reason. `cells` takes note of all that it loses."""
    kind, name = cells[TYPE].lower(), name_from(cells[NAME], otherwise="question")
    if cells[IDENTIFIER].lower() in YES:
        return None, _("It is marked as an identifier. Candor never asks who somebody is.")
    if name in names:
        return None, _("A question of this name is in the study already.")
    if not label:
        return None, _("It has no label.")
    answer, why = _answer(kind, cells)
    if answer is None:
        return None, why
    if name != cells[NAME]:
        cells.note(_("Its name became %(name)s.", name=name))
    if cells[HEADER]:
        cells.note(_("The heading above it was not taken over: %(heading)s", heading=_shown(cells.text(cells[HEADER]))))
    if cells[BRANCHING]:
        cells.note(_("It was shown only if %(condition)s; now it is always shown.", condition=_shown(cells[BRANCHING])))
    if cells[REQUIRED].lower() in YES:
        cells.note(_("It had to be answered; here nobody has to answer it."))
    if cells[ANNOTATION]:
        cells.note(_("Its action tags and annotation were not taken over: %(tags)s", tags=_shown(cells[ANNOTATION])))
    hint = cells.text(cells[NOTE])
    text = cells.text(cells[LABEL])
    return {"name": name, "text": text, **({"hint": hint} if hint else {}), **answer, "role": "quasi_identifier"}, None


def _answer(kind: str, cells: _Lost) -> tuple[dict[str, object] | None, Sentence | None]:
    """Kind and options or limits of the answer; or None, and the reason."""
    if kind in {"radio", "dropdown", "yesno", "truefalse", "checkbox"}:
        options = _options(FIXED_CHOICES.get(kind) or cells[CHOICES], cells)
        if not 2 <= len(options) <= MOST_CHOICES:
            return None, _("It has %(count)s different choices; from 2 to 100 can be used.", count=len(options))
        return {"kind": "multiple_choice" if kind == "checkbox" else "single_choice", "options": options}, None
    validation = cells[VALIDATION].lower()
    if kind != "text":
        reasons = {
            "notes": _("Free text can tell who somebody is."),
            "calc": _("It is calculated, not asked."),
            "file": _("Files cannot be asked for."),
            "descriptive": _("It is a text without an answer."),
            "slider": _("Sliders are not supported; ask for a number instead."),
            "sql": _("Its choices come from a database."),
        }
        return None, reasons.get(kind) or _("Fields of type “%(type)s” are not known.", type=_shown(kind))
    if validation.startswith(("date", "time")):
        return None, _("Dates and times can tell who somebody is.")
    if validation not in NUMBERS:
        return None, _("Free text can tell who somebody is. If it does not here, add a question that is answered in a few words yourself.")
    low, high = _number(cells[LOWEST]), _number(cells[HIGHEST])
    if low is None or high is None or not low < high:
        return None, _("A number needs a smallest and a largest answer (Text Validation Min and Max).")
    if validation.endswith("dp"):
        cells.note(_("Its number of decimal places (%(validation)s) was not taken over.", validation=validation))
    return {"kind": "number", "minimum": low, "maximum": high, **({} if NUMBERS[validation] else {"whole": False})}, None


def _options(choices: str, cells: _Lost) -> list[dict[str, str]]:
    """`1, One | 2, Two` → the options One and Two, without their names if there are too many. The codes become names, which is noted."""
    texts: dict[str, str] = {}
    for choice in choices.split("|"):
        code, comma, text = (part.strip() for part in choice.partition(","))
        text = cells.text(text if comma else code)
        if not text:
            if code:
                cells.note(_("A choice without a text was left out: %(code)s", code=_shown(code)))
        elif text in texts:
            cells.note(_("The choice “%(text)s” stands twice and came over once; left out: %(code)s", text=_shown(text), code=_shown(code)))
        else:
            texts[text] = code
    if len(texts) > MOST_CHOICES:
        return [{"text": text} for text in texts]
    names = kept_names(list(texts), ())
    if coded := [f"{_shown(code)} → {name}" for code, name in zip(texts.values(), names, strict=True) if code != name]:
        cells.note(_("The codes of its choices became names: %(codes)s", codes=_shown(", ".join(coded))))
    return [{"name": name, "text": text} for name, text in zip(names, texts, strict=True)]


def _number(text: str) -> float | None:
    return None if (number := typed_number(text)) is None else float(number)


def _shown(value: str) -> str:
    return value if len(value) <= SHOWN else f"{value[:SHOWN]}…"


def _plain(column: str) -> str:
    """Versions of REDCap write the columns with other capitals and question marks."""
    return re.sub(r"[^a-z]", "", column.lower())
