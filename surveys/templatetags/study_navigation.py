"""The way through one study: its phases, each with the pages that this person may open, and what belongs to no phase."""

from dataclasses import dataclass

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from surveys.access import Seat
from surveys.models import ENDED, Study, StudyStatus
from surveys.protocols import frozen_protocol

register = template.Library()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    route: str
    label: Promise
    needs: str = "may_see_study"
    """The permission of a `Seat` without which the page stays closed; the page of the privacy budget has a rule of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    label: Promise
    statuses: tuple[StudyStatus, ...]
    """Where a study's life is while it is in one of these; publishing has none of its own, for it can be done whenever a study is over."""
    pages: tuple[Page, ...]


OVERVIEW = Page(route="surveys:study", label=_("Overview"))
# In the order of a study's life. Analysis and surveys know each other's pages by name only.
PHASES = (
    Phase(
        label=_("Design"),
        statuses=(StudyStatus.DRAFT,),
        pages=(
            Page(route="surveys:build", label=_("Build"), needs="may_change"),
            Page(route="surveys:preview", label=_("Preview")),
            Page(route="analysis:study_plan", label=_("Plan")),
            Page(route="analysis:diagnosis", label=_("Diagnosis"), needs="may_change"),
            Page(route="analysis:rehearsal", label=_("Rehearsal"), needs="may_change"),
        ),
    ),
    Phase(
        label=_("Review"),
        statuses=(StudyStatus.IN_REVIEW,),
        pages=(
            Page(route="surveys:protocol", label=_("Protocol")),
            Page(route="surveys:review", label=_("Decisions")),
        ),
    ),
    Phase(
        label=_("Run"),
        statuses=(StudyStatus.APPROVED, StudyStatus.RECRUITING, StudyStatus.PAUSED),
        pages=(
            Page(route="surveys:ways_in", label=_("Ways in"), needs="may_change"),
            Page(route="surveys:arms", label=_("Arms"), needs="may_change"),
            Page(route="surveys:codes", label=_("Codes"), needs="may_change"),
            Page(route="lti:study_credit", label=_("Credit"), needs="may_change"),
        ),
    ),
    Phase(
        label=_("Results"),
        statuses=(StudyStatus.CLOSED, StudyStatus.ARCHIVED),
        pages=(
            Page(route="analysis:results", label=_("Results"), needs="may_see_results"),
            Page(route="analysis:analytics", label=_("Analytics"), needs=""),
        ),
    ),
    Phase(
        label=_("Publish"),
        statuses=(),
        pages=(
            Page(route="analysis:releases", label=_("Release")),
            Page(route="analysis:records", label=_("Records"), needs="may_change"),
        ),
    ),
)
ALWAYS = (
    Page(route="surveys:people", label=_("People"), needs="may_see_results"),
    Page(route="webhooks:webhooks", label=_("Webhooks"), needs="may_change"),
    Page(route="surveys:study_log", label=_("Log"), needs="may_read_log"),
)


@register.inclusion_tag("surveys/_study_navigation.html", takes_context=True)
def study_navigation(context: Context, study: Study) -> dict[str, object]:
    """The phase that is open is that of the page that one is on, or, on pages of none, the one in which the study's life is."""
    request = context["request"]
    here = request.resolver_match.url_name if request.resolver_match else ""
    seat = Seat(request.user, study)
    shown = {phase: [page for page in phase.pages if _is_open(page, seat)] for phase in PHASES}
    pages = [page for page in (OVERVIEW, *(page for pages in shown.values() for page in pages), *ALWAYS) if _is_open(page, seat)]
    # The pages below a page are called after it, in whichever application, so the longest name that fits is where we are.
    names = {page.route.split(":")[1]: page.route for page in pages}
    current = names.get(max((name for name in names if here == name or here.startswith(f"{name}_")), key=len, default=""), "")
    now = next(phase for phase in PHASES if study.status in phase.statuses)
    opened = next((phase for phase in PHASES if any(page.route == current for page in phase.pages)), now)

    def link(page: Page) -> dict[str, object]:
        return {"address": reverse(page.route, args=[study.slug]), "label": page.label, "current": page.route == current}

    return {
        "study": study,
        "home": reverse("surveys:study" if seat.may_see_study else "analysis:analytics", args=[study.slug]),
        "overview": link(OVERVIEW) if seat.may_see_study else None,
        "phases": [
            {
                "label": phase.label,
                "address": link(own[0])["address"] if own else "",
                "is_over": PHASES.index(phase) < PHASES.index(now),
                "is_now": phase is now,
                "is_open": phase is opened,
            }
            for phase, own in shown.items()
        ],
        "pages": [link(page) for page in shown[opened]],
        "always": [link(page) for page in ALWAYS if _is_open(page, seat)],
    }


def _is_open(page: Page, seat: Seat) -> bool:
    return bool(getattr(seat, page.needs)) if page.needs else _analytics_are_shown(seat)


def _analytics_are_shown(seat: Seat) -> bool:
    """To analysts always, who have no other page; to others once the study is closed, if it has a privacy budget."""
    if not seat.may_see_study:
        return True
    study = seat.study
    return (
        study.status in ENDED and study.protocol_id is not None and frozen_protocol(study.protocol_id).definition.privacy_budget is not None
    )
