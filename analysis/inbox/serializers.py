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


class WaitingDataSetSerializer(serializers.Serializer[object]):
    slug = serializers.CharField(source="data_set.slug")
    title = serializers.CharField(source="data_set.title")
    owner = serializers.CharField(source="data_set.owner.username", help_text="User name.")
    submitted_on = serializers.DateField(source="data_set.submitted_on")
    own = serializers.BooleanField(help_text="You have a part in this data set: another officer decides.")


class ReviewQueueSerializer(QueueSerializer):
    releases = WaitingReleaseSerializer(many=True, help_text="Data that wait for approval, the oldest first.")
    data_sets = WaitingDataSetSerializer(many=True, help_text="Data sets, or analysts of data sets, that wait for approval.")
