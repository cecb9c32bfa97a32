"""Background questions as a REDCap data dictionary (CSV)."""

import csv
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from math import ceil, floor

from django.utils.translation import gettext as _

from surveys.imports.files import REDCAP_COLUMNS
from surveys.imports.readers import redcap
from surveys.questions.background import (
    BackgroundQuestion,
    Circle,
    Date,
    Group,
    Matrix,
    MultipleChoice,
    Number,
    OrdinalScale,
    ShortText,
    SingleChoice,
    Slider,
    taken_apart,
)
from surveys.questions.conditions import Condition
from surveys.reading.markup import without_markup

FIRST_YEAR, LAST_YEAR = 1800, 2199
"""As in the months of surveys.questions.conditions."""
TOLERANCE = 1e-6
"""In answers: a month is a twelfth of a year, which no number is exactly."""
Cells = dict[str, str]
Choices = SingleChoice | MultipleChoice | OrdinalScale | Matrix


def written(questions: Sequence[BackgroundQuestion], *, title: str, languages: Sequence[str]) -> tuple[str, list[tuple[str, str]]]:
    """The dictionary in the first language, and by question what its reader should know. `title` names the instrument."""
    language = languages[0]
    fields = _fields_of(questions)
    codes = {one.name: _codes(one) for one in taken_apart(questions) if isinstance(one, Choices)}
    several = [one.name for one in questions if isinstance(one, MultipleChoice)]
    dates = {one.name: 1 if one.precision == "year" else 12 for one in questions if isinstance(one, Date)}
    known: list[tuple[str, str]] = []
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, REDCAP_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    form = _plain(title)
    writer.writerow({redcap.NAME: "record_id", redcap.FORM: form, redcap.TYPE: "text", redcap.LABEL: "Record ID"})
    for question in questions:
        known += [(question.name, sentence) for sentence in _to_know(question)]
        logic = " and ".join(_in_brackets(condition, fields, codes, several, dates) for condition in question.show_if)
        common = {redcap.FORM: form, redcap.BRANCHING: logic}
        writer.writerows(common | cells for cells in _cells(question, fields, language))
    return buffer.getvalue(), known


def _fields_of(questions: Sequence[BackgroundQuestion]) -> dict[str, str]:
    """The names of fields by question, or row, and those of matrices: letters, digits and underscores, a letter first, each once."""
    fields: dict[str, str] = {}
    taken = {"record_id"}
    for name in [one.name for question in questions for one in (question, *taken_apart([question]))]:
        if name not in fields:
            plain = _plain(name)
            unique = next(one for one in chain([plain], (f"{plain}_{number}" for number in count(2))) if one not in taken)
            fields[name] = unique
            taken.add(unique)
    return fields


def _plain(name: str) -> str:
    plain = re.sub(r"[^a-z0-9_]", "_", name)
    return plain if plain[:1].isalpha() else f"q_{plain}"


def _codes(question: Choices) -> dict[str, str]:
    """The code of each option in the data of REDCap: its score where there are scores, else its name, else its number."""
    scores = [option.score for option in question.options] if isinstance(question, OrdinalScale | Matrix) else []
    if scores and all(score is not None for score in scores):
        return {option.name: f"{score:.15g}" for option, score in zip(question.options, scores, strict=True)}
    named = all(re.fullmatch(r"[a-z0-9_]*[a-z_][a-z0-9_]*", option.name) for option in question.options)
    return {option.name: option.name if named else str(number) for number, option in enumerate(question.options, start=1)}


def _in_brackets(
    condition: Condition,
    fields: Mapping[str, str],
    codes: Mapping[str, Mapping[str, str]],
    several: Sequence[str],
    dates: Mapping[str, int],
) -> str:
    field = fields[condition.question]
    if condition.any_of:
        own = [codes[condition.question][name] for name in condition.any_of]
        parts = [f"[{field}({code})] = '1'" if condition.question in several else f"[{field}] = '{code}'" for code in own]
        return f"({' or '.join(parts)})" if len(parts) > 1 else parts[0]
    in_a_year = dates.get(condition.question, 0)
    ends = ((">=", condition.at_least, condition.least), ("<=", condition.at_most, condition.most))
    said = [(sign, _day(end, sign, in_a_year) if in_a_year else f"{end:.15g}") for sign, given, end in ends if given is not None]
    return " and ".join(f"[{field}] {sign} {end}" for sign, end in said)


