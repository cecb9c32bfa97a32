"""The preregistration as a page and as files, for everybody who may see the protocol."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from surveys.access import access_study
from surveys.models import Study
from surveys.preregistration.selectors import KeptPlan, plans_of
from surveys.preregistration.words import shown_plan


@require_role(*Role)
@require_safe
def preregistration(request: HttpRequest, slug: str, version: int | None = None) -> HttpResponse:
    """The plan that was kept at the first approval, or an amendment to it; the page says so where there is none yet."""
    study = access_study(user_of(request), slug).study
    plans = plans_of(study)
    plan = _plan(plans, version)
    context = {
        "study": study,
        "plans": plans,
        "first": plans[0] if plans else None,
        **(shown_plan(plan) if plan else {}),
    }
    return render(request, "surveys/preregistration/page.html", context)


@require_role(*Role)
@require_safe
def preregistration_file(request: HttpRequest, slug: str, version: int, file_kind: str) -> HttpResponse:
    """The plan as the very JSON text that the hash is of, or as a page that needs no server."""
    study = access_study(user_of(request), slug).study
    plan = _plan(plans_of(study), version)
    if plan is None or file_kind not in ("json", "html"):
        raise Http404
    content = plan.text if file_kind == "json" else _html(study, plan)
    response = HttpResponse(content, content_type="application/json" if file_kind == "json" else "text/html; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-preregistration-{version}.{file_kind}"'
    return response


def _html(study: Study, plan: KeptPlan) -> str:
    return render_to_string("surveys/preregistration/file.html", {"study": study, **shown_plan(plan)})


def _plan(plans: list[KeptPlan], version: int | None) -> KeptPlan | None:
    if version is None:
        return plans[0] if plans else None
    found = next((plan for plan in plans if plan.version == version), None)
    if found is None:
        raise Http404
    return found
