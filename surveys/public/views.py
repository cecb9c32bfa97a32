"""Public pages about a study (its facts, consent, privacy, allocation), and lectures, which only their own arm may watch."""

from collections.abc import Callable
from math import ceil, exp
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from audit.selectors import published_heads
from audit.services import record
from surveys import actions
from surveys.access import studies_for_strangers, study_in_public
from surveys.allocation.selectors import allocation_document
from surveys.classroom.dice import die_of, loss_of
from surveys.credit.selectors import credit_of, fingerprint
from surveys.journey import visitors
from surveys.journey.language import asked_for, keeps_language, language_of, of_stranger, rest_of_address
from surveys.journey.presentation import presentation
from surveys.journey.steps import VIDEO, comes_before
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.lifecycle.selectors import approval_of
from surveys.media.views import media_response
from surveys.models import ENDED, AllocationList, StudyStatus
from surveys.preregistration.selectors import plans_of
from surveys.privacy.words import certainty, privacy_in_words
from surveys.protocols import frozen_protocol, protocol_in_force, versions_that_recruited
from surveys.retention.release_plans import promised_counts_at_most, release_plans
from surveys.retention.selectors import day_of_forgetting, months_kept

MINUTES = 5
# The page without a script shows the promise at these losses.
LOSSES = (0.1, 0.5, 1, 2, 4)


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
@vary_on_headers("Accept-Language")
def two_worlds(request: HttpRequest) -> HttpResponse:
    """Differential privacy as a game, the same for everybody: no session, no cookie."""
    return _in_every_language(
        request,
        "surveys/participant/two_worlds.html",
        lambda: {"rows": [{"epsilon": loss, "ratio": ceil(10 * exp(loss)) / 10, "right": certainty(loss)} for loss in LOSSES]},
    )


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
@vary_on_headers("Accept-Language")
def open_studies(request: HttpRequest) -> HttpResponse:
    """The studies that take people in now, and whose approved protocol says that strangers may find them here."""
    return _in_every_language(
        request,
        "surveys/participant/open_studies.html",
        lambda: {"studies": [presentation(protocol_in_force(study).id, asked_for(request, study)) for study in studies_for_strangers()]},
    )


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
@vary_on_headers("Accept-Language")
def privacy_for_strangers(request: HttpRequest) -> HttpResponse:
    """Is this really private? With the die of the home page, for people who are in no study."""
    return _in_every_language(
        request,
        "surveys/participant/privacy.html",
        lambda: {"for_strangers": True, "die": die_of(0), "privacy": privacy_in_words(loss_of(0), questions=1)[:1]},
    )


def _in_every_language(request: HttpRequest, template: str, context: Callable[[], dict[str, object]]) -> HttpResponse:
    """A page of no study: in the language that the address or the browser asks for, among all that there are."""
    language = of_stranger(request)
    with translation.override(language):
        return render(request, template, {"language": language, "languages": list(LANGUAGE_NAMES.items()), **context()})


@require_safe
@cache_control(no_store=True)
@keeps_language
def consent_copy(request: HttpRequest, slug: str) -> HttpResponse:
    """The consent text to keep: the version that this participant agreed to, or the one that is asked for, or that in force."""
    study = study_in_public(slug)
    _token, participant = visitors.participant_of(request, slug)
    versions, asked = versions_that_recruited(study), request.GET.get("version", "")
    if asked and asked not in map(str, versions):
        raise Http404("Nobody could agree to this version.")
    theirs = participant.protocol_id if participant else versions[max(versions)]
    shown = presentation(versions[int(asked)] if asked else theirs, language_of(request, study, participant))
    with translation.override(shown.spoken):
        context = {"study": shown, "language": shown.language, "consent_html": shown.consent_html, "consent_version": shown.version}
        context |= {"query": rest_of_address(request), "other_versions": sorted(set(versions) - {shown.version})}
        return render(request, "surveys/participant/consent_copy.html", context)


@require_safe
@cache_control(no_store=True)
@keeps_language
def privacy(request: HttpRequest, slug: str) -> HttpResponse:
    """Is this really private? With this study's own die and numbers; a participant sees the die of their own subsample."""
    study = study_in_public(slug)
    _token, participant = visitors.participant_of(request, slug)
    shown = presentation(protocol_in_force(study).id, language_of(request, study, participant))
    with translation.override(shown.spoken):
        context = {
            "study": shown,
            "language": shown.language,
            "die": shown.dice.get(participant.subsample) if participant else None,
            "questions": shown.questions,
            "epsilon_per_question": study.epsilon_per_question,
            "epsilon_total": study.epsilon_total,
            "privacy": privacy_in_words(study.epsilon_per_question, questions=len(shown.questions), total=study.epsilon_total),
        }
        return render(request, "surveys/participant/privacy.html", context)


