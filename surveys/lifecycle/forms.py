"""The words of the actions on a study: what their buttons say, what they do, and which words they ask for."""

from dataclasses import dataclass

from django import forms
from django.utils.functional import Promise


class Nothing(forms.Form):
    """An action that needs no further words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The label of an action, its form, and a sentence about its effect."""

    label: Promise
    form: type[forms.Form] = Nothing
    effect: Promise | str = ""

    @property
    def needs_words(self) -> bool:
        return bool(self.form.base_fields)
