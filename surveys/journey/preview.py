"""The study as participants will see it: the real pages, from the draft, for any arm and subsample. Sent forms are not stored."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from candor.written_numbers import number_in_digits
from surveys.access import access_study
from surveys.definition import DIRECT, StudyDefinition
from surveys.journey import steps
from surveys.journey.fields import FieldView, arranged
from surveys.journey.forms import errors_of, read_fields, with_answers
from surveys.journey.pages import own_page, template_of
from surveys.journey.presentation import Presentation, present
from surveys.journey.step_views import STEP_PAGES
from surveys.journey.visitors import see_other
from surveys.languages.names import language_name
from surveys.media.language_files import code_to_speak
from surveys.media.views import media_response
from surveys.privacy.words import privacy_in_words
from surveys.protocols import ProtocolView, protocol_view_for

DECLINED, PRIVACY = "declined", "privacy"
STEP_NAMES: dict[str, Promise] = {
    steps.WELCOME: gettext_lazy("Welcome"),
    steps.CONSENT: gettext_lazy("Consent"),
    steps.BACKGROUND: gettext_lazy("Background questions"),
    steps.DIRECT_CONSENT: gettext_lazy("Consent to be asked directly"),
    steps.VIDEO: gettext_lazy("What the arm shows"),
    steps.QUIZ: gettext_lazy("Quiz"),
    steps.DIE: gettext_lazy("The die explained"),
    steps.QUESTIONS: gettext_lazy("Sensitive questions"),
    steps.DIRECT_QUESTIONS: gettext_lazy("Sensitive questions, asked directly"),
    steps.FINISHED: gettext_lazy("Thank you"),
    DECLINED: gettext_lazy("After saying no"),
    PRIVACY: gettext_lazy("“Is this really private?”"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A page of the preview, as named in the address."""

    slug: str
    step: str
    arm: str
    subsample: str
    language: str
    page: int = 0
    """Where it is among the pages of the arm."""
    version: int | None = None
    """A frozen version of the protocol; without it the one at hand."""
    framed: bool = False
    """Whether it stands in a frame of the protocol packet."""

    @property
    def address(self) -> str:
        query: dict[str, object] = {"step": self.step, "arm": self.arm, "subsample": self.subsample, "language": self.language}
        query |= {"page": self.page} if self.page else {}
        query |= {"version": self.version} if self.version else {}
        query |= {"framed": 1} if self.framed else {}
        return f"{reverse('surveys:preview', args=[self.slug])}?{urlencode(query)}"

    def at(self, step: str, *, page: int = 0) -> "Place":
        return replace(self, step=step, page=page)


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
@cache_control(no_store=True)
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """A choice of pages; with a `step`, that page. A form without a mistake only leads on to the next page."""
    seat = access_study(user_of(request), slug)
    version = _version(request.GET)
    protocol = protocol_view_for(seat, version=version)
    place = place_of(request.GET, protocol.definition, slug, version=version)
    own_steps = steps.steps_of(protocol.definition, asked=steps.DIRECTLY if place.subsample == DIRECT else steps.WITH_DIE)
    if not place.step:
        missing = sorted(protocol.definition.files() - set(protocol.media))
        context = {"study": seat.study, "beside": choices_of(protocol.definition) | {"place": place}, "missing": missing}
        return render(request, "surveys/investigator/preview.html", context)
    if place.step not in (*own_steps, DECLINED, PRIVACY):
        raise Http404("This study has no such page.")
    with translation.override(code_to_speak(protocol.definition, protocol.media, place.language)):
        shown = _shown(place, protocol)
        asked = {steps.BACKGROUND: shown.background, steps.QUIZ: shown.quiz}.get(place.step, ())
        filled = read_fields(asked, request.POST)[1] if request.method == "POST" else ()
        if request.method == "POST" and not errors_of(filled):
            return _onwards(request.POST, place, own_steps, protocol)
        return _page(request, place, own_steps, protocol, shown=shown, filled=filled)


