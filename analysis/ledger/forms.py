"""The forms of the ledger's page."""

from django import forms
from django.utils.translation import gettext_lazy as _

from analysis.ledger.page import MOST_QUESTIONS, USUAL_QUESTIONS
from analysis.ledger.services import LONGEST_REASON


class AnnouncedForm(forms.Form):
    """How many questions are to come."""

    questions = forms.IntegerField(
        min_value=1,
        max_value=MOST_QUESTIONS,
        initial=USUAL_QUESTIONS,
        error_messages={"required": _("Write how many questions are to come.")},
    )


class FreezeForm(forms.Form):
    """Why nothing more may be spent."""

    reason = forms.CharField(max_length=LONGEST_REASON, error_messages={"required": _("Write why the budget is frozen.")})


class UnfreezeForm(forms.Form):
    """The budget as the officer has read it."""

    changes = forms.IntegerField(required=False)
