"""Pages that are the same for everybody who stands at the same place, but for a few placeholders, such as the CSRF token.

The common part is rendered and compressed once per process from (protocol, language, step, variant) alone, so nothing of a person can get
into it; the placeholders are filled in for each response, uncompressed. The fields of a page are rendered and compressed one by one, since
chance may give each person another order of them. Otherwise templates take half of a journey's processor time
(`benchmarks/journeys.py --profile`).
"""

import re
import secrets
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.template import Context
from django.template.loader import get_template
from django.utils.cache import patch_vary_headers
from django.utils.html import conditional_escape

from surveys.journey.fields import FieldView
from surveys.journey.presentation import Presentation, presentation
from surveys.recruitment.arrivals import WayBack
from surveys.shelves.by_bytes import kept
from surveys.shelves.deflated import Part, compressed, joined, stored

MOST_BYTES = 64 * 1024**2
"""The compressed pages of each process: some 15,000 of them."""
# Drawn by each process, so that no text of a study can hold a placeholder, and with it a secret of the person who reads the text.
OPEN, CLOSE = f"\ue000{secrets.token_hex(8)}-", "\ue001"
PLACEHOLDERS = re.compile(f"{OPEN}([a-z_]+){CLOSE}")
NEXT_PAGE = "Next-Page"
"""The header by which a script says that it can show the next page, and by which the server says that it has sent it."""

CSRF_TOKEN, FIELDS = "csrf_token", "fields"

SharedContext = Callable[[Presentation, Any], dict[str, object]]


def placeholder(name: str) -> str:
    """Where a personal value will stand."""
    return f"{OPEN}{name}{CLOSE}"


def template_of(step: str) -> str:
    return f"surveys/participant/{step}.html"


def common_context(shown: Presentation, step: str) -> dict[str, object]:
    return {"study": shown, "language": shown.language, "step": step, "progress": shown.progress(step), "errors": []}


def shared_page(
    request: HttpRequest,
    *,
    protocol_id: int,
    language: str,
    step: str,
    shared: SharedContext,
    variant: Hashable,
    personal: Mapping[str, str],
    fields: Sequence[FieldView] = (),
) -> HttpResponse:
    """The page of this step and variant, with the personal values filled in and `fields` in their order, none of which names an answer."""
    pieces = _pieces(protocol_id, language, step, shared, variant, (*personal, CSRF_TOKEN))
    unpacks = "deflate" in request.META.get("HTTP_ACCEPT_ENCODING", "").lower().replace(" ", "").split(",")
    filled = {name: [stored(conditional_escape(value))] for name, value in personal.items()}
    if CSRF_TOKEN in pieces:
        filled[CSRF_TOKEN] = [stored(_csrf_token(request, masked=not unpacks))]
    filled[FIELDS] = [_part(protocol_id, language, step, field) for field in fields]
    content = joined(part for piece in pieces for part in (filled[piece] if isinstance(piece, str) else [piece]))
    response = HttpResponse(content, headers={"Content-Encoding": "deflate"}) if unpacks else HttpResponse(zlib.decompress(content))
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def _csrf_token(request: HttpRequest, *, masked: bool) -> str:
    """That of the form which is answered by the next page, for the same document goes on; a new one elsewhere.

    A mask keeps the length of a compressed page from telling the token. Here it stands in a block of its own, which is not compressed;
    masks cost a twenty-fifth of a journey. A page that somebody on the way may compress has one.
    """
    kept = request.POST.get("csrfmiddlewaretoken") if can_show_next_page(request) else None
    return kept or (get_token(request) if masked else _secret_of(request))


def _secret_of(request: HttpRequest) -> str:
    """That of the cookie, which is renewed. Django takes it for a token, too."""
    get_token(request)
    return str(request.META["CSRF_COOKIE"])


def own_page(request: HttpRequest, *, shown: Presentation, step: str, context: Mapping[str, object], status: int = 200) -> HttpResponse:
    """The page for one person alone, with the typed text and its errors."""
    return render(request, template_of(step), common_context(shown, step) | dict(context), status=status)


def can_show_next_page(request: HttpRequest) -> bool:
    """Whether the answer to this form may be the next page: to the page's own script, at the study's one address."""
    return "HTTP_NEXT_PAGE" in request.META and not request.GET


def as_next_page(response: HttpResponse) -> HttpResponse:
    """The page where somebody belongs now, told apart from the same step's page with an objection."""
    response[NEXT_PAGE] = "here"
    return response


class FieldsHere:
    """Stands for the fields of a page, as the one of them whose template marks their place."""

    @property
    def template(self) -> "FieldsHere":
        return self

    def render(self, _context: Context) -> str:
        return placeholder(FIELDS)


def _bytes_of(pieces: tuple[Part | str, ...]) -> int:
    return sum(len(piece.blocks) for piece in pieces if isinstance(piece, Part))


@kept(most_bytes=MOST_BYTES, size=_bytes_of)
def _pieces(
    protocol_id: int, language: str, step: str, shared: SharedContext, variant: Hashable, placeholders: tuple[str, ...]
) -> tuple[Part | str, ...]:
    """The rendered page cut at its placeholders: a compressed part, the name of a placeholder, a part, a name, …, a part."""
    shown = presentation(protocol_id, language)
    places = {name: placeholder(name) for name in placeholders}
    context = common_context(shown, step) | {FIELDS: [FieldsHere()]} | places | shared(shown, variant)
    texts = PLACEHOLDERS.split(get_template(template_of(step)).render(context))
    return tuple(text if index % 2 else compressed(text) for index, text in enumerate(texts))


@kept(most_bytes=MOST_BYTES, size=lambda part: len(part.blocks))
def _part(protocol_id: int, language: str, step: str, field: FieldView) -> Part:
    """One field as it stands on its page."""
    shown = presentation(protocol_id, language)
    return compressed(get_template(field.template).render(common_context(shown, step) | {"field": field}))


def let_send_to(response: HttpResponse, back: WayBack | None) -> None:
    """Let this page send the form that a panel wants."""
    if back and back.fields:
        response.sends_to = "/".join(back.address.split("/")[:3])  # type: ignore[attr-defined]
