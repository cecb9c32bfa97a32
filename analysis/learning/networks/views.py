"""The page on networks: what can be released about who learns with whom, what it costs, what was released, and what is not offered."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis.learning.networks.forms import NetworkForm
from analysis.learning.networks.offers import offer, released_about
from analysis.learning.networks.questions import circles_of
from analysis.learning.spending.views import offered_or_spent, sent_in
from analysis.ledger.errors import LedgerError
from analysis.ledger.selectors import table_now
from analysis.releases.selectors import not_covered
from analysis.sources.selectors import source_of
from surveys.access import NO_STUDY, access_analytics


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def networks(request: HttpRequest, slug: str) -> HttpResponse:
    """GET with fields shows what the question would cost; POST asks it."""
    seat = access_analytics(user_of(request), slug)
    source = source_of(seat.study)
    context: dict[str, object] = {"study": seat.study, "seat": seat}
    if request.method == "POST" and not (seat.may_ask and source):
        raise Http404(NO_STUDY)
    if source is None:
        return render(request, "analysis/learning/networks.html", context)
    released = released_about(source) if seat.may_ask or seat.may_read_ledger else []
    context |= {
        "has_budget": True,
        "exactly": not_covered(seat),
        "released": released,
        "waits": any(one.asked.waits for one in released),
    }
    try:
        _number, schema, _n = table_now(source)
    except LedgerError as error:
        return render(request, "analysis/learning/networks.html", context | {"obstacle": str(error)})
    form = NetworkForm(sent_in(request, may_ask=seat.may_ask), schema=schema)
    context["asks_about_friends"] = bool(circles_of(schema))
    return offered_or_spent(request, "analysis/learning/networks.html", context, form=form, source=source, offer=offer)