@require_safe
@keeps_language
def allocation(request: HttpRequest, slug: str) -> HttpResponse:
    """The fingerprints of the allocation lists, and after closing the lists themselves."""
    study = study_in_public(slug)
    _token, participant = visitors.participant_of(request, slug)
    shown = presentation(protocol_in_force(study).id, language_of(request, study, participant))
    lists = [
        {
            "number": one.number,
            "sha256": one.sha256,
            "drawn_on": one.drawn_on,
            "url": reverse("surveys:allocation_list", args=[slug, one.number]),
        }
        for one in study.allocation_lists.filter(study__launched_on__isnull=False).order_by("number")
    ]
    context = {
        "is_survey": protocol_in_force(study).definition.is_survey,
        "study": shown,
        "language": shown.language,
        "launched_on": study.launched_on,
        "lists": lists,
        "list_published": study.status in ENDED,
    }
    with translation.override(shown.spoken):
        return render(request, "surveys/participant/allocation.html", context)


@require_safe
def allocation_list(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The very text whose SHA-256 was published at launch."""
    study = study_in_public(slug)
    found = AllocationList.objects.filter(study=study, number=number).first()
    if found is None or study.status not in ENDED or found.slots.count() < found.length:
        raise Http404  # a worker is still storing the rest
    if request.user.is_authenticated:
        record(actor=request.user, action=actions.ALLOCATION_FETCHED, subject=study, details={"list": number})
    response = HttpResponse(allocation_document(found), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="allocation-{number}.json"'
    return response


@require_safe
def media(request: HttpRequest, slug: str, media_id: UUID) -> HttpResponseBase:
    """A file of the participant's own arm. For everybody else, and for every other arm, this address has no file."""
    _token, participant = visitors.participant_of(request, slug)
    if participant is None or not participant.arm or comes_before(participant.step, VIDEO):
        raise Http404
    protocol = frozen_protocol(participant.protocol_id)
    own = {name: protocol.media[name] for name in protocol.definition.arm(participant.arm).files()}
    return media_response(request, own, study_id=participant.study_id, media_id=media_id)


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
def log_heads(request: HttpRequest) -> HttpResponse:
    """The end of the audit log on each day. A copy that is kept elsewhere shows later whether the log was written anew or cut."""
    document = {
        "about": (
            "The hash of the audit log's last entry, once a day. Keep a copy: `manage.py verify_audit_log --heads FILE` says whether the "
            "log, or an exported file of it, still leads to each of them."
        ),
        "heads": published_heads(),
    }
    return JsonResponse(document, json_dumps_params={"indent": 1})


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
@vary_on_headers("Accept-Language")
def about_study(request: HttpRequest, slug: str) -> HttpResponse:
    """The approval and its end, stored data and their deletion, access, withdrawal, publication, contact.

    It is the same for everybody: no session, no cookie, so it may be cached.
    """
    study = study_in_public(slug)
    shown = presentation(protocol_in_force(study).id, asked_for(request, study))
    definition = protocol_in_force(study).definition
    approval = approval_of(study)
    context = {
        "study": shown,
        "language": shown.language,
        "approved_on": approval.decided_on if approval else None,
        "approved_until": study.approved_until,
        "approval_ended": study.approved_until is not None and study.approved_until < timezone.localdate() and study.status not in ENDED,
        "is_suspended": study.suspended,
        "sha256": study.protocol.sha256 if study.protocol else "",
        "plans": plans_of(study),
        "launched_on": study.launched_on,
        "closed_on": study.closed_on,
        "is_recruiting": study.status == StudyStatus.RECRUITING,
        "has_ended": study.status in ENDED,
        "has_background": bool(definition.background) or definition.in_sections,
        "has_lecture": "video" in definition.stimuli,
        "plays": definition.plays,
        "outside": definition.outside,
        "lectures_from": settings.MEDIA_BUCKET.seen_by if settings.MEDIA_BUCKET and definition.plays else "",
        "shows_lectures": definition.shows_lectures,
        "is_survey": definition.is_survey,
        "asks_for_words": definition.asks_for_words,
        "has_quiz": bool(definition.quiz),
        "credit_key": fingerprint(given.modulus) if (given := credit_of(study.pk)) else "",
        "months": months_kept(study),
        "forgotten_on": study.forgotten_on,
        "forgets_on": day_of_forgetting(study),
        "data_published": study.data_published,
        "published_data_url": reverse("analysis:public_study_releases", args=[slug]) if study.data_published else "",
        "counts_at_most": promised_counts_at_most(study),
        "release_plans": release_plans(study, language=shown.language),
    }
    with translation.override(shown.spoken):
        return render(request, "surveys/participant/about_study.html", context)
