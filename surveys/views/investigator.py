"""Pages for those who run studies: what there is, what can be done now, codes in and codes checked."""

from collections import Counter
from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import require_role, user_of
from accounts.models import Role, User
from surveys.errors import SurveyError
from surveys.models import EntryCode, Study, StudyStatus
from surveys.selectors import access_own_study, access_study, counts_of, studies_of
from surveys.services import studies as study_services
from surveys.services.entry import add_entry_codes, read_codes
from surveys.study_file import define
from surveys.tokens import completion_code_is_genuine, normalised

Action = Callable[[Study, User], Study]
DESK = (Role.INVESTIGATOR, Role.IRB_OFFICER, Role.ADMINISTRATOR)
MAXIMUM_UPLOAD_BYTES = 5 * 1024 * 1024


def _return(study: Study, user: User) -> Study:
    return study_services.return_to_draft(study, actor=user, reason=gettext("returned on the study's page"))


# What the owner, and what the officer, can do with a study of each status.
OWNER_ACTIONS: dict[str, tuple[StudyStatus, object, Action]] = {
    "submit": (StudyStatus.DRAFT, gettext_lazy("Submit for review"), lambda s, u: study_services.submit_for_review(s, actor=u)),
    "launch": (StudyStatus.APPROVED, gettext_lazy("Launch"), lambda s, u: study_services.launch(s, actor=u)),
    "pause": (StudyStatus.RECRUITING, gettext_lazy("Pause recruiting"), lambda s, u: study_services.pause(s, actor=u)),
    "resume": (StudyStatus.PAUSED, gettext_lazy("Resume recruiting"), lambda s, u: study_services.resume(s, actor=u)),
    "close": (StudyStatus.RECRUITING, gettext_lazy("Close the study for good"), lambda s, u: study_services.close(s, actor=u)),
    "close-paused": (StudyStatus.PAUSED, gettext_lazy("Close the study for good"), lambda s, u: study_services.close(s, actor=u)),
    "archive": (StudyStatus.CLOSED, gettext_lazy("Archive"), lambda s, u: study_services.archive(s, actor=u)),
}
OFFICER_ACTIONS: dict[str, tuple[StudyStatus, object, Action]] = {
    "approve": (StudyStatus.IN_REVIEW, gettext_lazy("Approve"), lambda s, u: study_services.approve(s, actor=u)),
    "return": (StudyStatus.IN_REVIEW, gettext_lazy("Return to the investigator"), _return),
}


def _actions(study: Study, user: User) -> dict[str, tuple[StudyStatus, object, Action]]:
    owner = study.owner_id == user.pk or user.role == Role.ADMINISTRATOR
    allowed = (OWNER_ACTIONS if owner else {}) | (OFFICER_ACTIONS if user.role == Role.IRB_OFFICER and not owner else {})
    return {name: action for name, action in allowed.items() if action[0] == study.status}


@require_role(*Role)
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """The studies that this person may see."""
    return render(request, "surveys/investigator/study_list.html", {"studies": studies_of(user_of(request))})


@require_role(*DESK)
@require_http_methods(["GET", "HEAD", "POST"])
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """One study: its numbers, and the steps that this person can take with it now."""
    user = user_of(request)
    found = access_study(user, slug)
    if request.method == "POST":
        chosen = _actions(found, user).get(request.POST.get("action", ""))
        if chosen is None:
            messages.error(request, gettext("This cannot be done now. The study may have changed in the meantime."))
        else:
            try:
                chosen[2](found, user)
            except SurveyError as error:
                messages.error(request, str(error))
        return redirect("surveys:study", slug)
    context = {
        "study": found,
        "counts": counts_of(found),
        "actions": [(name, label) for name, (_status, label, _act) in _actions(found, user).items()],
        "warnings": define(found.definition).warnings(),
        "missing": study_services.missing_before_review(found) if found.status == StudyStatus.DRAFT else [],
        "may_change": found.owner_id == user.pk or user.role == Role.ADMINISTRATOR,
    }
    return render(request, "surveys/investigator/study_detail.html", context)


@require_role(Role.INVESTIGATOR, Role.ADMINISTRATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def codes(request: HttpRequest, slug: str) -> HttpResponse:
    """Personal entry codes come in as a CSV file; completion codes that students hand in are checked."""
    user = user_of(request)
    found = access_own_study(user, slug)
    errors, checked = [], None
    if request.method == "POST" and request.POST.get("action") == "check":
        lines = [line.strip() for line in request.POST.get("codes", "").splitlines() if line.strip()][:5000]
        times = Counter(normalised(line) for line in lines)
        checked = [(line, completion_code_is_genuine(line, found.slug), times[normalised(line)] > 1) for line in lines]
    elif request.method == "POST":
        upload = request.FILES.get("file")
        try:
            if upload is None or (upload.size or 0) > MAXIMUM_UPLOAD_BYTES:
                errors = [{"field": "file", "message": gettext("Choose a CSV file of at most 5 MB.")}]
            else:
                added = add_entry_codes(found, codes=read_codes(upload.read(), source=str(upload.name)), actor=user)
                messages.success(request, gettext("%(count)d new codes were added.") % {"count": added})
                return redirect("surveys:codes", slug)
        except SurveyError as error:
            errors = [{"field": "file", "message": str(error)}]
    entry_codes = EntryCode.objects.filter(study=found)
    context = {
        "study": found,
        "errors": errors,
        "checked": checked,
        "code_count": entry_codes.count(),
        "spent_count": entry_codes.filter(spent=True).count(),
    }
    return render(request, "surveys/investigator/codes.html", context, status=422 if errors else 200)
