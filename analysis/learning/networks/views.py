"""The page on networks: what can be released about who learns with whom, what it costs, what was released, and what is not offered."""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis.learning.networks.forms import NetworkForm
from analysis.learning.networks.questions import NetworkQuestion, circles_of
from analysis.learning.networks.words import cell_in_words
from analysis.ledger.errors import LedgerError, QuestionError
from analysis.ledger.questions import read_question
from analysis.ledger.selectors import Asked, Preview, asked_before, budget_of, preview, table_now
from analysis.ledger.services import ask
from analysis.models import Source
from analysis.releases.selectors import not_covered
from analysis.sources.selectors import schema_of_snapshot, source_of
from analysis.sources.tables import Schema
from surveys.access import NO_STUDY, access_analytics


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A question before it is asked, with the error that its answer will have."""

    preview: Preview
    sentence: str
    half_width: float
    is_noise: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A question that was asked, and its answer."""

    asked: Asked
    sentence: str

    @property
    def cells(self) -> list[dict[str, object]]:
        """The groups with their numbers; none for a mean."""
        found = self.asked.answer.get("cells", []) if self.asked.answer else []
        return [{**cell, "name": cell_in_words(cell["name"])} for cell in found]


@never_cache
@require_role(*Role)
@in_own_language
@require_http_methods(["GET", "HEAD", "POST"])
def networks(request: HttpRequest, slug: str) -> HttpResponse:
    """POST shows what the question would cost; with `spend`, it is asked."""
    user = user_of(request)
    seat = access_analytics(user, slug)
    source = source_of(seat.study)
    context: dict[str, object] = {"study": seat.study, "seat": seat}
    if request.method == "POST" and not (seat.may_ask and source):
        raise Http404(NO_STUDY)
    if source is None:
        return render(request, "analysis/learning/networks.html", context)
    released = _released(source) if seat.may_ask or seat.may_read_ledger else []
    context |= {
        "has_budget": True,
        "exactly": not_covered(seat.study),
        "released": released,
        "waits": any(one.asked.waits for one in released),
    }
    try:
        _number, schema, n = table_now(source)
    except LedgerError as error:
        return render(request, "analysis/learning/networks.html", context | {"obstacle": str(error)})
    form = NetworkForm(request.POST if request.method == "POST" else None, schema=schema)
    context |= {"asks_about_friends": bool(circles_of(schema)), "form": form}
    errors = []
    if form.is_bound and form.is_valid():
        try:
            if "spend" in request.POST:
                ask(source, form.document(), actor=user)
                return redirect(request.path)
            context["offer"] = _offer(source, form, schema, n)
        except (QuestionError, LedgerError) as error:
            errors = [{"field": "amount", "message": str(error)}]
    errors += [{"field": name, "message": f"{form.fields[name].label}: {found[0]}"} for name, found in form.errors.items()]
    return render(request, "analysis/learning/networks.html", context | {"errors": errors}, status=422 if errors else 200)


def _offer(source: Source, form: NetworkForm, schema: Schema, n: int) -> Offer:
    shown = preview(source, form.document())
    question = shown.question
    assert isinstance(question, NetworkQuestion)
    half = question.half_width(schema)
    return Offer(preview=shown, sentence=question.sentence(schema), half_width=half, is_noise=half > question.expects(schema, n))


def _released(source: Source) -> list[Released]:
    """The questions about networks in the ledger, the newest first, in the words of the table that they were asked about."""
    found = []
    for asked in reversed(asked_before(budget_of(source))):
        if asked.charge.kind.startswith("network_"):
            schema = schema_of_snapshot(source, asked.charge.snapshot)
            found.append(Released(asked=asked, sentence=read_question(asked.charge.document).sentence(schema)))
    return found
