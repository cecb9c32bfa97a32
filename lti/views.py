"""The door from a course: what platforms ask for, the page of a student who came through it, and the page on which credit is turned on."""

import re
import secrets
from collections.abc import Sequence
from typing import Literal
from urllib.parse import SplitResult, urlencode, urlsplit

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.shortcuts import get_list_or_404, get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import language_of_reader, require_role, user_of
from accounts.models import Role
from candor.written_numbers import number_in_digits
from lti.errors import LaunchError
from lti.models import Platform
from lti.selectors import (
    ASKED_SECONDS,
    STUDENT,
    STUDENT_SECONDS,
    asked_as,
    credit_numbers,
    given_up,
    last_student,
    opened,
    place_of,
    platforms_named,
    sealed,
    sealed_place,
    studies_with_credit,
)
from lti.services import send_again
from lti.standard.choice import answer_of
from lti.standard.keys import MOST_DAYS, USUAL_DAYS, public_keys, renew_key, shown_keys, withdraw_key
from lti.standard.messages import Launch, checked
from surveys.access import access_own_study, study_in_public
from surveys.credit.selectors import Place, credit_of, fingerprint, has_credit
from surveys.credit.services import change_credit, hand_in, hand_in_nothing
from surveys.errors import CreditError
from surveys.journey import visitors
from surveys.journey.language import asked_for, in_every_language
from surveys.journey.presentation import presentation
from surveys.models import Study
from surveys.protocols import protocol_in_force

CHOOSE_SECONDS = 60 * 60
HOST = re.compile(r"[A-Za-z0-9.:\[\]_-]+")
"""A host and its port: it stands in the rules that browsers keep, where a space or a semicolon would begin another one."""


@require_safe
@cache_control(public=True, max_age=300)
def keys(request: HttpRequest) -> JsonResponse:
    """Our public keys, for platforms."""
    return JsonResponse(public_keys())


