"""The desk: a form, a preview with its cost and error, one button that spends, and the answers so far."""

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import ParseError

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role, User
from analysis.learning.exactly import exactly_at
from analysis.learning.questions.desk import lines, offer, true_yes, with_spending
from analysis.learning.questions.forms import DeskForm
from analysis.learning.questions.kinds import Statistic
from analysis.learning.spending.views import in_summary
from analysis.ledger.accounts import account_of
from analysis.ledger.errors import LedgerError, QuestionError
from analysis.ledger.page import cost_in_words
from analysis.ledger.selectors import budget_of, why_none
from analysis.ledger.services import ask
from analysis.models import Source
from analysis.sources.places import place_at
from analysis.sources.selectors import newest_snapshot, schema_of_snapshot
from surveys.models import Study
from surveys.protocols import protocol_in_force
from surveys.request_bodies import plain_json


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def questions(request: HttpRequest, /, **where: str) -> HttpResponse:
    """Ask about the students of a closed study or of a data set; the answers have noise, and cost a part of the budget."""
    user = user_of(request)
    place = place_at(user, where, needs="may_ask")
    source = place.source
    if source is None:
        return render(request, "analysis/learning/questions/desk.html", place.context)
    context: dict[str, object] = place.context | {"source": source, "obstacle": why_none(source), "errors": []}
    try:
        if request.method == "POST":
            return _spent(request, source, user, place.study)
    except (QuestionError, LedgerError) as error:
        context["errors"] = [in_summary(error)]
    if not context["obstacle"] and (snapshot := newest_snapshot(source)) is not None:
        form = DeskForm(schema_of_snapshot(source, snapshot.number), request.GET)
        context |= {"form": form, "n": snapshot.n}
        if "show" in request.GET and not context["errors"]:
            try:
                if (asked := form.read()) is not None:
                    shown = offer(source, with_spending(**asked, source=source))
                    cost = cost_in_words(shown.preview.loss)
                    context |= {"offer": shown, "document": json.dumps(shown.document), "cost": cost}
                context["errors"] = form.summary
            except (QuestionError, LedgerError) as error:
                context["errors"] = [in_summary(error, field=form.exactness if form.exactness == "error" else "kind")]
    account = account_of(budget_of(source))
    answered = lines(source)
    definition = protocol_in_force(place.study).definition if place.study else None
    inverted = [one for one in definition.questions if not one.is_background] if definition and not definition.in_sections else ()
    language = get_language() or "en"
    context |= {
        "account": account,
        "percent": 100 * account.share_spent,
        "lines": answered,
        "waits": any(line.asked.waits for line in answered),
        "exactly": exactly_at(place),
        "answers": [(f"answer.{one.name}", one.text.in_language(language)) for one in inverted],
    }
    return render(request, "analysis/learning/questions/desk.html", context, status=422 if context["errors"] else 200)


def _spent(request: HttpRequest, source: Source, user: User, study: Study | None) -> HttpResponse:
    """Ask what the preview showed, or about the die's inversion, which only studies have."""
    if study and (answer := request.POST.get("true_yes")):
        document = true_yes(study, answer)
    else:
        document = {"kind": Statistic.model_fields["kind"].default, "question": _typed(request.POST.get("document", ""))}
    asked = ask(source, document, actor=user)
    if asked.answer is not None:
        messages.info(request, gettext("This was asked before: the answer is the same, and cost nothing."))
    return redirect(f"{request.path}#question-{asked.charge.number}")


def _typed(text: str) -> dict[str, object]:
    try:
        document = plain_json(text.encode())
    except ParseError:
        document = None
    if not isinstance(document, dict):
        raise QuestionError(gettext("Expected a question, found something else. Look at its cost again."))
    return document
