"""The conditions of a question as lines, and back."""

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from candor.written_numbers import typed_number
from surveys.drafting.edits import Document, Unchecked
from surveys.drafting.forms import DraftForm
from surveys.questions.background import BackgroundQuestion, Date, MultipleChoice, Number, OrdinalScale, SingleChoice, Slider, taken_apart
from surveys.questions.conditions import MOST_CONDITIONS, Condition

PLACE = "show_if"
MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")
LINE = re.compile(r"(?P<question>[a-z0-9][a-z0-9_.-]*)\s*:\s*(?P<answers>.+)")
NUMBER = r"[0-9]{4}-[0-9]{2}|[-−]?[0-9][0-9.,]*"
RANGE = re.compile(rf"(?P<low>{NUMBER})\s+(?:to|bis)\s+(?P<high>{NUMBER})|>=?\s*(?P<least>{NUMBER})|<=?\s*(?P<most>{NUMBER})")


def typed_conditions(conditions: Sequence[Document]) -> str:
    return "\n".join(Condition.model_validate(condition).line for condition in conditions)


def read_conditions(form: DraftForm) -> list[dict[str, Unchecked]]:
    """One condition for each line. The definition then says whether it can hold."""
    lines = [line.strip() for line in form.line(PLACE).split("\n") if line.strip()]
    if len(lines) > MOST_CONDITIONS:
        form.error(PLACE, _("Write at most %(most)s conditions; these are %(found)s.") % {"most": MOST_CONDITIONS, "found": len(lines)})
    return [one for line in lines if (one := _condition(form, line))]


def examples(earlier: Sequence[BackgroundQuestion], language: str) -> list[tuple[str, str]]:
    """For each earlier question that a condition can name: a line that everybody meets who answered it, and the question's words."""
    found = []
    for one in taken_apart(earlier):
        text = one.text.in_language(language)
        if isinstance(one, SingleChoice | MultipleChoice | OrdinalScale):
            found.append((f"{one.name}: {', '.join(option.name for option in one.options)}", text))
        elif isinstance(one, Date):
            found.append((f"{one.name}: {one.earliest} to {one.latest}", text))
        elif isinstance(one, Number | Slider):
            found.append((f"{one.name}: {one.minimum:.15g} to {one.maximum:.15g}", text))
    return found


def _condition(form: DraftForm, line: str) -> dict[str, Unchecked] | None:
    whole = LINE.fullmatch(line)
    if whole is None:
        example = "year: first, second"
        form.error(PLACE, _("Write a line like “%(example)s”, not “%(found)s”.") % {"example": example, "found": line[:60]})
        return None
    within = RANGE.fullmatch(whole["answers"])
    if within is None:
        return {"question": whole["question"], "any_of": [one.strip() for one in whole["answers"].split(",") if one.strip()]}
    ends = {"at_least": within["low"] or within["least"], "at_most": within["high"] or within["most"]}
    numbers = {key: end if MONTH.fullmatch(end) else typed_number(end) for key, end in ends.items() if end}
    if None in numbers.values():
        form.error(PLACE, _("“%(found)s” has a number that cannot be read.") % {"found": line[:60]})
    return {
        "question": whole["question"],
        **{key: number if isinstance(number, str) else float(number) for key, number in numbers.items() if number is not None},
    }
