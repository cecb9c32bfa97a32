"""The form of the page on topics: the loss of the whole term."""

from django import forms
from django.utils.translation import gettext_lazy as _

from analysis.learning.networks.forms import NOISES, usual_amount
from analysis.learning.spending.forms import AtOneLossForm


class TopicsForm(AtOneLossForm):
    noise = forms.ChoiceField(label=_("How the loss is counted"), choices=NOISES, initial="rho")
    amount = forms.CharField(
        label=_("The whole term costs"), initial=usual_amount, error_messages={"required": _("Write how much to spend.")}
    )

    def document(self) -> dict[str, object]:
        """The question, for the ledger."""
        return {"kind": "topics", self.cleaned_data["noise"]: self.cleaned_data["amount"]}
