"""The words of an officer's decisions, and the forms that ask for reasons, conditions and the last day of an approval."""

from collections.abc import Mapping
from dataclasses import dataclass

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from candor.written_numbers import typed_number

LINES = forms.Textarea(attrs={"rows": 5})


class WithReason(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("The investigator reads it, and it stays in the record."),
        error_messages={"required": gettext_lazy("Give a reason: without one the investigator does not know what to do.")},
        max_length=5000,
        widget=LINES,
    )


class PrivacyLimitForm(forms.Form):
    epsilon = forms.CharField(
        label=gettext_lazy("Largest total ε without a reason"),
        help_text=gettext_lazy(
            "All sensitive answers of one student together. 5.55 is four questions after each of which 50 : 50 becomes 80 %."
        ),
        error_messages={"required": gettext_lazy("Write a number above 0.")},
        widget=forms.TextInput(attrs={"inputmode": "decimal", "class": "input-short", "autocomplete": "off"}),
    )

    def clean_epsilon(self) -> float:
        if (number := typed_number(self.cleaned_data["epsilon"])) is None:
            raise forms.ValidationError(gettext("Write a number above 0."))
        return float(number)


class DecisionWithReason(WithReason):
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)


class Acknowledgement(forms.Form):
    decision = forms.IntegerField(required=False, widget=forms.HiddenInput)


class Lifting(WithReason):
    decision = forms.IntegerField(required=False, widget=forms.HiddenInput)


class Approval(forms.Form):
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    valid_until = forms.DateField(
        label=gettext_lazy("Last day of the approval"),
        help_text=gettext_lazy("At most five years from now; one year if left empty. Recruiting stops by itself after this day."),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    conditions = forms.CharField(
        label=gettext_lazy("Conditions, if any"),
        help_text=gettext_lazy(
            "The investigator has to acknowledge them before anybody is taken in. A study that recruits pauses until then."
        ),
        max_length=5000,
        required=False,
        widget=LINES,
    )
    reason = forms.CharField(
        label=gettext_lazy("Remarks, if any"),
        help_text=gettext_lazy("The investigator reads them, and they stay in the record."),
        max_length=5000,
        required=False,
        widget=LINES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The label of an action's button, the form that asks for further words, and a sentence about its effect."""

    label: Promise
    form: type[forms.Form] = forms.Form
    effect: Promise | str = ""
    irreversible: bool = False

    @property
    def has_own_page(self) -> bool:
        """Whether a page asks for further words, or says first what will happen for good."""
        return self.irreversible or not all(field.widget.is_hidden for field in self.form.base_fields.values())


DECISION_WORDS: Mapping[str, Words] = {
    "approve": Words(
        label=gettext_lazy("Approve"),
        form=Approval,
        effect=gettext_lazy("The investigator may launch or resume the study, under exactly this protocol."),
    ),
    "return": Words(
        label=gettext_lazy("Ask for changes"),
        form=DecisionWithReason,
        effect=gettext_lazy(
            "The investigator can change the protocol and submit it again. A running study keeps the approval that it has."
        ),
    ),
    "reject": Words(
        label=gettext_lazy("Reject"),
        form=DecisionWithReason,
        effect=gettext_lazy("Exactly this protocol can never be submitted again. A running study keeps the approval that it has."),
    ),
    "suspend": Words(
        label=gettext_lazy("Suspend the study at once"),
        form=WithReason,
        effect=gettext_lazy(
            "From this moment nobody new is taken in. People who have already agreed may finish. Only an officer can lift it."
        ),
    ),
    "lift": Words(
        label=gettext_lazy("Lift the suspension"),
        form=Lifting,
        effect=gettext_lazy("The study stays paused until its investigator resumes it."),
    ),
}
