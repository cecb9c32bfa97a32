"""The form of the page on networks: which release, about which question, at which loss."""

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from analysis.learning.networks.questions import asked_about, circles_of, classes_of
from analysis.learning.spending.forms import AtOneLossForm
from analysis.sources.tables import Schema
from surveys.drafting.forms import typed_value

OF_STUDENTS: tuple[tuple[str, Promise], ...] = (
    ("network_degrees", _("How many students have how many friends")),
    ("network_ties", _("Friends by clustering: how many of a student’s friends know each other, with few and with many friends")),
)
OF_CLASSES: tuple[tuple[str, Promise], ...] = (
    ("network_class_types", _("How many classes are open, mixed or close")),
    ("network_class_means", _("How close the friends are, on average over the classes")),
)
NOISES = (("epsilon", _("ε: pure, with Laplace noise")), ("rho", _("ρ: zCDP, with Gaussian noise")))


def usual_amount() -> str:
    return typed_value(0.1)


class NetworkForm(AtOneLossForm):
    kind = forms.ChoiceField(label=_("What to release"), error_messages={"required": _("Choose what to release.")})
    circle = forms.ChoiceField(label=_("The question about friends"))
    classes = forms.ChoiceField(label=_("The question that names the class"), required=False)
    noise = forms.ChoiceField(label=_("How the loss is counted"), choices=NOISES, initial="epsilon")
    amount = forms.CharField(label=_("How much to spend"), initial=usual_amount, error_messages={"required": _("Write how much to spend.")})

    def __init__(self, data: QueryDict | None = None, *, schema: Schema) -> None:
        super().__init__(data)
        language = get_language() or "en"
        classes = [(name, column.label.in_language(language)) for name, column in classes_of(schema).items() if column.entries is None]
        circles = [(name, asked_about(column)) for name, column in circles_of(schema).items()]
        self._offer("kind", (*OF_STUDENTS, *(OF_CLASSES if classes else ())))
        self._offer("circle", circles)
        self._offer("classes", classes)
        for field, offered in (("circle", circles), ("classes", classes)):
            self.initial[field] = offered[0][0] if offered else ""

    def _offer(self, field: str, choices: object) -> None:
        self.fields[field].choices = choices  # type: ignore[attr-defined]  # the stubs know only the kind of all fields

    def document(self) -> dict[str, object]:
        """The question, for the ledger."""
        given = self.cleaned_data
        of_classes = {"classes": given["classes"]} if given["kind"] in dict(OF_CLASSES) else {}
        return {"kind": given["kind"], "circle": given["circle"], given["noise"]: given["amount"], **of_classes}
