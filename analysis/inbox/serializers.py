"""The officers' inbox as the API shows it."""

from rest_framework import serializers

from surveys.review.serializers import QueueSerializer


class WaitingReleaseSerializer(serializers.Serializer[object]):
    study = serializers.CharField(source="release.study.slug")
    title = serializers.CharField(source="release.title")
    version = serializers.IntegerField(source="release.version")
    requested_by = serializers.CharField(source="release.requested_by.username", help_text="User name.")
    requested_on = serializers.DateField(source="release.requested_on")
    simulated = serializers.BooleanField(source="release.simulated", help_text="True: made by bots.")
    own = serializers.BooleanField(help_text="You have a part in this study: another officer decides.")


class ReviewQueueSerializer(QueueSerializer):
    releases = WaitingReleaseSerializer(many=True, help_text="Data that wait for approval, the oldest first.")
