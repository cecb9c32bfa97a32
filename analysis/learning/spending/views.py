"""A form whose question costs privacy: GET shows the cost, and POST asks what was shown."""

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render

from accounts.access import user_of
from analysis.learning.spending.forms import AtOneLossForm
from analysis.ledger.errors import LedgerError, QuestionError
from analysis.ledger.services import ask
from analysis.models import Source
from surveys.errors import SurveyError


def sent_in(request: HttpRequest, *, may_ask: bool) -> QueryDict | None:
    """The fields of such a form. The cost tells what is left, so whoever may not ask sends none."""
    sent = request.POST if request.method == "POST" else request.GET
    return sent if sent and may_ask else None


def offered_or_spent(
    request: HttpRequest,
    template: str,
    context: Mapping[str, object],
    *,
    form: AtOneLossForm,
    source: Source,
    offer: Callable[[Source, Mapping[str, object]], object],
) -> HttpResponse:
    """The page with its form: with the offer, or with what is wrong; after POST the way to the answer."""
    shown, errors = dict(context), []
    if form.is_bound and form.is_valid():
        try:
            if request.method == "POST":
                ask(source, form.document(), actor=user_of(request))
                return redirect(request.path)
            shown["offer"] = offer(source, form.document())
        except (QuestionError, LedgerError) as error:
            errors = [in_summary(error, field="amount")]
    errors += [{"field": name, "message": f"{form.fields[name].label}: {found[0]}"} for name, found in form.errors.items()]
    return render(request, template, shown | {"form": form, "errors": errors}, status=422 if errors else 200)


def in_summary(error: SurveyError, *, field: str = "") -> dict[str, str]:
    """For the summary above the page. The library speaks English."""
    return {"field": field, "message": str(error), "language": getattr(error, "language", "")}
