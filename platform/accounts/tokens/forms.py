"""The form in which people make a token for a program."""

from datetime import date, timedelta
from typing import cast

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken, TokenScope, User
from accounts.services import LONGEST_TOKEN_DAYS, USUAL_TOKEN_DAYS

NAME_IS_TAKEN = _("You have a token of this name already; choose another name.")


class NewTokenForm(forms.Form):
    """Its name, what it may do, and its last day."""

    name = forms.CharField(max_length=50, error_messages={"required": _("Say what the token is for.")})
    scope = forms.ChoiceField(choices=TokenScope.choices, initial=TokenScope.READ)
    last_day = forms.DateField(error_messages={"required": _("Choose the last day of the token.")})

    def __init__(self, data: QueryDict | None = None, *, user: User) -> None:
        super().__init__(data)
        self.user = user
        self.initial.setdefault("last_day", timezone.localdate() + timedelta(days=USUAL_TOKEN_DAYS))

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if ApiToken.objects.filter(user=self.user, name=name).exists():
            raise forms.ValidationError(NAME_IS_TAKEN)
        return name

    def clean_last_day(self) -> date:
        chosen = cast(date, self.cleaned_data["last_day"])
        today = timezone.localdate()
        if not today <= chosen <= today + timedelta(days=LONGEST_TOKEN_DAYS):
            raise forms.ValidationError(_("Choose a day from today on, within a year."))
        return chosen
