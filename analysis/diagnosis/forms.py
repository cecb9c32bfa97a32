"""The form of a diagnosis, in percent and points as people type them."""

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from analysis.diagnosis.answers import labels
from analysis.diagnosis.services import FEWEST_STUDIES, MOST_PEOPLE, MOST_STUDIES, Asked
from analysis.rehearsal.forms import TruthForm, TypedNumber
from surveys.definition import StudyDefinition
from surveys.questions.sections import INTRACLASS_CORRELATION

ABOUT = _("A named answer is diagnosed as a yes-or-no question: it stands for yes, every other answer for no.")


class DiagnosisForm(TruthForm):
    field_order = ("people",)

    people = TypedNumber(
        label=_("People"),
        help_text=_("How many are assigned to an arm and answer with the die."),
        whole=True,
        min_value=1,
        max_value=MOST_PEOPLE,
    )
    cheaters = TypedNumber(
        label=_("Cheaters"),
        help_text=_("How many of 100 do not follow the die, where anybody cheats."),
        min_value=0,
        max_value=95,
        initial=10,
    )
    dropout = TypedNumber(
        label=_("Drop-out"), help_text=_("How many of 100 leave, of those who may leave."), min_value=0, max_value=90, initial=10
    )
    alike = TypedNumber(
        label=_("Alike in a section"),
        help_text=_("Intra-class correlation: the share of the differences between true answers that lies between sections."),
        min_value=0,
        max_value=100,
        initial=f"{100 * INTRACLASS_CORRELATION:g}",
    )
    studies = TypedNumber(
        label=_("Simulated studies"),
        help_text=_("For each way to cheat and to leave; more make the numbers more exact."),
        whole=True,
        min_value=FEWEST_STUDIES,
        max_value=MOST_STUDIES,
        initial=4000,
    )

    def __init__(self, data: QueryDict | None = None, *, definition: StudyDefinition, language: str) -> None:
        super().__init__(data, initial={"people": definition.planned_with_die})
        if definition.category_questions:
            self.choices = list(labels(definition, language))
            self.fields["answer"] = forms.ChoiceField(label=_("About"), help_text=ABOUT, required=False, choices=self.choices)
        if definition.is_survey:
            del self.fields["effect"]
        if not definition.in_sections:
            del self.fields["alike"]

    def asked(self) -> Asked:
        given = self.cleaned_data
        return Asked(
            people=given["people"],
            **self.truth,
            cheater_proportion=given["cheaters"] / 100,
            drop_out=given["dropout"] / 100,
            studies=given["studies"],
            intraclass_correlation=given.get("alike", 0) / 100,
            answer=given.get("answer"),
        )
