"""The officers' inbox as the API shows it."""

from datetime import date

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers

from analysis.inbox.decisions import half_year
from surveys.review.serializers import QueueSerializer

YEARS = range(2000, 2200)


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


class TermSerializer(serializers.Serializer[object]):
    first = serializers.DateField(required=False, help_text="The first day.")
    last = serializers.DateField(required=False, help_text="The last day.")

    def validate(self, attrs: dict[str, date]) -> dict[str, date]:
        """The asked days, and the half-year of today where nothing is asked."""
        first, last = half_year(timezone.localdate())
        term = {"first": first, "last": last} | attrs
        for name, day in term.items():
            if day.year not in YEARS:
                expected = _("Expected a day from %(first)s to %(last)s, found %(found)s.")
                raise serializers.ValidationError({name: expected % {"first": YEARS[0], "last": YEARS[-1], "found": day.year}})
        if term["last"] < term["first"]:
            raise serializers.ValidationError({"last": _("Expected a last day that is not before the first.")})
        return term


class DecidedSerializer(serializers.Serializer[object]):
    kind = serializers.CharField(help_text="Protocol, release of data, or data set.")
    title = serializers.CharField()
    version = serializers.IntegerField(allow_null=True)
    verdict = serializers.CharField()
    asked_on = serializers.DateField(allow_null=True, help_text="Null for a suspension: nobody asked for it.")
    decided_on = serializers.DateField()
    days = serializers.IntegerField(allow_null=True, help_text="Between the question and the decision.")
    decided_by = serializers.CharField(help_text="User name of the officer.")


class DecisionReportSerializer(serializers.Serializer[object]):
    first = serializers.DateField()
    last = serializers.DateField()
    median_days = serializers.FloatField(allow_null=True, help_text="The median of the days that people waited.")
    decisions = DecidedSerializer(many=True, help_text="The newest first.")
