"""Background questions from a REDCap data dictionary (CSV). The report has a reason for every field that is left out, and a note for
everything that a question lost.

This module reads files from outside and does without Django; `surveys.reading` runs it.
"""

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import IO, Any, TypedDict

from candor.written_numbers import typed_number
from surveys.drafting.names import kept_names, name_from
from surveys.drafting.redcap.branching import Known, conditions_of
from surveys.reading.markup import without_markup
from surveys.reading.words import Sentence, SentenceDocument, UnreadableError, limited
from surveys.reading.words import sentence as _

MOST_ROWS = 5000
MOST_COLUMNS = 100
MOST_CHOICES = 100
# As in surveys.questions.background, whose library of checks this process does without.
LONGEST_SHORT_TEXT, MOST_MATRIX_ROWS, MOST_POSITIONS, MOST_YEARS = 200, 50, 1000, 150
SHOWN = 200
"""Characters of a lost value in the report."""
NAME, FORM, HEADER, TYPE, LABEL = "Variable / Field Name", "Form Name", "Section Header", "Field Type", "Field Label"
CHOICES, NOTE = "Choices, Calculations, OR Slider Labels", "Field Note"
VALIDATION, LOWEST, HIGHEST = "Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"
IDENTIFIER, BRANCHING, REQUIRED = "Identifier?", "Branching Logic (Show field only if...)", "Required Field?"
ANNOTATION, MATRIX = "Field Annotation", "Matrix Group Name"
KNOWN = (NAME, FORM, HEADER, TYPE, LABEL, CHOICES, NOTE, VALIDATION, LOWEST, HIGHEST, IDENTIFIER, BRANCHING, REQUIRED, ANNOTATION, MATRIX)
NEEDED = (NAME, TYPE, LABEL)
YES = {"y", "yes", "1"}
NUMBERS = {"integer": True, "number": False, "number_1dp": False, "number_2dp": False, "number_3dp": False, "number_4dp": False}
FIXED_CHOICES = {"yesno": "1, Yes | 0, No", "truefalse": "1, True | 0, False"}
SHOWN_IF = "It is shown only if %(condition)s, on a page after the others."
PIPED = re.compile(r"\[[A-Za-z_][A-Za-z0-9_:()-]{0,99}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The outcome for one field. `notes`: why it was skipped, or everything that was lost of it."""

    number: int
    field: str
    label: str
    notes: list[SentenceDocument]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    questions: list[dict[str, object]] = field(default_factory=list)
    taken: list[Line] = field(default_factory=list)
    skipped: list[Line] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    """The instruments of the dictionary, which become one list."""


class LineDocument(TypedDict):
    """A `Line` as plain values."""

    number: int
    field: str
    label: str
    notes: list[SentenceDocument]


class ReportDocument(TypedDict):
    """A `Report` as plain values."""

    questions: list[dict[str, object]]
    taken: list[LineDocument]
    skipped: list[LineDocument]
    forms: list[str]


def read(file: IO[bytes], *, source: str, present: list[str]) -> dict[str, object]:
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
    known: dict[str, Known] = {}
    number = 0
    for _matrix_or_number, run in groupby(enumerate(_rows(text, source)), key=lambda one: _matrix_of(one[1]) or one[0]):
        rows = [cells for _number, cells in run]
        fields = [_Lost(cells) for cells in rows]
        forms |= dict.fromkeys(lost[FORM] for lost in fields if lost[FORM])
        matrix = _matrix(fields, names, known) if 1 < len(rows) <= MOST_MATRIX_ROWS else None
        for cells, lost in zip(rows, fields, strict=True):
            number += 1
            label = without_markup(cells.get(LABEL, ""))[0]
            question, reason = (matrix, None) if matrix else _question(lost, label, names, known)
            if number == 1 and question and question["kind"] == "short_text":  # REDCap's first field is the number of the record
                question, reason = None, _("It is the number of the record.")
            notes = [reason] if reason else lost.notes()
            line = Line(number=number, field=lost[NAME], label=label, notes=[note.document() for note in notes])
            (report.taken if question else report.skipped).append(line)
            if question and question not in report.questions[-1:]:
                names.add(str(question["name"]))
                report.questions.append(question)
    report.forms.extend(list(forms)[:MOST_COLUMNS])
    return report


def _matrix_of(cells: Mapping[str, str]) -> tuple[str, str] | None:
    """The same for fields that make one matrix."""
    matrix = cells.get(MATRIX, "")
    return (matrix, cells.get(CHOICES, "")) if matrix and cells.get(TYPE, "").lower() == "radio" else None


class _Lost:
    """The cells of one field, with a list of what a question cannot carry. A cell that nobody reads ends on that list."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        self._cells = cells
        self._read: set[str] = {FORM}
        self._notes: list[Sentence] = []

    def __getitem__(self, column: str) -> str:
        self._read.add(column)
        return self._cells.get(column, "")

    def read(self, *columns: str) -> None:
        self._read.update(columns)

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


def _matrix(fields: Sequence[_Lost], names: Collection[str], known: dict[str, Known]) -> dict[str, object] | None:
    """The fields as rows on one scale, or None where each shall be a question of its own."""
    first = fields[0]
    name, rows = name_from(first[MATRIX], otherwise="matrix"), [name_from(one[NAME], otherwise="row") for one in fields]
    if not first[HEADER] or name in names or len(set(rows)) < len(rows) or any(one[IDENTIFIER].lower() in YES for one in fields):
        return None
    if not all(without_markup(one[LABEL])[0] for one in fields) or len({one[BRANCHING] for one in fields}) > 1:
        return None
    options = _options(first[CHOICES], first)
    if not 2 <= len(options) <= MOST_CHOICES:
        return None
    for one, row in zip(fields, rows, strict=True):
        one.read(MATRIX, CHOICES, HEADER)
        one.note(_("It became the row %(row)s of the matrix %(name)s, whose options count 1, 2, 3 …", row=row, name=name))
        _note_what_every_question_loses(one)
        known[one[NAME].lower()] = Known(question=f"{name}.{row}", codes=_codes(first[CHOICES], options))
    shown = _shown_if(first, {field: one for field, one in known.items() if not one.question.startswith(f"{name}.")})
    for one in fields[1:]:
        one.read(BRANCHING)
    question: dict[str, object] = {"name": name, "text": first.text(first[HEADER]), "kind": "matrix", "options": options}
    question["rows"] = [{"name": row, "text": one.text(one[LABEL])} for one, row in zip(fields, rows, strict=True)]
    return question | {"role": "quasi_identifier"} | shown


def _shown_if(cells: _Lost, known: Mapping[str, Known]) -> dict[str, object]:
    """The conditions of a field, or a note that it lost them."""
    if not cells[BRANCHING]:
        return {}
    conditions = conditions_of(cells[BRANCHING], known)
    if conditions is None:
        cells.note(_("It was shown only if %(condition)s; now it is always shown.", condition=_shown(cells[BRANCHING])))
        return {}
    cells.note(_(SHOWN_IF, condition=_shown(cells[BRANCHING])))
    return {"show_if": conditions}


def _note_what_every_question_loses(cells: _Lost) -> None:
    if cells[REQUIRED].lower() in YES:
        cells.note(_("It had to be answered; here nobody has to answer it."))
    if cells[ANNOTATION]:
        cells.note(_("Its action tags and annotation were not taken over: %(tags)s", tags=_shown(cells[ANNOTATION])))


def _known(question: Mapping[str, Any], choices: str) -> Known:
    """The answers to this question that later branching logic can name."""
    name = str(question["name"])
    if "options" in question:
        return Known(question=name, codes=_codes(choices, question["options"]))
    if question["kind"] in ("number", "slider"):
        return Known(question=name, ends=(question["minimum"], question["maximum"]), whole=question.get("whole", True))
    if question["kind"] == "date":
        return Known(question=name, months=(question["earliest"], question["latest"]))
    return Known(question=name)


def _codes(choices: str, options: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The names of the options by the codes of the dictionary."""
    names = {option["text"]: option["name"] for option in options}
    pairs = [(part.strip() for part in choice.partition(",")) for choice in choices.split("|")]
    texts = {code: without_markup(text if comma else code)[0] for code, comma, text in pairs}
    return {code: names[text] for code, text in texts.items() if text in names}


def _question(
    cells: _Lost, label: str, names: Collection[str], known: dict[str, Known]
) -> tuple[dict[str, object] | None, Sentence | None]:
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
    shown = _shown_if(cells, known)
    _note_what_every_question_loses(cells)
    hint = cells.text(cells[NOTE])
    text = cells.text(cells[LABEL])
    role = {} if answer["kind"] == "short_text" else {"role": "quasi_identifier"}
    question = {"name": name, "text": text, **({"hint": hint} if hint else {}), **answer, **role, **shown}
    known[cells[NAME].lower()] = _known(question, FIXED_CHOICES.get(kind) or cells[CHOICES])
    return question, None


def _answer(kind: str, cells: _Lost) -> tuple[dict[str, object] | None, Sentence | None]:
    """Kind and options or limits of the answer; or None, and the reason."""
    if kind in {"radio", "dropdown", "yesno", "truefalse", "checkbox"}:
        options = _options(FIXED_CHOICES.get(kind) or cells[CHOICES], cells)
        if not 2 <= len(options) <= MOST_CHOICES:
            return None, _("It has %(count)s different choices; from 2 to 100 can be used.", count=len(options))
        return {"kind": "multiple_choice" if kind == "checkbox" else "single_choice", "options": options}, None
    if kind == "slider":
        return _slider(cells), None
    validation = cells[VALIDATION].lower()
    if kind != "text":
        reasons = {
            "notes": _("Free text can tell who somebody is."),
            "calc": _("It is calculated, not asked."),
            "file": _("Files cannot be asked for."),
            "descriptive": _("It is a text without an answer."),
            "sql": _("Its choices come from a database."),
        }
        return None, reasons.get(kind) or _("Fields of type “%(type)s” are not known.", type=_shown(kind))
    if validation.startswith("date"):
        return _date(cells, validation)
    if not validation:
        cells.note(_("It is answered in a few words, which are never released. Make sure that it asks for no name."))
        return {"kind": "short_text", "longest": LONGEST_SHORT_TEXT}, None
    if validation not in NUMBERS:
        return None, _("Free text and times can tell who somebody is.")
    low, high = _number(cells[LOWEST]), _number(cells[HIGHEST])
    if low is None or high is None or not low < high:
        return None, _("A number needs a smallest and a largest answer (Text Validation Min and Max).")
    if validation.endswith("dp"):
        cells.note(_("Its number of decimal places (%(validation)s) was not taken over.", validation=validation))
    return {"kind": "number", "minimum": low, "maximum": high, **({} if NUMBERS[validation] else {"whole": False})}, None


def _slider(cells: _Lost) -> dict[str, object]:
    """From 0 to 100 where nothing else is said; of the words below it, the first and the last."""
    low, high = _number(cells[LOWEST]), _number(cells[HIGHEST])
    words = [cells.text(part.strip()) for part in cells[CHOICES].split("|")]
    if len(words) > 2:
        cells.note(_("The words in the middle of its slider were not taken over: %(words)s", words=_shown(", ".join(words[1:-1]))))
    cells.read(VALIDATION)  # the number is always shown
    ends = (0.0, 100.0) if low is None or high is None or not 1 <= high - low <= MOST_POSITIONS else (low, high)
    if (high - low if low is not None and high is not None else 0) and ends != (low, high):
        cells.note(_("Its ends became 0 and 100, not %(low)s and %(high)s.", low=cells[LOWEST], high=cells[HIGHEST]))
    if not float(ends[1] - ends[0]).is_integer():
        ends = (ends[0], ends[0] + int(ends[1] - ends[0]))
        cells.note(_("Its largest answer became %(high)s.", high=f"{ends[1]:.15g}"))
    texts = {key: text for key, text in (("low", words[0]), ("high", words[-1] if len(words) > 1 else "")) if text}
    return {"kind": "slider", "minimum": ends[0], "maximum": ends[1], **texts}


def _date(cells: _Lost, validation: str) -> tuple[dict[str, object] | None, Sentence | None]:
    """The month of a date; a day could point to a person."""
    found = [re.match(r"((?:18|19|20|21)[0-9]{2})-(0[1-9]|1[0-2])", cells[end]) for end in (LOWEST, HIGHEST)]
    ends = [f"{end[1]}-{end[2]}" for end in found if end]
    if len(ends) < 2 or not ends[0] < ends[1] or int(ends[1][:4]) - int(ends[0][:4]) >= MOST_YEARS:
        return None, _("A date needs an earliest and a latest answer (Text Validation Min and Max), such as 2004-09-01.")
    cells.note(_("It asked for a day (%(validation)s); now it asks for the month.", validation=validation))
    return {"kind": "date", "earliest": ends[0], "latest": ends[1]}, None


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
