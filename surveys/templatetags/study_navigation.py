"""The pages of one study, as far as this person may open them, for the row of links under its title."""

from collections.abc import Callable
from dataclasses import dataclass

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from surveys.models import Study
from surveys.selectors import may_change, may_read_log, may_see_results

register = template.Library()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    route: str
    label: Promise
    open_to: Callable[[User, Study], bool]


def _everybody(user: User, study: Study) -> bool:
    return True


# In the order of a study's life. Analysis and surveys know each other's pages by name only.
PAGES = (
    Page(route="surveys:study", label=_("Overview"), open_to=_everybody),
    Page(route="surveys:build", label=_("Build"), open_to=may_change),
    Page(route="surveys:preview", label=_("Preview"), open_to=_everybody),
    Page(route="analysis:study_plan", label=_("Plan"), open_to=_everybody),
    Page(route="analysis:rehearsal", label=_("Rehearsal"), open_to=may_change),
    Page(route="surveys:protocol", label=_("Protocol"), open_to=_everybody),
    Page(route="surveys:review", label=_("Review"), open_to=_everybody),
    Page(route="surveys:codes", label=_("Codes"), open_to=may_change),
    Page(route="analysis:results", label=_("Results"), open_to=may_see_results),
    Page(route="analysis:releases", label=_("Release"), open_to=_everybody),
    Page(route="surveys:people", label=_("People"), open_to=may_see_results),
    Page(route="webhooks:webhooks", label=_("Webhooks"), open_to=may_change),
    Page(route="surveys:study_log", label=_("Log"), open_to=may_read_log),
)


@register.inclusion_tag("surveys/_study_navigation.html", takes_context=True)
def study_navigation(context: Context, study: Study) -> dict[str, object]:
    request = context["request"]
    here = request.resolver_match.url_name if request.resolver_match else ""
    passed = {may for may in {page.open_to for page in PAGES} if may(request.user, study)}  # each asks the database, so each once
    pages = [page for page in PAGES if page.open_to in passed]
    # The pages below a page are called after it, in whichever application, so the longest name that fits is where we are.
    names = {page.route.split(":")[1]: page.route for page in pages}
    current = names.get(max((name for name in names if here == name or here.startswith(f"{name}_")), key=len, default=""), "")
    return {
        "pages": [
            {"address": reverse(page.route, args=[study.slug]), "label": page.label, "current": page.route == current} for page in pages
        ]
    }
