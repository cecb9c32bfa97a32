"""The deletion of operational data as the API shows it and is told."""

from rest_framework import serializers


class RetentionSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    due_on = serializers.DateField(allow_null=True, help_text="By the protocol; null while the study is not closed.")
    forgotten_on = serializers.DateField(allow_null=True, help_text="Since this day they are deleted, or are being deleted.")
    people_left = serializers.IntegerField(
        help_text="How many people's rows the deletion has still to reach; 0 before it and after its end."
    )


class ForgetSerializer(serializers.Serializer[object]):
    confirmation = serializers.CharField(max_length=50, help_text="The study's slug: this cannot be undone.")
