"""The page on which students learn from released difficulties how they did: one page, the same bytes for everybody."""

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from analysis.learning.difficulties_page import newest_difficulties
from analysis.sources.selectors import source_of
from surveys.access import study_in_public
from surveys.definition import QuizItem, StudyDefinition
from surveys.journey.language import asked_for
from surveys.journey.presentation import presentation
from surveys.protocols import protocol_in_force

MINUTES = 5
DIGITS = 4


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
@vary_on_headers("Accept-Language")
def feedback(request: HttpRequest, slug: str) -> HttpResponse:
    """No session and no cookie are read: students may come with a quiz on paper, long after their data are deleted."""
    study = study_in_public(slug)
    protocol = protocol_in_force(study)
    shown = presentation(protocol.id, asked_for(request, study))
    if not shown.has_feedback:
        raise Http404("This study has no privacy budget, or no quiz.")
    found = newest_difficulties(source_of(study))
    if found is None:
        with translation.override(shown.language):
            return render(request, "surveys/participant/feedback_later.html", {"study": shown, "language": shown.language})
    abilities = found["abilities"]
    items = [_item(item, protocol.definition, shown.language) for item in found["items"]]
    context: dict[str, Any] = {
        "study": shown,
        "language": shown.language,
        "n": found["n"],
        "omitted": found["omitted"],
        "although_noise": found["although_noise"],
        "mean": _written(abilities["mean"]),
        "sd": _written(abilities["standard_deviation"]),
        "items": items,
        "half": (len(items) + 1) // 2,
    }
    if not abilities["assumed"]:
        context |= {"values": json.dumps(_rounded(abilities["values"])), "shares": json.dumps(_rounded(abilities["shares"]))}
    with translation.override(shown.language):
        return render(request, "surveys/participant/feedback.html", context)


def _item(released: dict[str, Any], definition: StudyDefinition, language: str) -> dict[str, object]:
    item: QuizItem = next(one for one in definition.quiz if one.name == released["item"])
    options = [(option.name, option.text.in_language(language)) for option in item.options]
    return {
        "name": item.name,
        "text": item.text.in_language(language),
        "options": options,
        "right": item.answer,
        "answer": dict(options)[item.answer],
        "difficulty": _written(released["difficulty"]),
        "deviation": _written(released["standard_deviation"]),
    }


def _written(number: float) -> str:
    """With a decimal point in every language: a script reads it."""
    return f"{number:.{DIGITS}f}"


def _rounded(numbers: list[float]) -> list[float]:
    return [round(number, DIGITS) for number in numbers]
