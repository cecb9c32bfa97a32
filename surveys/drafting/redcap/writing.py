"""The background questions as a REDCap data dictionary (CSV), with a reason for all that it cannot say."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from surveys.drafting.redcap import reading as redcap
from surveys.drafting.redcap.branching import field_name, logic_of
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
from surveys.questions.conditions import piped_in

Cells = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dictionary:
    """`changed`: the name of each question that REDCap asks otherwise, or cannot ask, with the reason."""

    text: str
    changed: list[tuple[str, str]]


def dictionary_of(questions: Sequence[BackgroundQuestion], *, form: str, language: str, privatised: Sequence[str] = ()) -> Dictionary:
    """The questions in one language. Options are coded 1, 2, 3 …; a name that REDCap does not take is changed.

    `privatised`: the names of those that are privatised in the browser. They are left out, because REDCap would store the true answer.
    """
    codes = {
        one.name: {option.name: str(number) for number, option in enumerate(one.options, start=1)}
        for one in taken_apart(questions)
        if isinstance(one, SingleChoice | MultipleChoice | OrdinalScale)
    }
    dates = {one.name: 1 if one.precision == "year" else 12 for one in questions if isinstance(one, Date)}
    several = [one.name for one in questions if isinstance(one, MultipleChoice)]
    changed: list[tuple[str, str]] = []
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, redcap.KNOWN, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerow({redcap.NAME: "record_id", redcap.FORM: field_name(form), redcap.TYPE: "text", redcap.LABEL: "Record ID"})
    for question in questions:
        changed += [(question.name, reason) for reason in _changes(question)]
        logic = logic_of(question.show_if, codes=codes, several=several, dates=dates)
        common = {redcap.FORM: field_name(form), redcap.BRANCHING: logic}
        writer.writerows(common | cells for cells in _fields(question, language))
    changed += [(name, _("Left out: it is privatised in the browser, and REDCap would store the true answer.")) for name in privatised]
    return Dictionary(text=buffer.getvalue(), changed=changed)


def _fields(question: BackgroundQuestion, language: str) -> Iterator[Cells]:
    text = question.text.in_language(language)
    hint = question.hint.in_language(language) if question.hint else ""
    cells = {redcap.NAME: field_name(question.name), redcap.LABEL: text, redcap.NOTE: hint}
    match question:
        case SingleChoice() | OrdinalScale():
            yield cells | {redcap.TYPE: "radio", redcap.CHOICES: _choices(question, language)}
        case MultipleChoice():
            yield cells | {redcap.TYPE: "checkbox", redcap.CHOICES: _choices(question, language)}
        case Matrix():
            for place, row in enumerate(question.rows):
                yield {
                    redcap.NAME: field_name(f"{question.name}.{row.name}"),
                    redcap.LABEL: row.text.in_language(language),
                    redcap.HEADER: text if place == 0 else "",
                    redcap.TYPE: "radio",
                    redcap.CHOICES: _choices(question, language),
                    redcap.MATRIX: field_name(question.name),
                }
        case Slider():
            ends = [end.in_language(language) if end else "" for end in (question.low, question.high)]
            yield cells | {
                redcap.TYPE: "slider",
                redcap.CHOICES: f"{ends[0]} | | {ends[1]}" if any(ends) else "",
                redcap.VALIDATION: "number",
                **_ends(f"{question.minimum:.15g}", f"{question.maximum:.15g}"),
            }
        case Number():
            whole = "integer" if question.whole else "number"
            yield cells | {redcap.TYPE: "text", redcap.VALIDATION: whole, **_ends(f"{question.minimum:.15g}", f"{question.maximum:.15g}")}
        case Date():
            first, last = (end if "-" in end else f"{end}-{month}" for end, month in ((question.earliest, "01"), (question.latest, "12")))
            yield cells | {redcap.TYPE: "text", redcap.VALIDATION: "date_ymd", **_ends(f"{first}-01", f"{last}-01")}
        case ShortText():
            yield cells | {redcap.TYPE: "text"}


def _ends(low: str, high: str) -> Cells:
    return {redcap.LOWEST: low, redcap.HIGHEST: high}


def _choices(question: SingleChoice | MultipleChoice | OrdinalScale | Matrix, language: str) -> str:
    """REDCap separates choices by bars, so that no text may have one."""
    texts = [" ".join(option.text.in_language(language).replace("|", "/").split()) for option in question.options]
    return " | ".join(f"{number}, {text}" for number, text in enumerate(texts, start=1))


def _changes(question: BackgroundQuestion) -> Iterator[str]:
    if isinstance(question, Group | Circle):
        yield _("Lost: REDCap has no such question. Groups need repeating instruments; friends need a page that keeps names to itself.")
        return
    if (written := field_name(question.name)) != question.name:
        yield _("Changed: its name is %(name)s there.") % {"name": written}
    if isinstance(question, Slider) and question.step != 1:
        yield _("Lost: its step, %(step)s.") % {"step": f"{question.step:.15g}"}
    if isinstance(question, Date):
        yield _("Changed: REDCap asks for a day. Leave out the day, or people can be recognised by it.")
    if isinstance(question, OrdinalScale | Matrix) and any(option.score is not None for option in question.options):
        yield _("Lost: the scores of its options.")
    if isinstance(question, SingleChoice | MultipleChoice | Matrix) and question.shuffle:
        yield _("Lost: the order by chance.")
    if isinstance(question, ShortText):
        yield _("Lost: its limit of %(most)s characters, and that words are never released.") % {"most": question.longest}
    if next(piped_in(question.text), None):
        yield _("Changed: an earlier answer in its text stands there as {name|words}.")
