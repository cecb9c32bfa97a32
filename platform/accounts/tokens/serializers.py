"""Accounts as the API shows them."""

from rest_framework import serializers

from accounts.models import Role, TokenScope


class AccountSerializer(serializers.Serializer[object]):
    name = serializers.CharField(help_text="User name.")
    role = serializers.ChoiceField(choices=Role.choices)
    scope = serializers.ChoiceField(choices=TokenScope.choices, allow_null=True, help_text="The token's; null for a session.")
    notices = serializers.BooleanField(help_text="Whether e-mails tell you when it is your turn.")


class NoticesSerializer(serializers.Serializer[object]):
    notices = serializers.BooleanField()
