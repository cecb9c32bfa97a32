"""Pages that are the same for everybody who stands at the same place, but for a few placeholders, such as the CSRF token.

The common part is rendered once per process from (protocol, language, step, variant) alone, so nothing of a person can get into it; the
placeholders are filled in for each response. Otherwise templates take half of a journey's processor time
(`benchmarks/journeys.py --profile`).
"""

import re
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.template.loader import get_template
from django.utils.html import conditional_escape

from surveys.journey.presentation import Presentation, presentation

# Characters of Unicode's private use area, which no text of a study or a template contains.
OPEN, CLOSE = "\ue000", "\ue001"
PLACEHOLDERS = re.compile(f"{OPEN}([a-z_]+){CLOSE}")

SharedContext = Callable[[Presentation, Any], dict[str, object]]


def placeholder(name: str) -> str:
    """Where a personal value will stand."""
    return f"{OPEN}{name}{CLOSE}"


def common_context(shown: Presentation, step: str) -> dict[str, object]:
    return {"study": shown, "language": shown.language, "step": step, "progress": shown.progress(step), "errors": []}


def shared_page(
    request: HttpRequest,
    template: str,
    *,
    protocol_id: int,
    language: str,
    step: str,
    shared: SharedContext,
    variant: Hashable,
    personal: Mapping[str, str],
) -> HttpResponse:
    """The page of this step and variant, with the personal values filled in."""
    values = {name: conditional_escape(value) for name, value in personal.items()} | {"csrf_token": get_token(request)}
    pieces = _pieces(template, protocol_id, language, step, shared, variant, tuple(values))
    return HttpResponse("".join(values[piece] if index % 2 else piece for index, piece in enumerate(pieces)))


def own_page(
    request: HttpRequest, template: str, *, shown: Presentation, step: str, context: Mapping[str, object], status: int = 200
) -> HttpResponse:
    """The page for one person alone, with the typed text and its errors."""
    return render(request, template, common_context(shown, step) | dict(context), status=status)


@lru_cache(maxsize=1024)
def _pieces(
    template: str, protocol_id: int, language: str, step: str, shared: SharedContext, variant: Hashable, placeholders: tuple[str, ...]
) -> tuple[str, ...]:
    """The rendered page cut at its placeholders: text, name of a placeholder, text, name, …, text."""
    shown = presentation(protocol_id, language)
    context = common_context(shown, step) | {name: placeholder(name) for name in placeholders} | shared(shown, variant)
    return tuple(PLACEHOLDERS.split(get_template(template).render(context)))
