"""The builder's first page: the parts, the tasks left, and the way back to a draft once the protocol is frozen; and who else is there."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from surveys.allocation.findable import too_few
from surveys.builder.frame import BuilderPage
from surveys.models import StudyStatus
from surveys.studies.services import is_amended, take_back


@method_decorator(csrf_exempt, name="dispatch")  # nothing is stored, and the token of an open page is old after another login
class Company(BuilderPage):
    """An open page says that somebody is there, and learns who else is. Nothing of it is stored."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(self.company(request.POST.get("page", "")[:200]), content_type="text/plain; charset=utf-8")


class Overview(BuilderPage):
    template_name = "surveys/builder/overview.html"

    def context(self) -> dict[str, object]:
        return {
            "may_return": self.study.status in (StudyStatus.IN_REVIEW, StudyStatus.APPROVED),
            "unchanged": self.state == "amendment" and not is_amended(self.study),
            "warnings": self.definition.warnings(),
            "few": too_few(self.definition) if self.state == "draft" else "",
        }

    def post(self, request: HttpRequest) -> HttpResponse:
        """Make a new version: back to draft, with a reason that stays in the log."""
        reason = request.POST.get("reason", "").strip()
        if not reason:
            return self.refused([_("Write why a new version is needed.")], field="reason")
        self.study = take_back(self.study, actor=self.person, reason=reason[:2000])
        messages.success(request, _("The study is a draft again. When it is ready, submit it for review."))
        return redirect("surveys:build", self.study.slug)
