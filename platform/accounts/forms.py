"""Forms that create an account: for administrators, and for people who were invited."""

from typing import ClassVar

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm

from accounts.models import Role, User


class NewUserForm(BaseUserCreationForm):  # type: ignore[type-arg]
    """Name, role and password twice."""

    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANALYST)

    class Meta:
        model = User
        fields: ClassVar = ["username", "email", "role"]


class OwnAccountForm(BaseUserCreationForm):  # type: ignore[type-arg]
    """Name and password twice; invited people cannot choose their role."""

    class Meta:
        model = User
        fields: ClassVar = ["username"]
