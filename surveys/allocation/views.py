"""The page of a study's arms, on which quotas are set and arms stopped while people come."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from accounts.models import Role
from surveys.access import access_own_study
from surveys.allocation.services import change_arm
from surveys.drafting.forms import DraftForm
from surveys.errors import TransitionError
from surveys.models import RUNNING, Study
from surveys.protocols import protocol_in_force
from surveys.questions.assignment import MOST_PARTICIPANTS

STOPS = {"stop": True, "resume": False}


@require_role(*Role)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def arms(request: HttpRequest, slug: str) -> HttpResponse:
    """Each arm with its quota, and whether it takes people. That a quota is reached is not said: it would tell when somebody came."""
    user = user_of(request)
    study = access_own_study(user, slug).study
    form = DraftForm(request.POST.dict(), languages=())
    if request.method == "POST":
        arm, action = request.POST.get("arm", ""), request.POST.get("action", "")
        if not study.arm_states.filter(arm=arm).exists():
            raise Http404
        try:
            if action in STOPS:
                change_arm(study, arm=arm, actor=user, closed=STOPS[action])
            elif action == "limit":
                quota = form.whole_number(f"quota-{arm}", what=_("The quota"), minimum=0, maximum=MOST_PARTICIPANTS)
                if not form.errors:
                    change_arm(study, arm=arm, actor=user, quota=quota)
            else:
                form.problem(_("This cannot be done here."))
        except TransitionError as error:
            form.problem(str(error))
        if not form.summary:
            messages.success(request, _("Saved. It holds from now on."))
            return redirect("surveys:arms", slug)
    return render(request, "surveys/investigator/arms.html", _shown(study, form), status=422 if form.summary else 200)


def _shown(study: Study, form: DraftForm) -> dict[str, object]:
    """The content of the page: what is stored, or what was typed where it comes back with errors. There are no arms before the launch."""
    states = {state.arm: state for state in study.arm_states.all()}
    context: dict[str, object] = {"study": study, "errors": form.summary}
    if not states:
        return context
    definition = protocol_in_force(study).definition
    arms = [
        {
            "name": arm.name,
            "label": arm.label.in_language(definition.languages[0]),
            "state": states[arm.name],
            "quota": form.typed.get(f"quota-{arm.name}", states[arm.name].quota),
            "error": form.errors.get(f"quota-{arm.name}", ""),
        }
        for arm in definition.arms
    ]
    return context | {
        "arms": arms,
        "may_be_changed": study.status in RUNNING,
        "has_quotas": definition.strata == [""],
        "all_stopped": all(state.closed for state in states.values()),
    }
