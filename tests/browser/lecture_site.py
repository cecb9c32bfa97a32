"""The lecture page on its own: the real template, script, style and ranged responses, and a server that notes what the browser sends."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, include, path
from django.utils import translation

import surveys
from surveys.journey.stimuli import StimulusView
from surveys.media.ranged_response import ranged_file_response

LECTURES = Path(surveys.__file__).parent / "sample" / "lectures"
MEDIA = {
    "tokenwebm": ("with-instructor.webm", "video/webm"),
    "tokenmp4": ("with-instructor.mp4", "video/mp4"),
    "tokenposter": ("with-instructor.webp", "image/webp"),
    "tokenen": ("captions-en.vtt", "text/vtt"),
    "tokende": ("captions-en.vtt", "text/vtt"),
}
SECONDS = 26.6
NEXT_PAGE = "The next step"
_numbers = count()


@dataclass
class Desk:
    """How the page is set up, and the requests that it sent."""

    watch: str = "required"
    required_share: float = 0.8
    watched_share: float = 0.0
    language: str = "en"
    opened: str = field(default_factory=lambda: f"ticket-{next(_numbers)}")
    """Another one for each test: a report of the test before may come late."""
    shares: list[float] = field(default_factory=list)
    submitted: list[dict[str, str]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)


desk = Desk()


def journey(request: HttpRequest, slug: str) -> HttpResponse:
    if request.method == "POST":
        desk.submitted.append({name: str(value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken"})
        return HttpResponseRedirect(f"/s/{slug}/")  # as the journey does: the next page stands at the same address
    if desk.submitted:
        return render(request, "surveys/participant/base.html", {"study": {"title": NEXT_PAGE}})
    stimulus = StimulusView(
        kind="video",
        sources=(("/m/tokenwebm", "video/webm"), ("/m/tokenmp4", "video/mp4")),
        captions=(("/m/tokenen", "en", "English"), ("/m/tokende", "de", "Deutsch")),
        poster_url="/m/tokenposter",
        transcript_html="<p>Does a new lecture help students learn?</p>",
        duration_seconds=SECONDS,
    )
    context = {
        "study": SimpleNamespace(
            slug=slug, title="Lecture videos", contact="", address=f"/s/{slug}/", progress_address=f"/s/{slug}/progress/"
        ),
        "language": desk.language,
        "step": "video",
        "stimulus": stimulus,
        "page": 0,
        "watch": desk.watch,
        "required_share": desk.required_share,
        "watched_share": desk.watched_share,
        "opened": desk.opened,
    }
    with translation.override(desk.language):
        return render(request, "surveys/participant/video.html", context)


def progress(request: HttpRequest, slug: str) -> HttpResponse:
    if request.POST["opened"] == desk.opened:
        desk.shares.append(float(request.POST["share"]))
    return HttpResponse(status=204)


def media(request: HttpRequest, token: str) -> HttpResponseBase:
    name, media_type = MEDIA[token]
    response = ranged_file_response(request, LECTURES / name, content_type=media_type, etag=token)
    desk.statuses.append(response.status_code)
    return response


def elsewhere(request: HttpRequest, slug: str) -> HttpResponse:
    return HttpResponse("elsewhere")


_links: Sequence[URLPattern | URLResolver] = [
    path("s/<slug:slug>/", journey, name="journey"),
    path("s/<slug:slug>/progress/", progress, name="progress"),
    *(path(f"s/<slug:slug>/{name}/", elsewhere, name=name) for name in ("privacy", "withdraw", "allocation", "transparency")),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include((_links, "surveys"))),
    path("m/<slug:token>", media),
]
