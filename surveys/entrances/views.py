"""The pages of the people who invite: ways in with their numbers, a poster, letters. And the page where a class types its join code."""

from http import HTTPStatus
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from surveys.access import access_own_study
from surveys.classroom.selectors import room_of_today
from surveys.drafting.markdown import sanitised_html
from surveys.entrances.selectors import entrance_named, entrances_of, study_with_join_code
from surveys.errors import SurveyError
from surveys.journey.language import in_every_language
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.media.language_files import code_to_speak, names_of_languages
from surveys.questions.sections import SECTION
from surveys.recruitment.made_codes import MOST, qr_svg
from surveys.recruitment.selectors import definition_shown, join_code_of, media_shown
from surveys.recruitment.services import renew_join_code
from surveys.ways_in import JOIN


@in_every_language
@never_cache
@require_safe
def join(request: HttpRequest) -> HttpResponse:
    """A class types its code, which leads to a study, or to the room of a demonstration."""
    code, errors, status = request.GET.get("code", "").strip()[:40], [], HTTPStatus.OK
    if code:
        if found := study_with_join_code(code):
            slug, stored = found
            return redirect(f"{reverse('surveys:journey', args=[slug])}?{urlencode({JOIN: stored})}")
        try:
            return redirect("surveys:class_room", code=room_of_today(code).code)
        except Http404:
            message = _("No study and no room has this code today. Look at it again, or ask your lecturer for the newest one.")
            errors, status = [{"field": "code", "message": message}], HTTPStatus.NOT_FOUND
    elif "code" in request.GET:
        errors, status = [{"field": "code", "message": _("Enter your code.")}], HTTPStatus.UNPROCESSABLE_ENTITY
    context = {"language": get_language(), "languages": list(LANGUAGE_NAMES.items()), "code": code, "errors": errors}
    return render(request, "surveys/participant/join.html", context, status=status)


@in_own_language
@require_role(*Role)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ways_in(request: HttpRequest, slug: str) -> HttpResponse:
    """Each way in with its address, join code and numbers; a button makes another join code."""
    user = user_of(request)
    study = access_own_study(user, slug).study
    if request.method == "POST":
        way = request.POST.get("renew", "")
        before = join_code_of(study, way)
        try:
            code = renew_join_code(study, way=way, actor=user)
        except SurveyError as error:
            messages.error(request, str(error))
        else:
            renewed = _("The new join code is %(code)s. The one before opens nothing any more.")
            messages.success(request, (renewed if before else _("The join code is %(code)s.")) % {"code": code})
        return redirect("surveys:ways_in", study.slug)
    context = {
        "study": study,
        "entrances": entrances_of(study, absolute=request.build_absolute_uri),
        "join_address": request.build_absolute_uri(reverse("surveys:join")),
        "takes_codes": any(way.way.takes_code for way in definition_shown(study).entry.every_way),
    }
    return render(request, "surveys/entrances/ways_in.html", context)


@in_own_language
@require_role(*Role)
@never_cache
@require_safe
def poster(request: HttpRequest, slug: str) -> HttpResponse:
    """A sheet of A4 to hang up, in one of the study's languages. With the number of a section, that of its people."""
    study = access_own_study(user_of(request), slug).study
    definition = definition_shown(study)
    media = media_shown(study, definition)
    asked = request.GET.get("language", "")
    language = asked if asked in definition.languages else definition.languages[0]
    section = request.GET.get(SECTION, "")
    entrance = entrance_named(study, request.GET.get("way", ""), absolute=request.build_absolute_uri, section=section)
    shown = entrance if entrance and entrance.address else None
    contact = definition.contact if isinstance(definition.contact, str) else definition.contact.in_language(language)
    context = {
        "study": study,
        "entrance": shown,
        "section": section,
        "section_label": definition.sections.get(section, ""),
        "poster_language": language,
        "spoken": code_to_speak(definition, media, language),
        "poster_languages": names_of_languages(definition, media),
        "title": definition.title.in_language(language),
        "summary_html": sanitised_html(definition.summary.in_language(language)),
        "contact": contact,
        "qr": qr_svg(shown.address) if shown else "",
        "address": shown.address if shown else "",
        "join_code": shown.join_code if shown else "",
        "join_address": request.build_absolute_uri(reverse("surveys:join")),
    }
    return render(request, "surveys/entrances/poster.html", context)


@in_own_language
@require_role(*Role)
@never_cache
@require_safe
def letters(request: HttpRequest, slug: str) -> HttpResponse:
    """A page whose script puts names and addresses together with fresh personal links. They stay in the browser: there is no form."""
    study = access_own_study(user_of(request), slug).study
    definition = definition_shown(study)
    context = {
        "study": study,
        "takes_codes": any(way.way.takes_code for way in definition.entry.every_way),
        "title": definition.title.in_language(definition.languages[0]),
        "most": MOST,
    }
    return render(request, "surveys/entrances/letters.html", context)
