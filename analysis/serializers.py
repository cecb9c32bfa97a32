"""API representations of participant counts, results and plans."""

import re
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from analysis.models import Run
from candor.designs.design import Design
from candor.errors import MethodError
from candor.written_numbers import number_or_fraction

LONGEST_NUMBER = 40
MOST_ARMS = 20
MOST_SUBSAMPLES = 10
EXPONENT = re.compile(r"\d[.\d_]*[eE][+-]?\d")


class CountsSerializer(serializers.Serializer[Any]):
    """Consented and assigned include people who withdrew; finished counts the stored answers."""

    declined = serializers.IntegerField()
    consented = serializers.IntegerField()
    assigned = serializers.IntegerField()
    finished = serializers.IntegerField()
    withdrew = serializers.IntegerField()
    comprehension_passed = serializers.IntegerField()
    comprehension_failed = serializers.IntegerField()


class GroupSerializer(serializers.Serializer[Any]):
    subsample = serializers.CharField()
    arm = serializers.CharField(help_text="Its name in the study file, or “all” for a reader who is blinded.")
    assigned = serializers.IntegerField()
    watched = serializers.IntegerField()
    finished = serializers.IntegerField()


class StudyCountsSerializer(serializers.Serializer[Any]):
    study = serializers.CharField()
    totals = CountsSerializer()
    groups = GroupSerializer(many=True, allow_null=True, help_text="Null for those who may not see results.")
    planned = serializers.IntegerField(allow_null=True)
    days_left = serializers.IntegerField(allow_null=True, help_text="Until the planned number at the rate of the last week.")


class IntervalSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    level = serializers.FloatField()


class CheaterProportionSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    raw = serializers.FloatField(allow_null=True, help_text="Before it was kept in [0, 1]; standard error and interval belong to it.")
    standard_error = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)


class HonestTimesEffectSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    standard_error = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(allow_null=True)


class BootstrapSerializer(serializers.Serializer[Any]):
    standard_error = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    level = serializers.FloatField()
    replicates = serializers.IntegerField()
    failed = serializers.IntegerField()
    seed = serializers.IntegerField()
    bca = IntervalSerializer(allow_null=True)


class EffectSerializer(serializers.Serializer[Any]):
    treatment = serializers.CharField()
    control = serializers.CharField()
    method = serializers.CharField()
    for_publication = serializers.BooleanField(help_text="False: it uses background answers, which the die does not protect.")
    value = serializers.FloatField(allow_null=True)
    standard_error = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    wald = IntervalSerializer(allow_null=True)
    p_value = serializers.FloatField(allow_null=True)
    adjusted_p_value = serializers.FloatField(allow_null=True)
    honest_times_effect = HonestTimesEffectSerializer()
    honest_proportion = serializers.FloatField(allow_null=True)
    assumption = serializers.CharField()
    bounds = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    confidence_bounds = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    bootstrap = BootstrapSerializer(allow_null=True)
    notes = serializers.ListField(child=serializers.CharField())


class AnytimeSerializer(serializers.Serializer[Any]):
    treatment = serializers.CharField()
    control = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True, help_text="Holds at every look at once.")


class PrevalenceSerializer(serializers.Serializer[Any]):
    arm = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    standard_error = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)


class SpecificationTestSerializer(serializers.Serializer[Any]):
    statistic = serializers.FloatField()
    df = serializers.IntegerField()
    p_value = serializers.FloatField(allow_null=True)


class OutcomeSerializer(serializers.Serializer[Any]):
    question = serializers.CharField()
    n = serializers.IntegerField()
    not_yet = serializers.CharField(allow_null=True, help_text="Why there are no estimates yet; then everything else is null or empty.")
    epsilon = serializers.FloatField(allow_null=True)
    identified = serializers.BooleanField(allow_null=True)
    assumption = serializers.CharField(allow_null=True)
    cheater_proportion = CheaterProportionSerializer(allow_null=True)
    effects = EffectSerializer(many=True)
    anytime = AnytimeSerializer(many=True)
    prevalence = PrevalenceSerializer(many=True)
    specification_test = SpecificationTestSerializer(allow_null=True)
    notes = serializers.ListField(child=serializers.CharField())