@require_role(*Role)
@require_safe
def preview_media(request: HttpRequest, slug: str, media_id: UUID) -> HttpResponseBase:
    """A file of the study, of any arm and of any version, for people who may see the study."""
    seat = access_study(user_of(request), slug)
    return media_response(request, protocol_view_for(seat, version=_version(request.GET)).media, study_id=seat.study.pk, media_id=media_id)


def preview_media_address(slug: str, version: int | None) -> Callable[[str], str]:
    """The addresses at which staff play the files of this version."""
    query = f"?version={version}" if version else ""
    return lambda media_id: reverse("surveys:preview_media", args=[slug, media_id]) + query


def frames_of(definition: StudyDefinition, place: Place) -> list[tuple[str, str, str]]:
    """The pages from welcome to thanks for somebody in this arm and subsample: step, name, and address for a frame."""
    framed, pages = replace(place, framed=True), max(len(definition.arm(place.arm).shown), 1)
    return [
        (step, f"{STEP_NAMES[step]} {page + 1}" if page else str(STEP_NAMES[step]), framed.at(step, page=page).address)
        for step in _pages_of(definition)
        for page in range(pages if step == steps.VIDEO else 1)
    ]


def _pages_of(definition: StudyDefinition) -> tuple[str, ...]:
    directly = (steps.DIRECT_QUESTIONS,) if definition.direct_group else ()
    return (*steps.steps_of(definition), *directly, DECLINED, PRIVACY)


def _version(query: QueryDict) -> int | None:
    """The frozen version that the address names, if any; there is no version 0."""
    named = query.get("version", "")
    return number_in_digits(named) or 0 if named else None


def choices_of(definition: StudyDefinition) -> dict[str, list[tuple[str, str | Promise]]]:
    """The pages, arms, subsamples and languages of a preview, each with its words."""
    language = translation.get_language() or "en"
    return {
        "steps": [(step, STEP_NAMES[step]) for step in _pages_of(definition)],
        "arms": [(arm.name, arm.label.in_language(language)) for arm in definition.arms],
        "subsamples": [(name, name) for name in definition.die.subsamples],
        "languages": [(code, language_name(code)) for code in definition.languages],
    }


def place_of(query: Mapping[str, str], definition: StudyDefinition, slug: str, *, version: int | None) -> Place:
    """Values that the address lacks, or that no longer exist, become the first of their kind."""

    def chosen(name: str, offered: Iterable[str]) -> str:
        names = list(offered)
        return found if (found := query.get(name, "")) in names else names[0]

    step = query.get("step", "")
    directly = step == steps.DIRECT_QUESTIONS and definition.direct_group is not None
    groups = [DIRECT] if directly else list(definition.die.subsamples)
    arm = chosen("arm", (arm.name for arm in definition.arms))
    pages = [str(page) for page in range(len(definition.arm(arm).shown))] if step == steps.VIDEO else []
    return Place(
        slug=slug,
        step=step,
        arm=arm,
        page=int(chosen("page", pages or ["0"])),
        subsample=chosen("subsample", groups),
        language=chosen("language", definition.languages),
        version=version,
        framed=query.get("framed") == "1",
    )


def _onwards(sent: QueryDict, place: Place, own_steps: tuple[str, ...], protocol: ProtocolView) -> HttpResponse:
    if "share" in sent:  # the lecture says how much of it has been watched; here nobody listens
        return HttpResponse(status=204)
    if (language := sent.get("language", "")) in protocol.definition.languages:
        place = replace(place, language=language)
    if place.step == steps.VIDEO and place.page + 1 < len(protocol.definition.arm(place.arm).shown):
        return see_other(place.at(steps.VIDEO, page=place.page + 1).address)
    declined = place.step == steps.CONSENT and sent.get("choice") == "decline"
    following = DECLINED if declined else _neighbour(own_steps, place.step, +1)
    if not following and place.framed:
        following = own_steps[0]
    return see_other(place.at(following).address if following else reverse("surveys:preview", args=[place.slug]))


def _neighbour(own_steps: tuple[str, ...], step: str, direction: int) -> str:
    """The step before or after; nothing at the ends."""
    index = own_steps.index(step) + direction if step in own_steps else -1
    return own_steps[index] if 0 <= index < len(own_steps) else ""