@csrf_exempt  # a platform sends people here
@never_cache
@in_every_language
@require_http_methods(["GET", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """A platform says that somebody wants to open an activity; we ask it who that is. Inside a frame, a new window has to be opened first:
    browsers keep cookies from frames of other sites.
    """
    sent = request.POST if request.method == "POST" else request.GET
    platform, *others = platforms_named(sent.get("iss", ""), sent.get("client_id", ""), sent.get("lti_deployment_id", ""))
    if not (hint := sent.get("login_hint", "")):
        raise LaunchError(gettext("Expected a login hint from the course platform, found none."))
    target = _parts_of(sent.get("target_link_uri", ""))
    chooses = target is not None and target.path == reverse("lti:choose")
    if request.headers.get("Sec-Fetch-Dest") in ("iframe", "frame") and not chooses:
        # It holds one link, which anybody could set, so it stands in any frame, and names no course.
        return _framed(render(request, "lti/student/new_window.html", {"sent": urlencode(list(sent.items()))}), ["*"])
    state, nonce = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
    question = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": request.build_absolute_uri(reverse("lti:launch")),
        "state": state,
        "nonce": nonce,
        "login_hint": hint,
    }
    if message_hint := sent.get("lti_message_hint"):
        question["lti_message_hint"] = message_hint
    joint = "&" if urlsplit(platform.login_address).query else "?"
    response = HttpResponseRedirect(f"{platform.login_address}{joint}{urlencode(question)}")
    asked = sealed({"state": state, "nonce": nonce, "platform": platform.pk, "others": [one.pk for one in others]}, "asked")
    _set_for_launches(response, asked_as(state), asked, max_age=ASKED_SECONDS)
    return response


@csrf_exempt  # `state` does what the token does
@never_cache
@in_every_language
@require_http_methods(["GET", "POST"])
def launch(request: HttpRequest) -> HttpResponse:
    """The platform's answer: a student goes on to the study's page for them, a teacher chooses a study. Somebody who only came back to
    this address reads how to go on.
    """
    state = request.POST.get("state", "")
    asked = opened(request.COOKIES.get(asked_as(state), ""), "asked", seconds=ASKED_SECONDS)
    if asked is None or not constant_time_compare(asked["state"], state):
        raise LaunchError(gettext("This browser did not ask for this message. Allow cookies, and open the activity from your course."))
    if problem := request.POST.get("error"):
        raise LaunchError(gettext("The course platform refused: %(problem)s.") % {"problem": problem[:200]})
    platforms = get_list_or_404(Platform, pk__in=[asked["platform"], *asked.get("others", ())])
    found = checked(platforms, request.POST.get("id_token", ""), nonce=asked["nonce"])
    response = _choice(request, found) if found.chooses else _to_study(request, found)
    response.delete_cookie(asked_as(state), path=reverse("lti:launch"), samesite="None" if settings.SESSION_COOKIE_SECURE else "Lax")
    return response


def _to_study(request: HttpRequest, found: Launch) -> HttpResponse:
    study = Study.objects.filter(slug=found.study).first()
    if study is None or credit_of(study.pk) is None:
        raise LaunchError(gettext("Expected an activity with a study that gives credit, found %(found)s.") % {"found": found.study or "—"})
    response = visitors.see_other(reverse("lti:credit", args=[study.slug]))
    place = found.place if found.is_learner else Place(platform=found.platform.pk, issuer=found.platform.issuer, sub="")
    response.set_cookie(
        STUDENT,
        sealed_place(place, study),
        max_age=STUDENT_SECONDS,
        path=reverse("lti:credit", args=[study.slug]),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    if place.sub:
        _make_room(request, response, study, person=place.person(study))
    return response


def _make_room(request: HttpRequest, response: HttpResponse, study: Study, *, person: str) -> None:
    """Let the browser forget the journey of another student, who came to this study from a course before."""
    name = last_student(study)
    if request.COOKIES.get(name, person) != person:
        visitors.forget(response, study.slug)
    _set_for_launches(response, name, person, max_age=visitors.COOKIE_SECONDS)


def _set_for_launches(response: HttpResponse, name: str, value: str, *, max_age: int) -> None:
    """A cookie for launches alone. The platform's answer comes from its own page, so the cookie must come along from there."""
    secure = settings.SESSION_COOKIE_SECURE
    samesite: Literal["None", "Lax"] = "None" if secure else "Lax"
    response.set_cookie(name, value, max_age=max_age, path=reverse("lti:launch"), secure=secure, httponly=True, samesite=samesite)


def _choice(request: HttpRequest, found: Launch) -> HttpResponse:
    """For a teacher: in one of the languages of staff, not in those of students."""
    parts = _parts_of(found.return_address)
    if parts is None or parts.scheme not in ("http", "https") or not HOST.fullmatch(parts.netloc):
        raise LaunchError(gettext("Expected an address for the choice, found %(found)s.") % {"found": found.return_address or "—"})
    ticket = sealed({"platform": found.platform.pk, "address": found.return_address, "data": found.data}, "choice")
    studies = sorted((study.title, study.slug) for study in studies_with_credit())
    with translation.override(language_of_reader(request)):
        page = render(request, "lti/choose.html", {"studies": studies, "ticket": ticket})
    return _framed(page, found.platform.origins)


@csrf_exempt  # the ticket does what the token does; a frame has no cookie of ours
@never_cache
@require_http_methods(["GET", "POST"])
def choose(request: HttpRequest) -> HttpResponse:
    """The study that a teacher chose, handed to the platform, signed, by a form that the teacher sends. Without it: how to go on."""
    asked = opened(request.POST.get("ticket", ""), "choice", seconds=CHOOSE_SECONDS)
    if asked is None:
        raise LaunchError(gettext("This page was open for too long. Choose the content in your course again."))
    platform = get_object_or_404(Platform, pk=asked["platform"])
    slug = request.POST.get("study", "")
    if (study := studies_with_credit().filter(slug=slug).first()) is None:
        raise LaunchError(gettext("Expected an activity with a study that gives credit, found %(found)s.") % {"found": slug[:100] or "—"})
    address = request.build_absolute_uri(reverse("lti:launch"))
    answer = answer_of(platform, study, address=address, data=asked["data"])
    context = {"title": study.title, "address": asked["address"], "answer": answer}
    to = urlsplit(asked["address"])
    return _framed(render(request, "lti/chosen.html", context), platform.origins, sends_to=[f"{to.scheme}://{to.netloc}"])


def _framed(response: HttpResponse, origins: Sequence[str], *, sends_to: Sequence[str] = ()) -> HttpResponse:
    """Let pages from these places show this one in theirs, and this one send its form there."""
    response.framed_by = " ".join(dict.fromkeys(origins))  # type: ignore[attr-defined]
    response.sends_to = " ".join(dict.fromkeys(sends_to))  # type: ignore[attr-defined]
    response.xframe_options_exempt = True
    return response


def _parts_of(address: str) -> SplitResult | None:
    """The parts of an address that came from outside; None for what is no address."""
    try:
        return urlsplit(address)
    except ValueError:
        return None


@csrf_exempt  # a mark of this student's own cookie does what the token does, without a cookie that journeys know, too
@never_cache
@in_every_language
@require_http_methods(["GET", "HEAD", "POST"])
def credit(request: HttpRequest, slug: str) -> HttpResponse:
    """The page of a student whom a course sent: to the study, and to hand in the credit for it. It cannot know their answers."""
    study = study_in_public(slug)
    place, given = place_of(request, study), credit_of(study.pk)
    if place is None or given is None:
        raise LaunchError(gettext("Open the activity in your course: this page needs to know who you are there."))
    mark = salted_hmac("lti.form", request.COOKIES[STUDENT], algorithm="sha256").hexdigest()
    errors, is_theirs = [], constant_time_compare(request.POST.get("mark", ""), mark)
    shown = presentation(protocol_in_force(study).id, asked_for(request, study))
    with translation.override(shown.spoken):
        if request.method == "POST":
            try:
                _take(request.POST, study, place, is_theirs=is_theirs)
            except CreditError as refused:
                if not has_credit(study, place):  # otherwise it was pressed twice, or the answer was lost
                    errors.append({"field": "credit", "message": str(refused)})
            if not errors:
                return visitors.see_other(reverse("lti:credit", args=[slug]))
        context = {
            "study": shown,
            "language": shown.language,
            "credit": given,
            "fingerprint": fingerprint(given.modulus),
            "place": place,
            "person": place.person(study) if place.sub else "",
            "has_credit": bool(place.sub) and has_credit(study, place),
            "mark": mark,
            "errors": errors,
            # A code that somebody else typed here, before this student came from the course, is not offered to this one.
            "handed_in": request.POST.get("credit", "") if is_theirs else "",
        }
        return render(request, "lti/student/credit.html", context, status=409 if errors else 200)


def _take(data: QueryDict, study: Study, place: Place, *, is_theirs: bool) -> None:
    if not is_theirs:
        raise CreditError(gettext("This page had been open for long. Send it again."))
    if data.get("action") == "without":
        hand_in_nothing(study, place)
    else:
        hand_in(study, place, handed_in=data.get("credit", "")[:2000])


@require_role(*Role)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def study_credit(request: HttpRequest, slug: str) -> HttpResponse:
    """Turn credit on or off, and read what a course platform is told."""
    user = user_of(request)
    study = access_own_study(user, slug).study
    if request.method == "POST":
        for_everybody = "for_everybody" in request.POST
        match request.POST.get("action"):
            case "again":
                batches = send_again(study, actor=user)
                said = gettext("The credit is being sent again.") if batches else gettext("There was nothing to send again.")
                messages.success(request, said)
            case "on":
                change_credit(study, is_on=True, for_everybody=for_everybody, actor=user)
                messages.success(request, gettext("This study gives credit."))
            case "off":
                change_credit(study, is_on=False, for_everybody=for_everybody, actor=user)
                messages.success(request, gettext("This study gives no credit any more."))
            case _:
                raise BadRequest
        return redirect("lti:study_credit", slug)
    context = {
        "study": study,
        "credit": credit_numbers(study),
        "failed": given_up(study),
        "addresses": {name: request.build_absolute_uri(reverse(f"lti:{name}")) for name in ("login", "launch", "keys", "choose")},
        "platforms": Platform.objects.all(),
    }
    return render(request, "lti/study_credit.html", context)


@require_role(Role.ADMINISTRATOR)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def platform_keys(request: HttpRequest) -> HttpResponse:
    """The keys by which platforms know this installation: make a new one, and withdraw earlier ones."""
    if request.method != "POST":
        return _keys_page(request)
    user, action, typed = user_of(request), request.POST.get("action", ""), request.POST.get("days", "").strip()
    if action == "withdraw":
        key = number_in_digits(request.POST.get("key", ""), most=18)
        if key is None or not withdraw_key(key, actor=user):
            raise Http404
        messages.success(request, gettext("The key is withdrawn."))
    elif action == "leaked":
        renew_key(days=0, actor=user)
        messages.success(request, gettext("A new key signs from now on. The earlier ones are withdrawn."))
    elif action != "renew":
        raise BadRequest
    elif 1 <= (days := number_in_digits(typed) or 0) <= MOST_DAYS:
        renew_key(days=days, actor=user)
        messages.success(request, gettext("A new key signs from now on. The earlier ones stay published for now."))
    else:
        found = {"most": MOST_DAYS, "found": typed[:20] or "—"}
        return _keys_page(request, error=gettext("Expected a whole number of days from 1 to %(most)s, found %(found)s.") % found)
    return redirect("lti:platform_keys")


def _keys_page(request: HttpRequest, *, error: str = "") -> HttpResponse:
    context = {
        "keys": shown_keys(),
        "days": request.POST.get("days", USUAL_DAYS),
        "most": MOST_DAYS,
        "errors": [{"field": "days", "message": error}] if error else [],
        "error": error,
    }
    return render(request, "lti/platform_keys.html", context, status=422 if error else 200)