def _day(years: float, sign: str, in_a_year: int) -> str:
    """The first day of the earliest answer, or the last day of the latest one, that lies within this end: REDCap compares days."""
    number = ceil(years * in_a_year - TOLERANCE) if sign == ">=" else floor(years * in_a_year + TOLERANCE)
    year, part = divmod(min(max(number, FIRST_YEAR * in_a_year), (LAST_YEAR + 1) * in_a_year - 1), in_a_year)
    months = 12 // in_a_year
    return f"'{year}-{part * months + 1:02}-01'" if sign == ">=" else f"'{year}-{(part + 1) * months:02}-31'"


def _safe(text: str) -> str:
    """The text so that nothing in it is taken for HTML."""
    return text if without_markup(text) == (text, []) else html.escape(text, quote=False)


def _cells(question: BackgroundQuestion, fields: Mapping[str, str], language: str) -> Iterator[Cells]:
    text = _safe(question.text.in_language(language))
    hint = _safe(question.hint.in_language(language)) if question.hint else ""
    cells = {redcap.NAME: fields[question.name], redcap.LABEL: text, redcap.NOTE: hint}
    match question:
        case SingleChoice() | OrdinalScale():
            yield cells | {redcap.TYPE: "radio", redcap.CHOICES: _choices(question, language)}
        case MultipleChoice():
            yield cells | {redcap.TYPE: "checkbox", redcap.CHOICES: _choices(question, language)}
        case Matrix():
            for place, row in enumerate(question.rows):
                yield {
                    redcap.NAME: fields[f"{question.name}.{row.name}"],
                    redcap.LABEL: _safe(row.text.in_language(language)),
                    redcap.HEADER: text if place == 0 else "",
                    redcap.TYPE: "radio",
                    redcap.CHOICES: _choices(question, language),
                    redcap.MATRIX: fields[question.name],
                }
        case Slider():
            ends = [_in_a_list(end.in_language(language)) if end else "" for end in (question.low, question.high)]
            limits = _ends(f"{question.minimum:.15g}", f"{question.maximum:.15g}")
            words = f"{ends[0]} | | {ends[1]}" if any(ends) else ""
            yield cells | {redcap.TYPE: "slider", redcap.CHOICES: words, redcap.VALIDATION: "number", **limits}
        case Number():
            limits = _ends(f"{question.minimum:.15g}", f"{question.maximum:.15g}")
            yield cells | {redcap.TYPE: "text", redcap.VALIDATION: "integer" if question.whole else "number", **limits}
        case Date():
            first, last = (end if "-" in end else f"{end}-{month}" for end, month in ((question.earliest, "01"), (question.latest, "12")))
            yield cells | {redcap.TYPE: "text", redcap.VALIDATION: "date_ymd", **_ends(f"{first}-01", f"{last}-01")}
        case ShortText():
            yield cells | {redcap.TYPE: "text"}


def _ends(low: str, high: str) -> Cells:
    return {redcap.LOWEST: low, redcap.HIGHEST: high}


def _in_a_list(text: str) -> str:
    """REDCap separates choices by bars, so that no text may have one."""
    return _safe(" ".join(text.replace("|", "/").split("\n")))


def _choices(question: Choices, language: str) -> str:
    codes = _codes(question)
    return " | ".join(f"{codes[option.name]}, {_in_a_list(option.text.in_language(language))}" for option in question.options)


def _to_know(question: BackgroundQuestion) -> Iterator[str]:
    if isinstance(question, Group | Circle):
        yield _("REDCap has no such question. Groups need repeating instruments; friends need a page that keeps names to itself.")
    if isinstance(question, Date):
        yield _("REDCap asks for a day. Leave out the day, or people can be recognised by it.")
    if isinstance(question, ShortText):
        yield _("Candor never releases these words. Say the same to people there.")
