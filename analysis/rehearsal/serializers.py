"""Rehearsals as the API shows them, and what it is told to plant: proportions, not percentages, within the limits of the page."""

from rest_framework import serializers

from analysis.rehearsal.forms import BEHAVIOURS, PlantedForm, TypedNumber
from analysis.serializers import BatchSerializer, CountsSerializer, NumberField, WholeField
from surveys.models import BotRunStatus
from surveys.rehearsal.services import MOST_BOTS, Planted


def _proportion(name: str, help_text: str) -> NumberField:
    """With the limits and the default of the page's field."""
    field = PlantedForm.base_fields[name]
    assert isinstance(field, TypedNumber)
    return NumberField(low=field.min_value / 100, high=field.max_value / 100, default=field.initial / 100, help_text=help_text)


class PlantedSerializer(serializers.Serializer[object]):
    bots = WholeField(low=1, high=MOST_BOTS, default=PlantedForm.base_fields["bots"].initial)
    prevalence = _proportion("prevalence", "Share of honest ones who truly say yes; with several arms, in the control arm.")
    effect = _proportion("effect", "How much larger it is in every other arm; left out of account in a survey.")
    cheaters = _proportion("cheaters", "Share who do not follow the die.")
    behaviour = serializers.ChoiceField(
        choices=BEHAVIOURS, default=PlantedForm.base_fields["behaviour"].initial, help_text="Behaviour of people who do not follow the die."
    )
    dropout = _proportion("dropout", "Share who leave in the middle.")
    under_reporting = _proportion("under_reporting", "Share who deny a true yes when they are asked without a die, in studies that do so.")

    def planted(self, *, compares: bool) -> Planted:
        """A survey, which compares nothing, has no effect."""
        given = self.validated_data
        return Planted(
            bots=given["bots"],
            prevalence=given["prevalence"],
            effect=given["effect"] if compares else 0.0,
            cheater_proportion=given["cheaters"],
            behaviour=given["behaviour"],
            drops_out=given["dropout"],
            under_reports=given["under_reporting"],
        )


class WhatWasPlantedSerializer(serializers.Serializer[object]):
    """Under the names by which it was sent."""

    bots = serializers.IntegerField()
    prevalence = serializers.FloatField()
    effect = serializers.FloatField()
    cheaters = serializers.FloatField(source="cheater_proportion")
    behaviour = serializers.CharField()
    dropout = serializers.FloatField(source="drops_out")
    under_reporting = serializers.FloatField(source="under_reports")
    seed = serializers.IntegerField(help_text="Seed of the bots: the same seed gives the same bots.")


class ComparisonSerializer(serializers.Serializer[object]):
    what = serializers.CharField(help_text="The quantity, in words.")
    planted = serializers.FloatField()
    estimate = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Lower end of the interval; null where it has none.")
    high = serializers.FloatField(allow_null=True, help_text="Upper end of the interval; null where it has none.")
    covered = serializers.BooleanField(
        allow_null=True, help_text="Whether the interval holds what was planted; null where there is no interval."
    )
    sentence = serializers.CharField(help_text="The same in words.")


class RehearsedQuestionSerializer(serializers.Serializer[object]):
    question = serializers.CharField(source="name")
    n = serializers.IntegerField(help_text="How many bots answered it.")
    not_yet = serializers.CharField(source="note", allow_blank=True, help_text="Why there is nothing to compare yet.")
    comparisons = ComparisonSerializer(many=True)


class RehearsalSerializer(serializers.Serializer[object]):
    status = serializers.ChoiceField(choices=BotRunStatus.choices, source="bot_run.status")
    is_working = serializers.BooleanField(help_text="Bots are on their way, or results are being computed: ask again.")
    sent = serializers.IntegerField(help_text="How many bots have come.")
    turned_away = serializers.IntegerField(help_text="Because the study was full.")
    error = serializers.CharField(source="bot_run.error", allow_blank=True, help_text="Where the bots could not go on.")
    planted = WhatWasPlantedSerializer(source="bot_run")
    counts = CountsSerializer()
    batch = BatchSerializer()
    warning = serializers.CharField(allow_blank=True, help_text="An assumption of the analysis that these bots break.")
    questions = RehearsedQuestionSerializer(many=True, help_text="Planted values beside found ones.")


class RehearsalStateSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    rehearsal = RehearsalSerializer(allow_null=True, help_text="Null: there is none.")