def _shown(place: Place, protocol: ProtocolView) -> Presentation:
    return present(
        protocol.definition,
        media=protocol.media,
        version=protocol.version,
        language=place.language,
        address=place.at(steps.WELCOME).address if place.step == DECLINED else place.address,
        progress_address=place.address,
        media_address=preview_media_address(place.slug, place.version),
    )


def _page(
    request: HttpRequest,
    place: Place,
    own_steps: tuple[str, ...],
    protocol: ProtocolView,
    *,
    shown: Presentation,
    filled: tuple[FieldView, ...],
) -> HttpResponse:
    view = shown.stimuli[place.arm][place.page]
    before, after = (_neighbour(own_steps, place.step, direction) for direction in (-1, +1))
    errors = errors_of(filled)
    context = _context(shown, place, protocol, filled={field.name: field for field in filled}) | {
        "errors": errors,
        "preview": {
            "language": getattr(request, "own_language", "en"),
            "step": STEP_NAMES[place.step],
            "place": place,
            "arm": protocol.definition.arm(place.arm).label.in_language(place.language),
            "before": place.at(before).address if before else "",
            "after": place.at(after).address if after else "",
            "privacy_address": place.at(PRIVACY).address,
            "missing": view.missing if place.step == steps.VIDEO else (),
        },
        "leave_url": view.leaving(request.build_absolute_uri(place.at(after or place.step).address)),
    }
    if place.step in own_steps:
        status = HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK
        return own_page(request, shown=shown, step=place.step, context=context, status=status)
    return render(request, template_of(place.step), {"study": shown, "language": shown.language} | context)


def _context(shown: Presentation, place: Place, protocol: ProtocolView, *, filled: Mapping[str, FieldView]) -> dict[str, object]:
    """The page's view of the study, with look-alikes in place of personal values."""
    personal = {"resume_url": _("A personal link stands here.")}
    match place.step:
        case steps.WELCOME:
            ways = (shown.entry.without_parameter, *shown.entry.every_way)
            return {"entry_fields": [], "code_value": "", "takes_code": next(way for way in ways if way).way.takes_code}
        case steps.CONSENT:
            return {"consent_html": shown.consent_html, "consent_version": shown.version}
        case step if step == DECLINED:
            return {}
        case step if step == PRIVACY:
            one, total = protocol.definition.epsilon, protocol.definition.epsilon_total
            words = privacy_in_words(one, questions=len(shown.questions), total=total)
            epsilons = {"epsilon_per_question": one, "epsilon_total": total}
            return {"die": shown.dice[place.subsample], "questions": shown.questions, "privacy": words, **epsilons}
        case steps.BACKGROUND:
            # All questions at once, also those that wait for an answer.
            fields = [filled.get(field.name, field) for field in _without_answers(shown.background)]
            return personal | {"fields": arranged(fields, order="", by_chance=shown.random_background)}
        case steps.VIDEO:
            variant: object = (place.arm, place.page, 0, protocol.definition.watching.mode)
        case steps.QUIZ:
            fields = [filled.get(field.name, field) for field in _without_answers(shown.quiz, shown.background)]
            return personal | {"fields": arranged(fields, order="", by_chance=shown.random_quiz)}
        case steps.DIE | steps.QUESTIONS:
            variant = place.subsample
            personal["whose"] = secrets.token_hex(8)  # every visit begins with fresh dice
        case steps.FINISHED:
            variant, code = None, _("only in the study itself")
            personal = {"completion_code": code, "withdrawal_code": code}
            if shown.sends_back:
                personal["completion_url"] = place.address
        case _:
            variant = None
    return {**personal, **STEP_PAGES[place.step].shared(shown, variant)}


def _without_answers(fields: Sequence[FieldView], earlier: Sequence[FieldView] = ()) -> list[FieldView]:
    """All questions with the words for people who left the earlier ones out."""
    said = dict.fromkeys((field.key for field in earlier or fields), "")
    return [with_answers(field, said) for field in fields]
