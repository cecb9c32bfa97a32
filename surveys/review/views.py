"""Pages of review: the protocol packet with its comments, the changes, and the state of a study's review."""

from collections.abc import Callable
from math import ceil

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from candor.written_numbers import number_in_digits
from surveys.access import Seat, access_study
from surveys.batches.selectors import consent_counts
from surveys.drafting.forms import typed_value
from surveys.errors import SurveyError
from surveys.journey.preview import frames_of, place_of, preview_media_address
from surveys.lifecycle.selectors import approval_of
from surveys.lifecycle.steps import amendment_waits, obstacles_to_recruiting
from surveys.models import SIGNED_PARTS, PacketSection, PrivacyLimit, Protocol, StudyStatus
from surveys.preregistration.selectors import plans_of
from surveys.privacy.limits import limit
from surveys.privacy.services import set_limit
from surveys.privacy.words import certainty
from surveys.protocols import ProtocolView, protocol_for
from surveys.retention.release_plans import plans_beside, promised_counts_at_most
from surveys.review import services as reviews
from surveys.review.checklist import CHECKLIST, reading_minutes
from surveys.review.decisions import decisions_of
from surveys.review.forms import DECISION_WORDS, PrivacyLimitForm
from surveys.review.packets import changes_since, packet_of
from surveys.review.selectors import last_reviewed_before, possible_reviewers, reviewer_of, signed_in, threads_of


@in_own_language
@require_role(Role.IRB_OFFICER)
@require_http_methods(["GET", "HEAD", "POST"])
def privacy_limit(request: HttpRequest) -> HttpResponse:
    """The total privacy loss above which an approval needs a reason, with its past."""
    form = PrivacyLimitForm(request.POST if request.method == "POST" else None, initial={"epsilon": typed_value(round(limit(), 2))})
    if request.method == "POST" and form.is_valid():
        try:
            set_limit(form.cleaned_data["epsilon"], actor=user_of(request))
            messages.success(request, gettext("Saved."))
            return redirect("surveys:privacy_limit")
        except ValidationError as error:
            form.add_error("epsilon", error)
    past = PrivacyLimit.objects.select_related("set_by").order_by("-pk")
    context = {
        "form": form,
        "limit": limit(),
        "certainty": certainty(limit()),
        "past": [(one, certainty(one.epsilon)) for one in past],
        "largest": settings.LARGEST_EPSILON,
        "largest_certainty": certainty(settings.LARGEST_EPSILON),
    }
    return render(request, "surveys/irb/privacy_limit.html", context, status=422 if form.errors else 200)


@require_role(*Role)
@require_safe
def protocol(request: HttpRequest, slug: str, version: int | None = None) -> HttpResponse:
    """The packet: the version that waits or is in force; for its authors, the draft."""
    seat = access_study(user_of(request), slug)
    study = seat.study
    found = _protocol(seat, version, draft=request.GET.get("draft") == "1")
    reviewed = last_reviewed_before(found)
    threads = threads_of(study)
    frozen = found.version if found.pk else None
    media_address = preview_media_address(slug, frozen)
    packet = packet_of(found, language=request.GET.get("language", ""), before=reviewed, media_address=media_address)
    signed = signed_in(found)
    view = ProtocolView(definition=packet.definition, media=found.media, version=found.version)
    place = place_of(request.GET, view.definition, slug, version=frozen)
    context = {
        "study": study,
        "packet": packet,
        "place": place,
        "frames": frames_of(packet.definition, place),
        "sections": [(section, threads[section.value], signed.by_part[section.value]) for section in PacketSection],
        "checklist": [(point, question, answers, signed.by_part[point.value]) for point, (question, answers) in CHECKLIST.items()],
        "signed": signed,
        "may_sign": seat.may_review and found.pk is not None and found.pk == study.submitted_id,
        "minutes": reading_minutes(packet.definition, packet.shown.language),
        "minutes_of_lectures": ceil(sum(page.shown.duration_seconds for arm in packet.arms for page in arm.pages) / 60),
        "lectures_from": settings.MEDIA_BUCKET.seen_by if settings.MEDIA_BUCKET else "",
        "second_reader": settings.SECOND_READER,
        "versions": study.protocols.values_list("version", flat=True),
        "reviewed": reviewed,
        "plans_that_hold": plans_beside(study, packet.definition.release_plan, language=packet.shown.language),
        "counts_at_most": promised_counts_at_most(study),
        "plan": next((plan for plan in plans_of(study) if plan.version == frozen), None),
        "may_comment": study.protocols.exists() and (seat.may_change or seat.may_review),
        "may_review": seat.may_review,
        "may_change": seat.may_change,
    }
    return render(request, "surveys/irb/protocol.html", context)


