"""Consent and debrief, one Markdown text in every language with a preview; and what is planned for the data."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts.access import require_role
from accounts.models import Role
from surveys.builder.frame import DraftPage
from surveys.definition import Retention
from surveys.drafting.edits import Edit, Keys
from surveys.drafting.forms import DraftForm, Typed, typed_text, typed_value
from surveys.drafting.markdown import sanitised_html
from surveys.questions.plans import MOST_SUBGROUP_QUESTIONS

LONGEST_PREVIEW = 20_000


class MarkdownPage(DraftPage):
    template_name = "surveys/builder/markdown.html"
    key: str
    missing: Promise

    def edit(self) -> Edit:
        return Keys((self.key,))

    def typed(self) -> Typed:
        return dict(typed_text(self.key, self.document[self.key], self.definition.languages))

    def read(self, form: DraftForm) -> object:
        return {self.key: form.text(self.key, missing=str(self.missing))}

    def context_of(self, form: DraftForm) -> dict[str, object]:
        """Every language's text as typed, and as it will be seen."""
        nodes = [(code, name, node, sanitised_html(node.line)) for code, name, node in form.root[self.key].in_languages]
        return {"texts": nodes, "key": self.key}


class Consent(MarkdownPage):
    part = key = "consent"
    missing = gettext_lazy("Write what people consent to.")


class Debrief(MarkdownPage):
    part = key = "debrief"
    missing = gettext_lazy("Write what people learn at the end.")


class Subgroups(DraftPage):
    """The background questions by whose answers effects will be compared, named before anybody has answered."""

    part = "subgroups"
    template_name = "surveys/builder/subgroups.html"
    keys = ("subgroups",)

    def typed(self) -> Typed:
        return {"subgroups": list(self.document.get("subgroups", ()))}

    def context_of(self, form: DraftForm) -> dict[str, object]:
        language = self.definition.languages[0]
        questions = self.definition.possible_subgroups.items()
        return {
            "questions": [(name, question.text.in_language(language)) for name, question in questions],
            "nothing_to_save": self.definition.is_survey,
        }

    def read(self, form: DraftForm) -> object:
        chosen = form.several("subgroups")
        if len(chosen) > MOST_SUBGROUP_QUESTIONS:
            form.error("subgroups", _("Choose at most %(number)s questions.") % {"number": MOST_SUBGROUP_QUESTIONS})
        return {"subgroups": chosen} if chosen else {}


class Plans(DraftPage):
    """The plans for the data that IRB officers read: analyses, release, and deletion of the rest."""

    part = "plans"
    template_name = "surveys/builder/plans.html"
    keys = ("analysis_plan", "release_plan", "retention")

    def typed(self) -> Typed:
        languages = self.definition.languages
        return {
            **dict(typed_text("analysis_plan", self.document.get("analysis_plan"), languages)),
            **dict(typed_text("release_plan", self.document.get("release_plan"), languages)),
            "months": typed_value(self.definition.retention.months_after_closing),
        }

    def read(self, form: DraftForm) -> object:
        plans = {key: form.text(key) for key in ("analysis_plan", "release_plan")}
        months = form.whole_number(
            "months", what=_("The number of months"), minimum=0, maximum=120, missing=_("Write after how many months.")
        )
        retention = {"months_after_closing": months} if months != Retention().months_after_closing else None
        return {key: given for key, given in (plans | {"retention": retention}).items() if given}


@require_role(*Role)
@require_POST
def markdown_preview(request: HttpRequest) -> HttpResponse:
    """A Markdown text in the making, as participants will see it."""
    typed = next((str(value) for name, value in request.POST.items() if name.startswith(("consent", "debrief"))), "")
    return render(request, "surveys/builder/_preview.html", {"html": sanitised_html(typed[:LONGEST_PREVIEW])})
