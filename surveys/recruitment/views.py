"""The page of codes: personal entry codes come in, completion codes are checked."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from accounts.models import Role
from audit.services import record_once_a_day
from surveys import actions
from surveys.access import access_own_study
from surveys.errors import SurveyError
from surveys.models import RUNNING, EntryCode
from surveys.recruitment.selectors import spent_codes_shown
from surveys.recruitment.services import MAXIMUM_BYTES, add_entry_codes, check_completion_codes, read_codes


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def codes(request: HttpRequest, slug: str) -> HttpResponse:
    """Personal entry codes come in as a CSV file; completion codes that students hand in are checked."""
    user = user_of(request)
    found = access_own_study(user, slug).study
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
    context = {
        "study": found,
        "errors": errors,
        "checked": checked,
        "code_count": EntryCode.objects.filter(study=found).count(),
        "spent_count": spent_codes_shown(found),
        "counts_in_tens": found.status in RUNNING,
    }
    return render(request, "surveys/investigator/codes.html", context, status=422 if errors else 200)