@require_role(*Role)
@require_safe
def changes(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    """The changes of this version against the last one that officers decided on, or against a requested one."""
    seat = access_study(user_of(request), slug)
    study, found = seat.study, _protocol(seat, version, draft=False)
    since = number_in_digits(request.GET.get("since", ""))
    older = last_reviewed_before(found) if since is None else _protocol(seat, since, draft=False)
    context = {
        "study": study,
        "protocol": found,
        "older": older,
        "versions": [number for number in study.protocols.values_list("version", flat=True) if number != found.version],
        "sections": changes_since(older, found) if older else [],
    }
    return render(request, "surveys/irb/changes.html", context)


@in_own_language
@require_role(*Role)
@require_safe
def review(request: HttpRequest, slug: str) -> HttpResponse:
    """The state of the review: possible decisions, past decisions with their reasons, open threads, consents by version."""
    user = user_of(request)
    seat = access_study(user, slug)
    study = seat.study
    running = (StudyStatus.APPROVED, StudyStatus.RECRUITING, StudyStatus.PAUSED)
    context = {
        "study": study,
        "is_amendment": amendment_waits(study) and study.status != StudyStatus.IN_REVIEW,
        "actions": {name: DECISION_WORDS[name] for name in decisions_of(seat)},
        "obstacles": obstacles_to_recruiting(study) if study.status in running else [],
        "approval": approval_of(study),
        "decisions": study.decisions.select_related("protocol", "decided_by", "acknowledged_by").order_by("-pk"),
        "threads": [thread for thread in threads_of(study).values() if thread.comments],
        "consents": consent_counts(study),
        "own_study": user.role == Role.IRB_OFFICER and not seat.may_review,
        "reviewed": last_reviewed_before(study.submitted) if study.submitted else None,
        "reviewer": reviewer_of(study),
        "sends_email": settings.EMAIL_IS_CONFIGURED,
        "possible_reviewers": possible_reviewers(study) if seat.may_review else [],
        "signed": signed_in(study.submitted),
    }
    return render(request, "surveys/irb/review.html", context)


@require_role(*Role)
@require_POST
def comment(request: HttpRequest, slug: str) -> HttpResponse:
    """A comment on a section, or the end of its thread."""
    user, section = user_of(request), request.POST.get("section", "")
    study = access_study(user, slug).study
    text, resolves = request.POST.get("text", "").replace("\r\n", "\n"), request.POST.get("resolves") == "1"
    read = {name: number_in_digits(request.POST.get(name, "")) for name in ("read", "version")}
    _attempt(request, lambda: reviews.comment(study, actor=user, section=section, text=text, resolves=resolves, **read))
    return redirect(reverse("surveys:protocol", args=[slug]) + _anchor(section))


@require_role(*Role)
@require_POST
def sign(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    """A signature under one part of the version that waits for a decision, or the end of a signature."""
    user, part = user_of(request), request.POST.get("part", "")
    study = access_study(user, slug).study
    signed = request.POST.get("signed") == "1"
    _attempt(request, lambda: reviews.sign(study, actor=user, part=part, version=version, signed=signed))
    return redirect(reverse("surveys:protocol_version", args=[slug, version]) + _anchor(part))


@in_own_language
@require_role(*Role)
@require_POST
def assign(request: HttpRequest, slug: str) -> HttpResponse:
    """The officer to whom the review is assigned, chosen by any officer who may review the study."""
    user = user_of(request)
    study = access_study(user, slug).study
    _attempt(request, lambda: reviews.assign(study, actor=user, reviewer=request.POST.get("reviewer", "")))
    return redirect("surveys:review", slug)


def _attempt(request: HttpRequest, act: Callable[[], object]) -> None:
    """Act, and tell on the next page that it is done or why it is not."""
    try:
        act()
        messages.success(request, gettext("Saved."))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    except SurveyError as error:
        messages.error(request, str(error))


def _anchor(part: str) -> str:
    return f"#{part}" if part in SIGNED_PARTS else ""


def _protocol(seat: Seat, version: int | None, *, draft: bool) -> Protocol:
    found = protocol_for(seat, version=version, draft=draft)
    if found is None:
        raise Http404("There is no such version of the protocol.")
    return found