class DifferenceSerializer(serializers.Serializer[Any]):
    treatment = serializers.CharField()
    control = serializers.CharField()
    variable = serializers.CharField()
    treatment_mean = serializers.FloatField(allow_null=True)
    control_mean = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True, help_text="In standard deviations.")


class BalanceSerializer(serializers.Serializer[Any]):
    for_publication = serializers.BooleanField(help_text="Always false: it uses background answers, which the die does not protect.")
    differences = DifferenceSerializer(many=True)


class DirectPrevalenceSerializer(serializers.Serializer[Any]):
    arm = serializers.CharField()
    n = serializers.IntegerField(allow_null=True)
    yes = serializers.IntegerField(allow_null=True)
    value = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)


class DirectDifferenceSerializer(serializers.Serializer[Any]):
    treatment = serializers.CharField()
    control = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)


class UnderReportingSerializer(serializers.Serializer[Any]):
    arm = serializers.CharField()
    with_die = serializers.FloatField(allow_null=True)
    with_die_standard_error = serializers.FloatField(allow_null=True)
    value = serializers.FloatField(allow_null=True)
    standard_error = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    p_value = serializers.FloatField(allow_null=True)


class DirectOutcomeSerializer(serializers.Serializer[Any]):
    question = serializers.CharField()
    prevalence = DirectPrevalenceSerializer(many=True, help_text="Null in an arm in which fewer than `smallest_cell` said yes, or no.")
    differences = DirectDifferenceSerializer(many=True)
    under_reporting = UnderReportingSerializer(
        many=True, help_text="Share of yes by the die, of people who agreed too, minus the direct one."
    )
    assumption = serializers.CharField()
    notes = serializers.ListField(child=serializers.CharField())


class DirectGroupSerializer(serializers.Serializer[Any]):
    asked = serializers.IntegerField()
    drawn_but_refused = serializers.IntegerField()
    ended = serializers.BooleanField(help_text="Answers are counted only after the end of the study; before, `outcomes` is empty.")
    smallest_cell = serializers.IntegerField()
    for_publication = serializers.BooleanField(help_text="Always false: these are exact counts of answers that no die protects.")
    outcomes = DirectOutcomeSerializer(many=True)


class FirstResultsSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    n = serializers.IntegerField(allow_null=True)
    method_version = serializers.CharField()
    finished_on = serializers.DateField(allow_null=True)
    outcomes = OutcomeSerializer(many=True)
    direct_group = DirectGroupSerializer(allow_null=True, help_text="People who were asked without a die; null in a study without them.")


class FullResultsSerializer(FirstResultsSerializer):
    seed = serializers.IntegerField(allow_null=True, help_text="The bootstrap's seed; the same data and seed give the same numbers.")
    balance = BalanceSerializer(allow_null=True)


class WorkSerializer(serializers.Serializer[Any]):
    status = serializers.CharField(allow_blank=True)
    percent = serializers.IntegerField(allow_null=True)


class WorkByKindSerializer(serializers.Serializer[Any]):
    first_results = WorkSerializer()
    full_results = WorkSerializer()


class ResultsSerializer(serializers.Serializer[Any]):
    study = serializers.CharField()
    status = serializers.CharField()
    blinded = serializers.BooleanField(help_text="Arms are letters, and nothing tells which of them is the control.")
    arms = serializers.ListField(child=serializers.CharField())
    control = serializers.CharField(allow_null=True)
    background_deleted_on = serializers.DateField(
        allow_null=True, help_text="Since this day operational data are deleted: what uses background answers was computed before."
    )
    first_results = FirstResultsSerializer(allow_null=True, help_text="Seconds after an answer.")
    full_results = FullResultsSerializer(allow_null=True, help_text="Every method, with its bootstrap; they follow.")
    work = WorkByKindSerializer()


class BlindingSerializer(serializers.Serializer[Any]):
    on = serializers.BooleanField()


class FigureSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    svg = serializers.CharField(help_text="Its address.")
    png = serializers.CharField(help_text="Its address.")


class TableSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    csv = serializers.CharField(help_text="Its address.")


