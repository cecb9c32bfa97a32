"""Background questions from a REDCap data dictionary (CSV), with a reason for every field that is left out."""

import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass

from django.utils.translation import gettext as _

from candor.written_numbers import typed_number
from surveys.drafting.names import kept_names, name_from
from surveys.errors import DefinitionError

MOST_ROWS = 5000
NAME, TYPE, LABEL = "Variable / Field Name", "Field Type", "Field Label"
CHOICES, NOTE = "Choices, Calculations, OR Slider Labels", "Field Note"
VALIDATION, LOWEST, HIGHEST = "Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max"
IDENTIFIER, BRANCHING = "Identifier?", "Branching Logic (Show field only if...)"
NEEDED = (NAME, TYPE, LABEL)
NUMBERS = {"integer": True, "number": False, "number_1dp": False, "number_2dp": False, "number_3dp": False, "number_4dp": False}
FIXED_CHOICES = {"yesno": "1, Yes | 0, No", "truefalse": "1, True | 0, False"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The outcome for one field. `note`: why it was skipped, or what was lost of it."""

    number: int
    field: str
    label: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    questions: list[dict[str, object]]
    taken: list[Line]
    skipped: list[Line]


def read_dictionary(text: str, *, source: str, present: Collection[str] = ()) -> Report:
    """The dictionary's fields that can become questions; the study already has those in `present`."""
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise DefinitionError([_("%(source)s: not readable as CSV: %(error)s") % {"source": source, "error": error}]) from error
    columns = {_plain(name): name for name in (rows[0] if rows else {}) if name}
    if missing := [name for name in NEEDED if _plain(name) not in columns]:
        raise DefinitionError(
            [
                _("%(source)s: expected a REDCap data dictionary with the columns %(needed)s; missing: %(missing)s")
                % {"source": source, "needed": ", ".join(NEEDED), "missing": ", ".join(missing)}
            ]
        )
    if len(rows) > MOST_ROWS:
        raise DefinitionError(
            [
                _("%(source)s: expected at most %(most_rows)s fields, found %(rows)s")
                % {"source": source, "most_rows": f"{MOST_ROWS:,}", "rows": f"{len(rows):,}"}
            ]
        )
    report = Report(questions=[], taken=[], skipped=[])
    names = set(present)
    for number, row in enumerate(rows, start=1):
        cells = {column: (row.get(columns.get(_plain(column), "")) or "").strip() for column in ALL}
        label = _without_tags(cells[LABEL])
        question, note = _question(cells, label, names)
        line = Line(number=number, field=cells[NAME], label=label, note=note)
        if question is None:
            report.skipped.append(line)
            continue
        names.add(str(question["name"]))
        report.questions.append(question)
        report.taken.append(line)
    return report


def _question(cells: dict[str, str], label: str, names: Collection[str]) -> tuple[dict[str, object] | None, str]:
    """The question of one field, and the lost parts; or None, and the reason."""
    kind, name = cells[TYPE].lower(), name_from(cells[NAME], otherwise="question")
    if cells[IDENTIFIER].lower() in {"y", "yes", "1"}:
        return None, _("It is marked as an identifier. Candor never asks who somebody is.")
    if name in names:
        return None, _("A question of this name is in the study already.")
    if not label:
        return None, _("It has no label.")
    answer, why = _answer(kind, cells)
    if answer is None:
        return None, why
    hint = _without_tags(cells[NOTE])
    question = {"name": name, "text": label, **({"hint": hint} if hint else {}), **answer, "role": "quasi_identifier"}
    lost = _("It was shown only if %(condition)s; now it is always shown.") % {"condition": cells[BRANCHING]} if cells[BRANCHING] else ""
    return question, lost


def _answer(kind: str, cells: dict[str, str]) -> tuple[dict[str, object] | None, str]:
    """Kind and options or limits of the answer; or None, and the reason."""
    if kind in {"radio", "dropdown", "yesno", "truefalse", "checkbox"}:
        options = _options(FIXED_CHOICES.get(kind, cells[CHOICES]))
        if not 2 <= len(options) <= 100:
            return None, _("It has %(count)d different choices; from 2 to 100 can be used.") % {"count": len(options)}
        return {"kind": "multiple_choice" if kind == "checkbox" else "single_choice", "options": options}, ""
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
        return None, reasons.get(kind, _("Fields of type “%(type)s” are not known.") % {"type": kind})
    if validation.startswith(("date", "time")):
        return None, _("Dates and times can tell who somebody is.")
    if validation not in NUMBERS:
        return None, _("Free text can tell who somebody is.")
    low, high = _number(cells[LOWEST]), _number(cells[HIGHEST])
    if low is None or high is None or not low < high:
        return None, _("A number needs a smallest and a largest answer (Text Validation Min and Max).")
    return {"kind": "number", "minimum": low, "maximum": high, **({} if NUMBERS[validation] else {"whole": False})}, ""


def _options(choices: str) -> list[dict[str, str]]:
    """`1, One | 2, Two` → the options One and Two."""
    texts = []
    for choice in choices.split("|"):
        code, comma, text = choice.partition(",")
        text = _without_tags(text if comma else code)
        if text and text not in texts:
            texts.append(text)
    return [{"name": name, "text": text} for name, text in zip(kept_names(texts, ()), texts, strict=True)]


def _number(text: str) -> float | None:
    return None if (number := typed_number(text)) is None else float(number)


def _without_tags(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def _plain(column: str) -> str:
    """Versions of REDCap write the columns with other capitals and question marks."""
    return re.sub(r"[^a-z]", "", column.lower())


ALL = (NAME, TYPE, LABEL, CHOICES, NOTE, VALIDATION, LOWEST, HIGHEST, IDENTIFIER, BRANCHING)
