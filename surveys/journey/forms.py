"""Parsing of participants' input. All of it but the section is optional; a mistake gets a sentence with the expected input."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from candor.written_numbers import typed_number
from surveys.journey.fields import FieldView
from surveys.journey.presentation import SensitiveQuestionView
from surveys.languages.signs import sign_on_the_left, with_minus
from surveys.questions.background import pairs_among
from surveys.questions.conditions import filled_in

Errors = list[dict[str, str]]
LONGEST_SHOWN = 1000
"""Characters of a short text that is too long, on the page that says so."""
ENDINGS = ("?", "!", ".", "…", "؟", "？", "。")
"""A question that ends so stands before its mistake without a colon."""
NAMES_SOMEBODY = re.compile(r"\S@\S|\d[ /-]?\d[ /-]?\d[ /-]?\d[ /-]?\d[ /-]?\d")


def read_fields(fields: Iterable[FieldView], data: QueryDict) -> tuple[dict[str, object], tuple[FieldView, ...]]:
    """The answers by name (unanswered ones are left out), and the fields with the typed text and its errors.

    A field whose conditions do not hold is left out, whatever was sent for it. Earlier answers are put into the texts that name them.
    """
    fields = list(fields)
    answers: dict[str, object] = {}
    filled: list[FieldView] = []
    said = dict.fromkeys((field.key for field in fields), "")
    for field in fields:
        if all(condition.holds(answers) for condition in field.show_if):
            one = _fill(with_answers(field, said), data)
            given = _answers([one])
            answers |= given
            said |= {field.key: _in_words(one)} if given else {}
            filled.append(one)
    return answers, tuple(filled)


def with_answers(field: FieldView, said: Mapping[str, str]) -> FieldView:
    """The field with earlier answers in its text; `said` has them in words, and nothing for those that were not given."""
    return replace(field, text=filled_in(field.text, said), hint=filled_in(field.hint, said)) if field.pipes else field


def settled(fields: Iterable[FieldView], background: Sequence[FieldView], answers: Mapping[str, object]) -> list[FieldView]:
    """The fields that stored background answers let somebody see, with those answers in their texts."""
    said = {one.key: _in_words(_with(one, answers[one.key])) if one.key in answers else "" for one in background if _has_words(one)}
    shown = [with_answers(field, said) for field in fields if all(condition.holds(answers) for condition in field.show_if)]
    return [replace(field, show_if=(), pipes=False) for field in shown]


def _has_words(field: FieldView) -> bool:
    return field.kind not in ("group", "matrix", "circle")


def _with(field: FieldView, answer: object) -> FieldView:
    """The field with a stored answer in it."""
    if field.kind == "date":
        parts = zip(field.rows[0], reversed(str(answer).split("-")), strict=True)
        return replace(field, rows=(tuple(replace(part, value=value) for part, value in parts),))
    if isinstance(answer, list):
        return replace(field, value=tuple(answer))
    return replace(field, value=f"{answer:.15g}" if isinstance(answer, float) else str(answer))


def _in_words(field: FieldView) -> str:
    """An answer as a later text names it."""
    if field.kind == "date":
        return " ".join(_in_words(part) for part in field.rows[0])
    chosen = field.value if isinstance(field.value, tuple) else (field.value,)
    return ", ".join(text for name, text in field.options if name in chosen) if field.options else str(field.value)


def errors_of(fields: Iterable[FieldView], *, within: str = "") -> Errors:
    """The error summary: each message with the input it belongs to, named `within` the question of which it is a part."""
    found: Errors = []
    for field in fields:
        named = within + (field.text if field.text.endswith(ENDINGS) else f"{field.text}:")
        found += [{"field": field.id, "message": f"{named} {field.error}"}] if field.error else []
        for row in field.rows:
            found += errors_of(row, within=f"{named} ")
    return found


def read_responses(questions: Iterable[SensitiveQuestionView], data: QueryDict) -> tuple[dict[str, str], Errors]:
    """The values of the reported answers. All are needed, since a missing one would set its participant apart."""
    values = {question.id: data.get(f"answer-{question.id}", "") for question in questions}
    missing = [question for question in questions if values[question.id] not in dict(question.options)]
    return values, [
        {"field": f"answer-{question.id}", "message": _("Choose an answer: %(question)s") % {"question": question.text}}
        for question in missing
    ]


def read_direct_answers(questions: Iterable[SensitiveQuestionView], data: QueryDict) -> dict[str, int]:
    """The values of the direct answers; what is no option is left out."""
    given = {question.id: (data.get(f"answer-{question.id}", ""), dict(question.options)) for question in questions}
    return {name: int(value) for name, (value, options) in given.items() if value in options}


def _fill(field: FieldView, data: QueryDict) -> FieldView:
    if field.kind in ("group", "matrix"):
        return replace(field, rows=tuple(tuple(_fill(inner, data) for inner in row) for row in field.rows))
    if field.kind == "date":
        return replace(field, rows=(_with_a_month(field, tuple(_fill(part, data) for part in field.rows[0])),))
    if field.kind == "circle":
        ((friends, pairs),) = field.rows
        return replace(field, rows=(_with_fitting_pairs(_fill(friends, data), _fill(pairs, data)),))
    if field.kind == "multiple_choice":
        chosen = tuple(data.getlist(field.name))
        return replace(field, value=chosen, error="" if set(chosen) <= _names(field) else _("Choose from the list."))
    value = data.get(field.name, "").strip()
    if field.kind == "short_text":
        words = _tidied(value)
        return replace(field, value=words[:LONGEST_SHOWN], error=_problem_with(words, most=field.longest))
    if field.required and not value:
        return replace(field, error=_("Choose one from the list."))
    if field.kind in ("single_choice", "ordinal_scale", "select", "quiz_item"):
        return replace(field, value=value, error="" if not value or value in _names(field) else _("Choose one from the list."))
    return replace(field, value=value[:40], error=_read_number_of(field, value)[1] if value else "")


def _with_a_month(field: FieldView, parts: tuple[FieldView, ...]) -> tuple[FieldView, ...]:
    """Month and year of a date, both or none of them, and between the ends; or the year alone."""
    if any(part.error for part in parts) or not any(part.value for part in parts):
        return parts
    if all(part.value for part in parts):
        if field.low <= _date_of(parts) <= field.high:
            return parts
        ends = {"earliest": field.low, "latest": field.high}
        return (replace(parts[0], error=_("Choose a month from %(earliest)s to %(latest)s.") % ends), *parts[1:])
    return tuple(part if part.value else replace(part, error=_("Choose the month and the year, or neither.")) for part in parts)


def _with_fitting_pairs(friends: FieldView, pairs: FieldView) -> tuple[FieldView, FieldView]:
    """The two numbers of a circle, with what does not fit. Fewer than two friends make no pair, so nothing need be said of pairs."""
    if friends.error or pairs.error:
        return friends, pairs
    known, _problem = _read_number_of(friends, str(friends.value)) if friends.value else (None, "")
    linked, _problem = _read_number_of(pairs, str(pairs.value)) if pairs.value else (None, "")
    if known is None:
        return replace(friends, error="" if linked is None else _("Enter how many friends, or leave both numbers out.")), pairs
    most = pairs_among(int(known))
    if linked is None and most:
        return friends, replace(pairs, error=_("Enter how many pairs of them are friends, or leave both numbers out."))
    if linked is not None and linked > most:
        words = _("With %(friends)s friends there are at most %(most)s pairs, not %(found)s.")
        return friends, replace(pairs, error=words % {"friends": known, "most": most, "found": linked})
    return friends, replace(pairs, value=str(linked or 0))


def _tidied(words: str) -> str:
    """The words on one line, without characters that nobody can see."""
    return "".join(character for character in " ".join(words.split()) if character.isprintable())


def _problem_with(words: str, *, most: int) -> str:
    if len(words) > most:
        return _("Write at most %(most)s characters; these are %(found)s.") % {
            "most": most,
            "found": number_format(len(words), force_grouping=True),
        }
    if NAMES_SOMEBODY.search(words):
        return _("Leave out e-mail addresses and long numbers: they could tell who you are.")
    return ""


def _names(field: FieldView) -> set[str]:
    return {name for name, _text in field.options}


def read_number(value: str, *, minimum: float, maximum: float, whole: bool = False) -> tuple[float | None, str]:
    """The typed number, or a sentence with the expected and the found input."""
    number = typed_number(value, whole=whole)
    ends = {name: with_minus(number_format(f"{end:.15g}")) for name, end in (("minimum", minimum), ("maximum", maximum))}
    expected = {**ends, "value": sign_on_the_left(value[:40])}
    if number is None:
        kind = _("a whole number from %(minimum)s to %(maximum)s") if whole else _("a number from %(minimum)s to %(maximum)s")
        return None, _("Enter %(kind)s, not “%(value)s”.") % {**expected, "kind": kind % expected}
    if not minimum <= number <= maximum:
        return None, _("Enter a number from %(minimum)s to %(maximum)s, not %(value)s.") % expected
    return int(number) if whole else float(number), ""


def _read_number_of(field: FieldView, value: str) -> tuple[float | None, str]:
    low, high = (-inf if field.minimum is None else field.minimum, inf if field.maximum is None else field.maximum)
    number, problem = read_number(value, minimum=low, maximum=high, whole=field.whole)
    if number is None or not field.step:
        return number, problem
    nearest = round(low + round((number - low) / field.step) * field.step, 9)
    if abs(number - nearest) > field.step * 1e-6:
        words = _("Enter a number in steps of %(step)s, such as %(nearest)s, not %(value)s.")
        written = {"step": number_format(f"{field.step:.15g}"), "nearest": with_minus(number_format(f"{nearest:.15g}"))}
        return None, words % {**written, "value": sign_on_the_left(value[:40])}
    return (int(nearest) if field.whole else nearest), ""


def _answers(fields: Iterable[FieldView]) -> dict[str, object]:
    """The rows of a matrix are answers of their own, under names with a full stop."""
    found: dict[str, object] = {}
    for field in fields:
        if field.kind == "matrix":
            found |= _answers(inner for row in field.rows for inner in row)
        elif (answer := _answer(field)) not in (None, [], {}, ""):
            found[field.key] = answer
    return found


def _date_of(parts: tuple[FieldView, ...]) -> str:
    """The year and the month as they are stored, such as 2004-09; nothing where they were left out."""
    return "-".join(str(part.value) for part in reversed(parts) if part.value)


def _answer(field: FieldView) -> object:
    if field.error:
        return None
    if field.kind == "group":
        return [answers for row in field.rows if (answers := _answers(row))]
    if field.kind == "circle":
        return None if errors_of(field.rows[0]) else _answers(field.rows[0])
    if field.kind == "date":
        return None if errors_of(field.rows[0]) else _date_of(field.rows[0])
    if field.kind in ("number", "slider"):
        return _read_number_of(field, str(field.value))[0]
    return list(field.value) if field.kind == "multiple_choice" else field.value
