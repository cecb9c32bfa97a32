"""The report as JSON."""

from rest_framework import serializers

from surveys.preregistration.serializers import KeptPlanSerializer


class PlannedAnalysisSerializer(serializers.Serializer[object]):
    planned = serializers.CharField()
    verdict = serializers.ChoiceField(choices=("as_planned", "otherwise", "not_done"))
    differences = serializers.ListField(child=serializers.CharField(), help_text="The parts that were done otherwise.")
    value = serializers.FloatField(source="effect.value", default=None, allow_null=True, help_text="The primary method's estimate.")


class ComparedSerializer(serializers.Serializer[object]):
    plan = KeptPlanSerializer()
    amendments = KeptPlanSerializer(many=True)
    analyses = PlannedAnalysisSerializer(many=True)
    exploratory = serializers.ListField(child=serializers.CharField(), help_text="Analyses that nobody planned.")


class ReportSerializer(serializers.Serializer[object]):
    report = ComparedSerializer(allow_null=True)
