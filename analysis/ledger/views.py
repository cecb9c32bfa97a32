"""The page of the ledger."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis.ledger.forms import AnnouncedForm, FreezeForm, UnfreezeForm
from analysis.ledger.page import USUAL_QUESTIONS, ledger_of
from analysis.ledger.services import freeze, unfreeze
from analysis.sources.places import place_at
from analysis.sources.services import make_again
from surveys.access import NO_STUDY


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def ledger(request: HttpRequest, /, **where: str) -> HttpResponse:
    """The charges and the rest of the budget. Officers freeze the budget; who runs the study has a table that failed made again."""
    user = user_of(request)
    place = place_at(user, where, needs="may_read_ledger")
    seat, source = place.seat, place.source
    freezing = FreezeForm(request.POST if request.POST.get("action") == "freeze" else None)
    unfreezing = UnfreezeForm(request.POST if request.POST.get("action") == "unfreeze" else None)
    if request.method == "POST":
        action = request.POST.get("action")
        if source is None or not (seat.may_change if action == "make-again" else seat.may_review):
            raise Http404(NO_STUDY)
        match action:
            case "freeze" if freezing.is_valid():
                freeze(source, reason=freezing.cleaned_data["reason"], actor=user)
                messages.success(request, gettext("The budget is frozen: nothing more can be spent."))
                return redirect(request.path)
            case "unfreeze" if unfreezing.is_valid():
                unfreeze(source, actor=user, changes=unfreezing.cleaned_data["changes"])
                messages.success(request, gettext("The budget can be spent again."))
                return redirect(request.path)
            case "make-again":
                make_again(source, actor=user)
                return redirect(request.path)
    announced = AnnouncedForm(request.GET if "questions" in request.GET else None)
    questions = announced.cleaned_data["questions"] if announced.is_bound and announced.is_valid() else USUAL_QUESTIONS
    errors = [{"field": name, "message": found[0]} for form in (freezing, unfreezing, announced) for name, found in form.errors.items()]
    context = place.context | {
        "ledger": ledger_of(source, questions=questions) if source else None,
        "announced": announced,
        "freezing": freezing,
        "errors": errors,
    }
    return render(request, "analysis/learning/ledger.html", context, status=422 if errors else 200)
