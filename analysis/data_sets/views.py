"""The pages of data sets: the list, bringing one, and one data set with its budget, its analysts and the officer's decision."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role, User
from analysis.data_sets import services
from analysis.data_sets.errors import DataSetError
from analysis.data_sets.forms import BringForm, BudgetForm, DescriptionForm, NewDataSetForm, ReasonForm, first_errors
from analysis.data_sets.sent_back import changed_since
from analysis.models import DataSetAnalyst, DataSetInvitation, DataSetStatus, Holds
from analysis.sources.places import Place
from analysis.sources.seats import NO_DATA_SET, DataSetSeat, access_data_set, access_to_leave, data_sets_of, data_sets_to_come, deleted_soon
from analysis.sources.selectors import data_sets_with_a_budget, newest_snapshot, schema_of_snapshot, studies_with_a_budget
from analysis.sources.tables import Role as ColumnRole
from candor.written_numbers import number_in_digits
from surveys.access import OWNER_ROLES
from surveys.errors import SharingError
from surveys.privacy.budgets import bought_by, budget_in_words, in_how_many, in_words
from surveys.questions.plans import PrivacyBudget
from surveys.reading.apart import NotReadError
from surveys.sharing.offers import offered_link
from surveys.sharing.selectors import open_invitation
from surveys.sharing.services import DAYS
from surveys.sharing.views import account_for, answered_invitation


@never_cache
@in_own_language
@require_role(*Role)
@require_safe
def data_sets(request: HttpRequest) -> HttpResponse:
    """The data sets that this person may see, and those whose analyst they are to be."""
    user = user_of(request)
    context = {"data_sets": data_sets_of(user), "to_come": data_sets_to_come(user), "may_bring": user.role in OWNER_ROLES}
    return render(request, "analysis/data_sets/list.html", context)


@never_cache
@in_own_language
@require_role(*OWNER_ROLES)
@require_http_methods(["GET", "HEAD", "POST"])
def bring(request: HttpRequest) -> HttpResponse:
    """A file, with the role of each of its columns. It is read in this request, and nothing of it waits anywhere."""
    form = BringForm(request.POST, request.FILES.get("file"))
    said = _("The data set is here. Keys of students and texts were thrown away.")
    return brought(request, form, template="analysis/data_sets/bring.html", page="analysis:data_set", said=said)


def brought(request: HttpRequest, form: NewDataSetForm, *, template: str, page: str, said: str) -> HttpResponse:
    """The form, or the page of the data set that it made."""
    problems: list[str] = []
    if request.POST.get("action") == "bring" and (found := form.read()) is not None:
        try:
            made = services.bring(**found, actor=user_of(request))
            messages.success(request, said)
            return redirect(page, made.slug)
        except NotReadError as error:
            problems = error.problems
    parts = form.parts
    if request.POST.get("action") == "columns" and not parts:
        form.errors.setdefault("header", _("Choose a file, or paste its first line."))
    errors = [{"field": "file", "message": problem} for problem in problems]
    errors += [{"field": field, "message": message} for field, message in form.errors.items()]
    context = {"form": form, "parts": parts, "errors": errors, "file_error": problems[0] if problems else form.errors.get("file", "")}
    context["file_is_gone"] = bool(request.FILES)
    is_part = bool(request.headers.get("HX-Request"))
    return render(request, template, context, status=422 if errors and not is_part else 200)


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def data_set(request: HttpRequest, data_set: str) -> HttpResponse:
    """One data set: its columns, its budget and what that buys, its analysts, and the decision about them."""
    access = access_to_leave if request.POST.get("action") == "leave" else access_data_set
    seat = access(user_of(request), data_set)
    if seat.data_set.holds == Holds.RECORDS:
        return redirect("analysis:data_set_records", data_set)
    errors: Mapping[str, object] = {}
    offered = None
    if request.method == "POST":
        act, needs = ACTIONS.get(request.POST.get("action", ""), (None, ""))
        if act is None or not getattr(seat, needs):
            raise Http404(NO_DATA_SET)
        try:
            if act is _invite:
                offered = act(request, seat)
            elif not (errors := act(request, seat)):
                return redirect("analysis:data_sets" if act is _leave else request.path)
        except SharingError as error:
            errors = {"addressee": str(error)}
        except DataSetError as error:
            errors = {"": str(error)}
    context = _context(request, seat, errors) | {"offered": offered}
    return render(request, "analysis/data_sets/data_set.html", context, status=422 if errors else 200)


@never_cache
@in_own_language
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """The offer to become an analyst of a data set."""
    found = open_invitation(DataSetInvitation, token)

    def accept(user: User) -> HttpResponse:
        services.accept_invitation(found, user=user)
        messages.success(request, _("You may ask questions when an IRB officer has approved you."))
        return redirect("analysis:data_sets")

    return answered_invitation(request, found, accept=accept, account=reverse("analysis:data_set_account", args=[token]))


@never_cache
@sensitive_post_parameters("password1", "password2")
@in_own_language
@require_http_methods(["GET", "HEAD", "POST"])
def new_account(request: HttpRequest, token: str) -> HttpResponse:
    """An account for somebody who was invited to a data set and has none."""
    return account_for(request, open_invitation(DataSetInvitation, token), back=reverse("analysis:data_set_invitation", args=[token]))


def _context(request: HttpRequest, seat: DataSetSeat, errors: Mapping[str, object]) -> dict[str, object]:
    found = access_data_set(seat.user, seat.data_set.slug).data_set
    place = Place(DataSetSeat(seat.user, found))
    snapshot = newest_snapshot(found.source)
    assert snapshot is not None
    n = snapshot.n or 0
    schema = schema_of_snapshot(found.source, snapshot.number)
    form = BudgetForm(request.POST if "epsilon" in request.POST else request.GET, n=n, delete_on=found.delete_on)
    budget = form.budget
    if found.epsilon is not None and found.delta is not None:
        budget = PrivacyBudget(epsilon=found.epsilon, delta=found.delta)
    named = DataSetAnalyst.objects.filter(data_set=found).select_related("user")
    return place.context | {
        "n": n,
        "columns": schema.columns,
        "cap": schema.cap,
        "has_quiz": bool(schema.with_role(ColumnRole.QUIZ)),
        "has_topics": bool(schema.with_role(ColumnRole.TOPIC)),
        "form": form,
        "budget": budget,
        "buys": [in_words(one) for one in bought_by(budget, people=n)] if budget else [],
        "rarity": in_how_many(budget.delta) if budget else "",
        "meaning": budget_in_words(budget) if budget else [],
        "analysts": named,
        "waiting_analysts": [one for one in named if one.approved_on is None],
        "invitations": services.waiting_invitations(found),
        "days": DAYS,
        "typed": request.POST.get("addressee", "") if errors else "",
        "deleted_soon": found in deleted_soon(found.owner),
        "others": list(data_sets_with_a_budget().exclude(pk=found.pk)) if seat.may_review else [],
        "studies": list(studies_with_a_budget()) if seat.may_review else [],
        "described": request.POST.get("about", found.about),
        "may_edit": seat.may_change and found.status == DataSetStatus.DRAFT and found.forgotten_on is None,
        "is_draft": found.status == DataSetStatus.DRAFT and found.forgotten_on is None,
        "is_waiting": found.status == DataSetStatus.WAITING and found.forgotten_on is None,
        "since": None if seat.is_named else changed_since(found),
        "is_approved": found.status == DataSetStatus.APPROVED,
        "error_of": errors,
        "errors": [{"field": field, "message": message} for field, message in errors.items()],
    }


def _describe(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    form = DescriptionForm(request.POST)
    if form.is_valid():
        services.describe(seat.data_set, about=form.cleaned_data["about"], actor=seat.user)
    return first_errors(form)


def take_back(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    services.take_back(seat.data_set, actor=seat.user)
    return {}


def _submit(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    form = BudgetForm(request.POST, n=seat.data_set.students, delete_on=seat.data_set.delete_on)
    budget, day = form.budget, form.day
    if budget is not None and day is not None:
        services.submit(seat.data_set, budget=budget, delete_on=day, actor=seat.user)
        messages.success(request, _("An IRB officer has been asked."))
    return form.errors


def _approve(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    services.approve(seat.data_set, analysts=_people(request), actor=seat.user, **_seen(request))
    messages.success(request, _("The data set is approved."))
    return {}


def _seen(request: HttpRequest) -> services.Seen:
    """The parts that the page of the officer showed. A budget that is no number is no budget that anybody saw."""
    sent = request.POST
    try:
        budget = float(sent.get("epsilon", "")), float(sent.get("delta", ""))
    except ValueError:
        budget = None
    return {"budget": budget, "delete_on": sent.get("delete_on", ""), "about": sent.get("about", "")}


def _send_back(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    form = ReasonForm(request.POST)
    if form.is_valid():
        services.send_back(seat.data_set, reason=form.cleaned_data["reason"], actor=seat.user, **_seen(request))
    return first_errors(form)


def _invite(request: HttpRequest, seat: DataSetSeat) -> dict[str, object]:
    """The link, which is shown once."""
    found, token = services.invite_analyst(seat.data_set, addressee=request.POST.get("addressee", ""), actor=seat.user)
    return offered_link(request, found, reverse("analysis:data_set_invitation", args=[token]))


def _withdraw(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    (invitation_id,) = _keys(request, "invitation")[:1] or (0,)
    services.withdraw_invitation(seat.data_set, invitation_id=invitation_id, actor=seat.user)
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


def delete(request: HttpRequest, seat: DataSetSeat) -> dict[str, str]:
    if request.POST.get("sure") != "yes":
        return {"sure": _("Say that you know that this cannot be undone.")}
    services.delete(seat.data_set, actor=seat.user)
    messages.success(request, _("The rows are deleted."))
    return {}


def _people(request: HttpRequest) -> list[int]:
    return _keys(request, "analyst")


def _keys(request: HttpRequest, name: str) -> list[int]:
    return [key for one in request.POST.getlist(name) if (key := number_in_digits(one)) is not None]


Act = Callable[[HttpRequest, DataSetSeat], Mapping[str, object]]
ACTIONS: dict[str, tuple[Act, str]] = {
    "describe": (_describe, "may_change"),
    "submit": (_submit, "may_change"),
    "take-back": (take_back, "may_change"),
    "approve": (_approve, "may_review"),
    "send-back": (_send_back, "may_review"),
    "invite": (_invite, "may_change"),
    "withdraw": (_withdraw, "may_change"),
    "approve-analysts": (_approve_analysts, "may_review"),
    "remove-analyst": (_remove_analyst, "may_change"),
    "leave": (_leave, "is_named"),
    "delete": (delete, "may_change"),
}
"""The steps that a data set's page sends, each with the permission of a seat that it needs."""
