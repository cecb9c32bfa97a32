"""The audit log as the API shows it."""

from rest_framework import serializers

from audit.actions import registered
from audit.models import Entry


class LogFilterSerializer(serializers.Serializer[object]):
    """A filter of the audit log."""

    kind = serializers.CharField(required=False, help_text="An action (“study.launched”), or the beginning of several (“study.”).")
    person = serializers.CharField(required=False, max_length=150, help_text="User name of whoever did it.")
    since = serializers.DateField(required=False, help_text="The first day.")
    until = serializers.DateField(required=False, help_text="The last day.")
    before = serializers.IntegerField(required=False, min_value=0, max_value=2**62, help_text="Only entries older than this one: `older`.")
    after = serializers.IntegerField(required=False, min_value=0, max_value=2**62, help_text="Only entries newer than this one: `newer`.")


class LogEntrySerializer(serializers.Serializer[object]):
    """One entry, as in an exported file, and the meaning of its action."""

    sequence = serializers.IntegerField()
    at = serializers.DateTimeField()
    actor_id = serializers.IntegerField(allow_null=True)
    actor_name = serializers.CharField(help_text="Empty: Candor itself.")
    action = serializers.CharField()
    meaning = serializers.SerializerMethodField()
    subject_kind = serializers.CharField()
    subject_id = serializers.CharField()
    details = serializers.JSONField()
    previous_hash = serializers.CharField()
    hash = serializers.CharField()
    salt = serializers.CharField(help_text="Random, and part of the hash; empty in entries of version 0.2.0 and before.")

    def get_meaning(self, entry: Entry) -> str:
        return registered().get(entry.action, "")


class LogSerializer(serializers.Serializer[object]):
    """Some entries, the latest first."""

    entries = LogEntrySerializer(many=True)
    older = serializers.IntegerField(allow_null=True, help_text="Ask with `before` of this value for the entries before these.")
    newer = serializers.IntegerField(allow_null=True, help_text="Ask with `after` of this value for the entries after these.")
    left_out = serializers.ListField(
        child=serializers.CharField(),
        help_text="Studies and data sets of which you are a blinded viewer or an analyst: you read nothing about them.",
    )


class LogFindingSerializer(serializers.Serializer[object]):
    """The result of checking the chain; empty while a worker checks it."""

    intact = serializers.IntegerField(allow_null=True, help_text="How many entries are as they were written.")
    broken_at = serializers.IntegerField(allow_null=True, help_text="The first entry that is not.")
    finding = serializers.CharField(help_text="The same in words.")