class FilesSerializer(serializers.Serializer[Any]):
    figures = FigureSerializer(many=True)
    tables = TableSerializer(many=True)


class RunSerializer(serializers.ModelSerializer[Run]):
    class Meta:
        model = Run
        fields = ("id", "kind", "status", "n", "seed", "method_version", "finished_on")
        read_only_fields = fields


class NumberField(serializers.FloatField):
    """A number, or a fraction such as "2/6", within limits; an error says which, and what came."""

    def __init__(self, *, low: float, high: float, **options: Any) -> None:
        self.low, self.high = low, high
        super().__init__(min_value=low, max_value=high, **options)

    def to_internal_value(self, data: Any) -> float:
        known = isinstance(data, int | float | str) and not isinstance(data, bool)
        number = number_or_fraction(data, low=self.low, high=self.high) if known else None
        if number is None:
            raise serializers.ValidationError(
                _('Expected a number from %(low)s to %(high)s or a fraction like "2/6", found %(found)s.')
                % {"low": f"{self.low:g}", "high": f"{self.high:g}", "found": repr(data)[:LONGEST_NUMBER]}
            )
        return number


class WholeField(NumberField):
    """A whole number within limits."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool) or not self.low <= data <= self.high:
            raise serializers.ValidationError(
                _("Expected a whole number from %(low)s to %(high)s, found %(found)s.")
                % {"low": f"{self.low:.0f}", "high": f"{self.high:.0f}", "found": repr(data)[:LONGEST_NUMBER]}
            )
        return int(data)


class PlanRequestSerializer(serializers.Serializer[Any]):
    """The options of `candor plan`, under the same names and with the same defaults."""

    design = serializers.DictField(help_text="A design document, as DESIGN.json for the command line.")
    effect = NumberField(low=-1, high=1, required=False, help_text="Difference of prevalence to control, of every treatment arm.")
    effects = serializers.DictField(
        child=NumberField(low=-1, high=1), required=False, help_text="By treatment arm; beats `effect`, which is for the arms not named."
    )
    prevalence = NumberField(low=0, high=1, default=0.4)
    cheaters = NumberField(low=0, high=1, default=0.0)
    cheaters_yes_rate = NumberField(low=0, high=1, default=None, allow_null=True)
    n = WholeField(low=1, high=1_000_000_000, default=None, allow_null=True, help_text="Default: as many as `power` needs.")
    power = NumberField(low=0, high=1, default=0.8)
    questions = WholeField(low=1, high=1000, default=1)
    epsilon_cap = NumberField(low=0, high=100, default=None, allow_null=True)
    level = NumberField(low=0, high=1, default=0.95)

    def validate_design(self, document: dict[str, Any]) -> Design:
        for part, most in (("arms", MOST_ARMS), ("subsamples", MOST_SUBSAMPLES)):
            if isinstance(given := document.get(part), list | dict) and len(given) > most:
                raise serializers.ValidationError(
                    _("Expected at most %(most)s %(part)s, found %(found)s.") % {"most": most, "part": part, "found": len(given)}
                )
        if found := _exponents({name: document.get(name) for name in ("subsamples", "allocation", "cheater_model")}):
            raise serializers.ValidationError(
                _('Expected numbers or fractions like "2/6", found %(found)s.') % {"found": repr(found[0][:LONGEST_NUMBER])}
            )
        try:
            return Design.from_document(document)
        except MethodError as error:
            raise serializers.ValidationError(str(error)) from error

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if "effect" not in data and not data.get("effects"):
            raise serializers.ValidationError({"effect": [_("Expected effect, effects or both, found neither.")]})
        return data

    def effects_by_arm(self) -> dict[str, float]:
        data = self.validated_data
        same = dict.fromkeys(data["design"].treatments, data["effect"]) if "effect" in data else {}
        return {**same, **data.get("effects", {})}


def _exponents(part: Any) -> list[str]:
    """Numbers written with an exponent, which as exact fractions could fill the memory."""
    if isinstance(part, dict):
        return [found for one in part.values() for found in _exponents(one)]
    return [part] if isinstance(part, str) and EXPONENT.search(part) else []
