"""The pages of one study that this person may open, for the row of links under its title."""

from dataclasses import dataclass

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from surveys.access import Seat
from surveys.models import ENDED, Study
from surveys.protocols import frozen_protocol

register = template.Library()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    route: str
    label: Promise
    needs: str = "may_see_study"
    """The permission of a `Seat` without which the page stays closed; the page of the privacy budget has a rule of its own."""


# In the order of a study's life. Analysis and surveys know each other's pages by name only.
PAGES = (
    Page(route="surveys:study", label=_("Overview")),
    Page(route="surveys:build", label=_("Build"), needs="may_change"),
    Page(route="surveys:preview", label=_("Preview")),
    Page(route="analysis:study_plan", label=_("Plan")),
    Page(route="analysis:diagnosis", label=_("Diagnosis"), needs="may_change"),
    Page(route="analysis:rehearsal", label=_("Rehearsal"), needs="may_change"),
    Page(route="surveys:protocol", label=_("Protocol")),
    Page(route="surveys:review", label=_("Review")),
    Page(route="surveys:codes", label=_("Codes"), needs="may_change"),
    Page(route="analysis:results", label=_("Results"), needs="may_see_results"),
    Page(route="analysis:analytics", label=_("Analytics"), needs=""),
    Page(route="analysis:releases", label=_("Release")),
    Page(route="surveys:people", label=_("People"), needs="may_see_results"),
    Page(route="webhooks:webhooks", label=_("Webhooks"), needs="may_change"),
    Page(route="surveys:study_log", label=_("Log"), needs="may_read_log"),
)


@register.inclusion_tag("surveys/_study_navigation.html", takes_context=True)
def study_navigation(context: Context, study: Study) -> dict[str, object]:
    request = context["request"]
    here = request.resolver_match.url_name if request.resolver_match else ""
    seat = Seat(request.user, study)
    pages = [page for page in PAGES if (getattr(seat, page.needs) if page.needs else _analytics_are_shown(seat))]
    # The pages below a page are called after it, in whichever application, so the longest name that fits is where we are.
    names = {page.route.split(":")[1]: page.route for page in pages}
    current = names.get(max((name for name in names if here == name or here.startswith(f"{name}_")), key=len, default=""), "")
    home = "surveys:study" if seat.may_see_study else "analysis:analytics"
    return {
        "study": study,
        "home": reverse(home, args=[study.slug]),
        "pages": [
            {"address": reverse(page.route, args=[study.slug]), "label": page.label, "current": page.route == current} for page in pages
        ],
    }


def _analytics_are_shown(seat: Seat) -> bool:
    """To analysts always, who have no other page; to others once the study is closed, if it has a privacy budget."""
    if not seat.may_see_study:
        return True
    study = seat.study
    return (
        study.status in ENDED and study.protocol_id is not None and frozen_protocol(study.protocol_id).definition.privacy_budget is not None
    )
