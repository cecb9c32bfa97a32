"""Whether a share of people is asked directly, how large it is, and the text of the consent that everybody is asked for."""

from django.utils.translation import gettext as _

from surveys.builder.frame import DraftPage
from surveys.drafting.forms import DraftForm, Typed, typed_text

LARGEST_PERCENT = 50


class DirectQuestions(DraftPage):
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
