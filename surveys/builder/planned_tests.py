"""Tests that are named before anybody answers: families of questions, and margins of differences too small to matter."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.builder.frame import DraftPage
from surveys.drafting.forms import DraftForm, Typed, typed_value

NO_MARGIN = "none"
KINDS = (
    (NO_MARGIN, gettext_lazy("Only whether there is a difference")),
    ("equivalence", gettext_lazy("Equivalence: the difference is smaller than the margin in both directions")),
    ("more_yes", gettext_lazy("Non-inferiority, where more yes would be worse: not more by the margin")),
    ("fewer_yes", gettext_lazy("Non-inferiority, where fewer yes would be worse: not fewer by the margin")),
)


class PlannedTestsPage(DraftPage):
    part = "tests"
    template_name = "surveys/builder/planned_tests.html"
    keys = ("analysis",)

    def typed(self) -> Typed:
        planned = self.definition.analysis
        typed: Typed = {f"{name}.family": family for family, members in planned.families.items() for name in members}
        for question in self.definition.yes_no_questions:
            margin = planned.margins.get(question.name)
            typed[f"{question.name}.kind"] = NO_MARGIN if margin is None else margin.worse or margin.kind
            typed[f"{question.name}.points"] = "" if margin is None else typed_value(margin.points)
        return typed

    def read(self, form: DraftForm) -> object:
        families: dict[str, list[str]] = {}
        margins: dict[str, object] = {}
        for question in self.definition.yes_no_questions:
            name = question.name
            if family := form.line(f"{name}.family"):
                families.setdefault(family, []).append(name)
            kind = form.choice(f"{name}.kind", [value for value, _label in KINDS], missing=_("Choose what is to be shown."))
            if kind in (NO_MARGIN, ""):
                continue
            points = form.number(
                f"{name}.points",
                what=_("The margin"),
                minimum=0.1,
                maximum=99,
                missing=_("Write how many percentage points would matter."),
            )
            direction = {"kind": kind} if kind == "equivalence" else {"kind": "non_inferiority", "worse": kind}
            margins[name] = {**direction, "points": points}
        found = {key: given for key, given in (("families", families), ("margins", margins)) if given}
        return {"analysis": found} if found else {}

    def context_of(self, form: DraftForm) -> dict[str, object]:
        language, questions = self.definition.languages[0], self.definition.yes_no_questions
        return {
            "kinds": KINDS,
            "nothing_to_save": self.definition.is_survey or not questions,
            "question_fields": [(question.text.in_language(language), form.root[question.name]) for question in questions],
        }
