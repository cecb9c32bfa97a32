"""The pages of data sets: the list, bringing one, and one data set with its budget, its analysts and the officer's decision."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from analysis.data_sets import services
from analysis.data_sets.errors import DataSetError
from analysis.data_sets.forms import BringForm, BudgetForm, ReasonForm
from analysis.models import DataSetAnalyst, DataSetStatus
from analysis.sources.places import Place
from analysis.sources.seats import NO_DATA_SET, DataSetSeat, access_data_set, data_sets_of
from analysis.sources.selectors import newest_snapshot, schema_of_snapshot
from analysis.sources.tables import Role as ColumnRole
from surveys.access import OWNER_ROLES
from surveys.privacy.budgets import bought_by, budget_in_words, in_words
from surveys.questions.plans import PrivacyBudget
from surveys.reading.apart import NotReadError


@never_cache
@require_role(*Role)
@require_safe
def data_sets(request: HttpRequest) -> HttpResponse:
    """The data sets that this person may see."""
    user = user_of(request)
    context = {"data_sets": data_sets_of(user), "may_bring": user.role in OWNER_ROLES}
    return render(request, "analysis/data_sets/list.html", context)


@never_cache
@require_role(*OWNER_ROLES)
@require_http_methods(["GET", "HEAD", "POST"])
def bring(request: HttpRequest) -> HttpResponse:
    """A file, with the role of each of its columns. It is read in this request, and nothing of it waits anywhere."""
    form = BringForm(request.POST, request.FILES.get("file"))
    problems: list[str] = []
    if request.POST.get("action") == "bring" and (found := form.read()) is not None:
        try:
            made = services.bring(*found, title=form.value("title"), about=form.value("about"), actor=user_of(request))
            messages.success(request, _("The data set is here. Keys of students and texts were thrown away."))
            return redirect("analysis:data_set", made.slug)
        except NotReadError as error:
            problems = error.problems
    columns = form.columns
    errors = [{"field": "file", "message": problem} for problem in problems]
    errors += [{"field": field, "message": message} for field, message in form.errors.items()]
    context = {"form": form, "columns": columns, "errors": errors, "file_error": problems[0] if problems else form.errors.get("file", "")}
    is_part = bool(request.headers.get("HX-Request"))
    return render(request, "analysis/data_sets/bring.html", context, status=422 if errors and not is_part else 200)


@never_cache
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def data_set(request: HttpRequest, data_set: str) -> HttpResponse:
    """One data set: its columns, its budget and what that buys, its analysts, and the decision about them."""
    seat = access_data_set(user_of(request), data_set)
    errors: dict[str, str] = {}
    if request.method == "POST":
        act, needs = ACTIONS.get(request.POST.get("action", ""), (None, ""))
        if act is None or not getattr(seat, needs):
            raise Http404(NO_DATA_SET)
        try:
            if not (errors := act(request, seat)):
                return redirect("analysis:data_sets" if act is _leave else request.path)
        except DataSetError as error:
            errors = {"": str(error)}
    return render(request, "analysis/data_sets/data_set.html", _context(request, seat, errors), status=422 if errors else 200)


def _context(request: HttpRequest, seat: DataSetSeat, errors: dict[str, str]) -> dict[str, object]:
    found = access_data_set(seat.user, seat.data_set.slug).data_set
    place = Place(DataSetSeat(seat.user, found))
    snapshot = newest_snapshot(found.source)
    assert snapshot is not None
    n = snapshot.n or 0
    schema = schema_of_snapshot(found.source, snapshot.number)
    form = BudgetForm(request.POST if "epsilon" in request.POST else request.GET, n=n)
    budget = form.budget
    if found.epsilon is not None and found.delta is not None:
        budget = PrivacyBudget(epsilon=found.epsilon, delta=found.delta)
    analysts = DataSetAnalyst.objects.filter(data_set=found).select_related("user")
    return place.context | {
        "n": n,
        "columns": schema.columns,
        "cap": schema.cap,
        "has_quiz": bool(schema.with_role(ColumnRole.QUIZ)),
        "has_topics": bool(schema.with_role(ColumnRole.TOPIC)),
        "form": form,
        "budget": budget,
        "buys": [in_words(one) for one in bought_by(budget, people=n)] if budget else [],
        "meaning": budget_in_words(budget) if budget else [],
        "analysts": analysts,
        "waiting_analysts": [one for one in analysts if one.approved_on is None],
        "is_draft": found.status == DataSetStatus.DRAFT and found.forgotten_on is None,
        "is_waiting": found.status == DataSetStatus.WAITING and found.forgotten_on is None,
        "is_approved": found.status == DataSetStatus.APPROVED,
        "error_of": errors,
        "errors": [{"field": field, "message": message} for field, message in errors.items()],
    }


def _submit(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    form = BudgetForm(request.POST, n=services.students_of(seat.data_set))
    if form.budget is not None:
        services.submit(seat.data_set, budget=form.budget, actor=seat.user)
        messages.success(request, _("An IRB officer has been asked."))
    return form.errors


def _approve(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    try:
        budget = float(request.POST.get("epsilon", "")), float(request.POST.get("delta", ""))
    except ValueError:
        raise DataSetError(_("The budget was changed meanwhile. Look at it again.")) from None
    services.approve(seat.data_set, budget=budget, analysts=_people(request), actor=seat.user)
    messages.success(request, _("The data set is approved."))
    return {}


def _send_back(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return {name: str(found[0]) for name, found in form.errors.items()}
    services.send_back(seat.data_set, reason=form.cleaned_data["reason"], actor=seat.user)
    return {}


def _name_analyst(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    try:
        services.name_analyst(seat.data_set, username=request.POST.get("username", ""), actor=seat.user)
    except DataSetError as error:
        return {"username": str(error)}
    return {}


def _approve_analysts(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    services.approve_analysts(seat.data_set, analysts=_people(request), actor=seat.user)
    return {}


def _remove_analyst(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    (user_id,) = _people(request)[:1] or (0,)
    services.remove_analyst(seat.data_set, user_id=user_id, actor=seat.user)
    return {}


def _leave(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    services.remove_analyst(seat.data_set, user_id=seat.user.pk, actor=seat.user)
    return {}


def _delete(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    if request.POST.get("sure") != "yes":
        return {"sure": _("Say that you know that this cannot be undone.")}
    services.delete(seat.data_set, actor=seat.user)
    messages.success(request, _("The rows are deleted."))
    return {}


def _people(request: HttpRequest) -> list[int]:
    return [int(key) for key in request.POST.getlist("analyst") if key.isascii() and key.isdecimal() and len(key) < 10]


Act = Callable[[HttpRequest, DataSetSeat], dict[str, str]]
ACTIONS: dict[str, tuple[Act, str]] = {
    "submit": (_submit, "may_change"),
    "approve": (_approve, "may_review"),
    "send-back": (_send_back, "may_review"),
    "name-analyst": (_name_analyst, "may_change"),
    "approve-analysts": (_approve_analysts, "may_review"),
    "remove-analyst": (_remove_analyst, "may_change"),
    "leave": (_leave, "may_ask"),
    "delete": (_delete, "may_change"),
}
"""The steps that a data set's page sends, each with the permission of a seat that it needs."""
