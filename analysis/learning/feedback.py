"""The content of the page on which students learn from released difficulties how they did: the same for everybody."""

import json
from collections.abc import Sequence

from analysis.learning.difficulties_page import newest_difficulties
from analysis.sources.selectors import source_of
from candor.packages.analytics import PublishedItem
from surveys.definition import StudyDefinition
from surveys.models import Study
from surveys.questions.background import QuizItem
from surveys.questions.conditions import filled_in

DIGITS = 4


def feedback_of(study: Study, definition: StudyDefinition, language: str) -> dict[str, object] | None:
    """The newest released difficulties, as the page's script takes them; None where there are none yet."""
    found = newest_difficulties(source_of(study))
    if found is None:
        return None
    abilities = found["abilities"]
    items = [_item(item, definition, language) for item in found["items"]]
    content: dict[str, object] = {
        "n": found["n"],
        "omitted": found["omitted"],
        "although_noise": found["although_noise"],
        "mean": _written(abilities["mean"]),
        "sd": _written(abilities["standard_deviation"]),
        "items": items,
        "half": (len(items) + 1) // 2,
    }
    if not abilities["assumed"]:
        content |= {"values": json.dumps(_rounded(abilities["values"])), "shares": json.dumps(_rounded(abilities["shares"]))}
    return content


def _item(released: PublishedItem, definition: StudyDefinition, language: str) -> dict[str, object]:
    """A text that names an earlier answer has the words for people who left it out: the page is the same for everybody."""
    item: QuizItem = next(one for one in definition.quiz if one.name == released["item"])
    nobodys = {question.name: "" for question in definition.background}
    options = [(option.name, option.text.in_language(language)) for option in item.options]
    return {
        "name": item.name,
        "text": filled_in(item.text.in_language(language), nobodys),
        "options": options,
        "right": item.answer,
        "answer": dict(options)[item.answer],
        "difficulty": _written(released["difficulty"]),
        "deviation": _written(released["standard_deviation"]),
    }


def _written(number: float) -> str:
    """With a decimal point in every language: a script reads it."""
    return f"{number:.{DIGITS}f}"


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(number, DIGITS) for number in numbers]
