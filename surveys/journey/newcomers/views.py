"""The pages of people who have not agreed yet: welcome, consent, and the pages of those who said no or took part in this browser before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import translation

from surveys.errors import ForgottenError, SectionUnknownError
from surveys.journey import services as participation
from surveys.journey import visitors
from surveys.journey.language import language_of, rest_of_address
from surveys.journey.pages import as_next_page, can_show_next_page, let_send_to, own_page, placeholder, shared_page
from surveys.journey.presentation import Presentation, presentation
from surveys.journey.services import Visit
from surveys.journey.steps import CONSENT, PARTICIPANTS_STEPS, WELCOME
from surveys.journey.visitors import Farewell, to_journey
from surveys.models import RUNNING, Participant, Study
from surveys.protocols import protocol_in_force, versions_that_recruited
from surveys.questions.entry import Entry
from surveys.questions.sections import SECTION
from surveys.recruitment.arrivals import Ended, WayBack, arrival_at, arrival_in, carried, to_bring, way_back
from surveys.recruitment.slowing import Wait, wait_before
from surveys.tokens import brought_by, hash_of_entry_code, mark_of, new_token


def newcomer(request: HttpRequest, study: Study, *, goes_on: Callable[[str, Participant], HttpResponse]) -> HttpResponse:
    """Welcome and consent: nothing is stored until somebody agrees, who then `goes_on`. A browser in which somebody took part says so
    first.
    """
    visit = visitors.visit_of(request, study)
    if visit is None and study.protocol_id and (farewell := visitors.farewell_of(request, study)):
        if request.method == "POST" and "whose" not in request.POST:
            return to_journey(study.slug, query=named_in(request.POST, study))
        return _show_farewell(request, study, farewell)
    if request.POST.get("step") in PARTICIPANTS_STEPS and study.status in RUNNING:
        raise ForgottenError
    protocol = participation.require_open(study, is_bot=visitors.is_bot(request, study))
    entry = protocol.definition.entry
    if visit is not None and (not _still_fits(visit, entry) or _comes_otherwise(request, visit, entry)):
        return _begin_anew(study, query=request.GET.urlencode() or visit.query)
    shown = presentation(protocol.id, language_of(request, study, visit))
    with translation.override(shown.spoken):
        if request.method != "POST":
            return _show_newcomer(request, study, shown, visit)
        if request.POST.get("step") == WELCOME:
            return _start(request, study, shown, visit)
        if visit is None or request.POST.get("step") != CONSENT:
            return to_journey(study.slug)
        visitors.require_own(request.POST, mark_of(visit.token))
        if request.POST.get("choice") == "decline":
            participation.decline(study, version=_version_read(request, study, shown), way=visit.way, is_bot=visit.is_bot)
            return _declined(request, study, shown, visit)
        if request.POST.get("choice") != "agree":
            return to_journey(study.slug)
        if request.POST.get("version", str(shown.version)) != str(shown.version):
            return _ask_again(request, shown, visit)
        participant = participation.enrol(study, visit=replace(visit, language=shown.language))
        response = goes_on(visit.token, participant)
        visitors.remember_participant(response, study.slug, visit.token)
        return response


def _ask_again(request: HttpRequest, shown: Presentation, visit: Visit) -> HttpResponse:
    """People who read another version of the text than the one now in force read this one first."""
    context = _consent_context(shown, None) | {"was_changed": True, "whose": mark_of(visit.token)}
    return own_page(request, shown=shown, step=CONSENT, context=context, status=409)


def named_in(sent: QueryDict, study: Study) -> str:
    """The address of somebody who pressed Start where another person began or finished meanwhile."""
    return urlencode(carried(sent, protocol_in_force(study).definition.entry)) if sent.get("step") == WELCOME else ""


def _version_read(request: HttpRequest, study: Study, shown: Presentation) -> int:
    """The version of the consent text on the page that was sent: an earlier one, if an amendment came into force meanwhile."""
    sent = request.POST.get("version", "")
    earlier = {} if sent == str(shown.version) else {str(version): version for version in versions_that_recruited(study)}
    return earlier.get(sent, shown.version)


def _still_fits(visit: Visit, entry: Entry) -> bool:
    """Whether the way by which somebody began is still there after an amendment, asks for no more than they brought, and is told by their
    token, by which they go back: of one way it tells nothing, which is too little beside others.
    """
    way = entry.named(visit.way or entry.every_way[0].name)
    if way is None or arrival_in(visit.token, entry) is None:
        return False
    return bool(visit.code or not way.way.takes_code) and bool(visit.panel_identifier or not way.way.is_panel)


def _comes_otherwise(request: HttpRequest, visit: Visit, entry: Entry) -> bool:
    """Whether the address names another person or way than the one who pressed Start in this browser, of whom nothing is stored yet."""
    named = urlencode(carried(request.GET, entry))
    return bool(named) and named != visit.query


def _begin_anew(study: Study, *, query: str) -> HttpResponse:
    response = to_journey(study.slug, query=query)
    visitors.forget(response, study.slug)
    return response


def _declined(request: HttpRequest, study: Study, shown: Presentation, visit: Visit) -> HttpResponse:
    """The way back to the panel, or to the first page with all that the address said."""
    arrival, entry = arrival_in(visit.token, shown.entry), shown.entry
    back = way_back(arrival, Ended.DECLINED, in_force=entry, study_id=study.pk, slug=study.slug, token=visit.token)
    way = shown.entry.named(visit.way)
    context = {"study": shown, "language": shown.language, "back": back, "query": visit.query, "from_panel": way and way.way.is_panel}
    response = render(request, "surveys/participant/declined.html", context)
    visitors.forget(response, study.slug)
    return as_next_page(response)  # at whichever address: nobody is told so a second time


def _show_farewell(request: HttpRequest, study: Study, farewell: Farewell) -> HttpResponse:
    shown = presentation(protocol_in_force(study).id, language_of(request, study, None))
    with translation.override(shown.spoken):
        context = {"study": shown, "language": shown.language, "farewell": farewell, "query": rest_of_address(request)}
        context |= {"other_debriefs": _other_debriefs(study, shown), "sent_in_vain": "whose" in request.POST}
        response = render(request, "surveys/participant/taken_part.html", context, status=409 if context["sent_in_vain"] else 200)
    let_send_to(response, WayBack(address=farewell.way_back, fields=farewell.fields))
    return response


def _other_debriefs(study: Study, shown: Presentation) -> list[tuple[int, str]]:
    """The texts of the end that other versions had, the newest first. The browser does not keep the version: it would tell the next person
    on this device when somebody took part.
    """
    found = {shown.debrief_html: shown.version}
    for version, protocol_id in sorted(versions_that_recruited(study).items(), reverse=True):
        found.setdefault(presentation(protocol_id, shown.language).debrief_html, version)
    return [(version, html) for html, version in found.items() if html != shown.debrief_html]


def _welcome_context(shown: Presentation, from_address: tuple[bool, Sequence[str]]) -> dict[str, object]:
    takes_code, names = from_address
    return {"entry_fields": [(name, placeholder(name.lower())) for name in names], "code_value": "", "takes_code": takes_code}


def _consent_context(shown: Presentation, variant: None) -> dict[str, object]:
    return {"consent_html": shown.consent_html, "consent_version": shown.version}


def _show_newcomer(request: HttpRequest, study: Study, shown: Presentation, visit: Visit | None) -> HttpResponse:
    step, variant, personal = CONSENT, None, dict[str, str]()
    if visit is None:
        arrival = arrival_at(request.GET, shown.entry, study_id=study.pk)
        found = carried(request.GET, shown.entry) | {SECTION: section_in(request.GET, shown)}
        entry_fields = {name: value for name, value in found.items() if value}
        step, variant = WELCOME, (arrival.way.way.takes_code, tuple(entry_fields))
        personal = {name.lower(): value for name, value in entry_fields.items()}
    else:
        personal = {"whose": mark_of(visit.token)}
    if rest := rest_of_address(request):
        personal["query"] = rest
    return shared_page(
        request,
        protocol_id=protocol_in_force(study).id,
        language=shown.language,
        step=step,
        shared=_consent_context if visit else _welcome_context,
        variant=variant,
        personal=personal,
    )


def section_in(sent: Mapping[str, str], shown: Presentation) -> str:
    """The section that an address or a form names, if this study assigns sections as a whole."""
    if not shown.sections or not (named := sent.get(SECTION, "")):
        return ""
    if named not in shown.sections:
        raise SectionUnknownError
    return named


def _start(request: HttpRequest, study: Study, shown: Presentation, before: Visit | None) -> HttpResponse:
    """Somebody who pressed Start `before`, and brings the same again, is the same person."""
    language = request.POST.get("language", shown.language)
    arrival = arrival_at(request.POST, shown.entry, study_id=study.pk)
    takes_code, code = arrival.way.way.takes_code, request.POST.get("code", "").strip()[:128]
    brings = replace(arrival, code_hash=hash_of_entry_code(code, study.slug)) if takes_code else arrival
    brought = to_bring(brings, shown.entry)
    visit = Visit(
        token=before.token if before and brought_by(before.token) == brought else new_token(brought),
        language=language if language in dict(shown.languages) else shown.language,
        code=code,
        way=arrival.way.name,
        panel_identifier=arrival.identifier,
        query=urlencode(carried(request.POST, shown.entry)),
        section=section_in(request.POST, shown),
        is_bot=visitors.is_bot(request, study),
    )
    if takes_code and not visit.code:
        errors = [{"field": "code", "message": translation.gettext("Enter your code.")}]
        context = {"entry_fields": _kept(visit), "takes_code": True, "code_value": "", "errors": errors}
        return own_page(request, shown=shown, step=WELCOME, context=context, status=422)
    protocol = participation.require_open(study, is_bot=visit.is_bot)
    if takes_code and (wait := wait_before(study.pk, study.slug, code=visit.code, ticket=request.POST.get("ticket", ""))):
        return _wait_first(request, shown, visit=visit, wait=wait)
    participation.require_entry(study, protocol, way=arrival.way, visit=visit)
    response = _consent_page(request, study, protocol.id, visit) if can_show_next_page(request) else to_journey(study.slug)
    visitors.remember_visit(response, study, visit)
    return response


def _consent_page(request: HttpRequest, study: Study, protocol_id: int, visit: Visit) -> HttpResponse:
    shown = presentation(protocol_id, language_of(request, study, visit))
    with translation.override(shown.spoken):
        return as_next_page(_show_newcomer(request, study, shown, visit))


def _kept(visit: Visit) -> list[tuple[str, str]]:
    """The part of the address that a page which comes back keeps."""
    return [*parse_qsl(visit.query), *([(SECTION, visit.section)] if visit.section else [])]


def _wait_first(request: HttpRequest, shown: Presentation, *, visit: Visit, wait: Wait) -> HttpResponse:
    """The page again, with the code kept, after many wrong codes were tried at this study."""
    said = translation.ngettext(
        "Many wrong codes were tried in the last minute. Wait %(seconds)d second, then press Start again. Your code stays good.",
        "Many wrong codes were tried in the last minute. Wait %(seconds)d seconds, then press Start again. Your code stays good.",
        wait.seconds,
    ) % {"seconds": wait.seconds}
    fields = [("ticket", wait.ticket), *_kept(visit)]
    context = {"entry_fields": fields, "takes_code": True, "code_value": visit.code, "errors": [{"field": "code", "message": said}]}
    response = own_page(request, shown=shown, step=WELCOME, context=context, status=429)
    response["Retry-After"] = str(wait.seconds)
    return response
