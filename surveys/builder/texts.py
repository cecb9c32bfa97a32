"""Consent and debrief, one Markdown text in every language; who is asked directly; and what is planned for the data."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.builder.frame import DraftPage
from surveys.definition import Retention
from surveys.drafting.edits import Edit, Keys
from surveys.drafting.forms import DraftForm, Typed, typed_text, typed_value
from surveys.questions.plans import MOST_SUBGROUP_QUESTIONS

LARGEST_PERCENT = 50


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
        return {"text": form.root[self.key], "key": self.key}


class Consent(MarkdownPage):
    part = key = "consent"
    missing = gettext_lazy("Write what people consent to.")


class Debrief(MarkdownPage):
    part = key = "debrief"
    missing = gettext_lazy("Write what people learn at the end.")


class DirectQuestions(DraftPage):
    """Whether a share of people is asked directly, how large it is, and the text of the consent that everybody is asked for."""

    part = "direct"
    template_name = "surveys/builder/direct_questions.html"
    keys = ("direct_group",)

    def typed(self) -> Typed:
        group = self.document.get("direct_group")
        if group is None:
            return {}
        percent: Typed = {"asked": "on", "percent": str(round(group["share"] * 100))}
        return percent | dict(typed_text("direct_group.consent", group["consent"], self.definition.languages))

    def read(self, form: DraftForm) -> object:
        if not form.checked("asked"):
            return {}
        missing = _("Write which share of people is asked directly.")
        percent = form.whole_number("percent", what=_("The share"), minimum=1, maximum=LARGEST_PERCENT, missing=missing)
        consent = form.text("direct_group.consent", missing=_("Write what people consent to."))
        return {"direct_group": {"share": (percent or 1) / 100, "consent": consent}}


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
