"""Forms that ask the ledger."""

from django import forms
from django.utils.translation import gettext as _

from analysis.learning.one_loss import LARGEST_LOSS, SMALLEST_LOSS
from surveys.journey.forms import read_number


class AtOneLossForm(forms.Form):
    """A form with a field `amount`: one loss, of ε or of ρ."""

    def document(self) -> dict[str, object]:
        """The question that was typed."""
        raise NotImplementedError

    def clean_amount(self) -> float:
        number, error = read_number(self.cleaned_data["amount"].strip(), minimum=0, maximum=LARGEST_LOSS)
        if number is None or number < SMALLEST_LOSS:
            raise forms.ValidationError(error or _("So small a loss buys nothing. Write a larger number."))
        return number
