"""Pages for those who run studies: what there is, what can be done now, codes in and codes checked."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from audit.services import record_once_a_day
from surveys import actions
from surveys.errors import SurveyError
from surveys.models import RUNNING, EntryCode, StudyStatus
from surveys.recruitment.services import MAXIMUM_BYTES, add_entry_codes, check_completion_codes, read_codes
from surveys.selectors import (
    OWNER_ROLES,
    access_own_study,
    access_study,
    approval_of,
    counts_of,
    day_of_forgetting,
    forgets_soon,
    may_change,
    owns,
    stopped_by,
    studies_of,
    studies_with_results_of,
)
from surveys.studies.readiness import to_do
from surveys.studies.study_actions import actions_of, take_action
from surveys.studies.study_steps import obstacles_to_recruiting
from surveys.study_file import define


@require_role(*Role)
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """The studies that this person may see."""
    user = user_of(request)
    with_results = set(studies_with_results_of(user).values_list("pk", flat=True))
    context = {
        "studies": [(study, study.pk in with_results) for study in studies_of(user)],
        "may_create": user.role in OWNER_ROLES,
    }
    return render(request, "surveys/investigator/study_list.html", context)


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """One study: its numbers, and the steps that this person can take with it now."""
    user = user_of(request)
    found = access_study(user, slug)
    open_now = actions_of(found, user)
    if request.method == "POST":
        name = request.POST.get("action", "")
        if name in open_now and open_now[name].needs_words:
            return redirect("surveys:action", slug, name)
        try:
            take_action(found, name, actor=user)
        except SurveyError as error:
            messages.error(request, str(error))
        return redirect("surveys:study", slug)
    context = {
        "study": found,
        "counts": counts_of(found),
        "actions": open_now,
        "obstacles": obstacles_to_recruiting(found) if found.status in (StudyStatus.APPROVED, *RUNNING) else [],
        "approval": approval_of(found),
        "stopped_by": stopped_by(found),
        "warnings": define(found.definition).warnings(),
        "missing": [one for one in to_do(found) if one.needed] if found.status == StudyStatus.DRAFT else [],
        "may_change": may_change(user, found),
        "forgets_on": day_of_forgetting(found) if owns(user, found) else None,
        "forgets_soon": forgets_soon(found),
    }
    return render(request, "surveys/investigator/study_detail.html", context)


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def action(request: HttpRequest, slug: str, action: str) -> HttpResponse:
    """A step that needs words: a reason, or the conditions and the last day of an approval."""
    user = user_of(request)
    found = access_study(user, slug)
    open_now = actions_of(found, user).get(action)
    if open_now is None or not open_now.needs_words:
        messages.error(request, gettext("This cannot be done now. The study may have changed in the meantime."))
        return redirect("surveys:study", slug)
    form = open_now.form(initial={"version": found.submitted and found.submitted.version})
    if request.method == "POST":
        form = open_now.form(request.POST)
        try:
            take_action(found, action, actor=user, data=request.POST)
            messages.success(request, gettext("Done: %(step)s.") % {"step": open_now.label})
            return redirect("surveys:study", slug)
        except ValidationError as error:
            form.is_valid()
            for field, problems in error.message_dict.items():
                if field not in form.errors:
                    form.add_error(field, problems)
        except SurveyError as error:
            messages.error(request, str(error))
            return redirect("surveys:study", slug)
    errors = [{"field": form[name].auto_id, "message": problem} for name, problems in form.errors.items() for problem in problems]
    context = {"study": found, "action": open_now, "name": action, "form": form, "errors": errors}
    return render(request, "surveys/irb/action.html", context, status=422 if errors else 200)


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def codes(request: HttpRequest, slug: str) -> HttpResponse:
    """Personal entry codes come in as a CSV file; completion codes that students hand in are checked."""
    user = user_of(request)
    found = access_own_study(user, slug)
    errors, checked = [], None
    if request.method == "POST" and request.POST.get("action") == "check":
        lines = [line.strip() for line in request.POST.get("codes", "").splitlines() if line.strip()][:5000]
        checked = check_completion_codes(found, codes=lines, actor=user)
    elif request.method == "POST":
        upload = request.FILES.get("file")
        try:
            if upload is None or (upload.size or 0) > MAXIMUM_BYTES:
                errors = [{"field": "file", "message": gettext("Choose a CSV file of at most 5 MB.")}]
            else:
                added = add_entry_codes(found, codes=read_codes(upload.read(), source=str(upload.name)), actor=user)
                messages.success(request, gettext("%(count)d new codes were added.") % {"count": added})
                return redirect("surveys:codes", slug)
        except SurveyError as error:
            errors = [{"field": "file", "message": str(error)}]
    if request.method == "GET":
        record_once_a_day(actor=user, action=actions.CODES_OPENED, subject=found)
    entry_codes = EntryCode.objects.filter(study=found)
    context = {
        "study": found,
        "errors": errors,
        "checked": checked,
        "code_count": entry_codes.count(),
        "spent_count": entry_codes.filter(spent=True).count(),
    }
    return render(request, "surveys/investigator/codes.html", context, status=422 if errors else 200)
