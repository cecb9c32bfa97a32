"""API representations of participant counts, results and plans."""

import types
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from typing import Annotated, Any, ClassVar, TypedDict, Union, Unpack, cast, get_args, get_origin, get_type_hints

from django.utils.translation import gettext as _
from pydantic.fields import FieldInfo
from rest_framework import serializers

from analysis.live.progress import Group
from analysis.live.results_document import ResultsDocument, StudyCounts
from analysis.live.wording import beside
from analysis.models import Run
from analysis.selectors import Work
from analysis.stored_results import Balance, DirectGroup, DirectOutcome, MarkedEffect, MarkedSequence, MarkedSequentialEffect
from candor.designs.design import Design
from candor.errors import MethodError, what_came
from candor.results import AssignmentInference, BootstrapSummary, CheaterProportion, Difference, Effect, Interval
from candor.written_numbers import number_or_fraction
from surveys.batches.selectors import BatchProgress
from surveys.counts import Counts

LONGEST_NUMBER = 40
MOST_ARMS = 20
MOST_SUBSAMPLES = 10


AnyField = serializers.Field[Any, Any, Any, Any]
PLAIN: dict[object, type[AnyField]] = {
    str: serializers.CharField,
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    date: serializers.DateField,
}


class Options(TypedDict, total=False):
    help_text: str
    allow_null: bool


# Shows values of the dataclass `of`: all its fields in their order, or `only` those named. A docstring would stand in the API's document.
class DataclassSerializer(serializers.Serializer[object]):
    of: ClassVar[type]
    only: ClassVar[tuple[str, ...]] = ()
    help_texts: ClassVar[dict[str, str]] = {}
    serializers_by_class: ClassVar[dict[type, type["DataclassSerializer"]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.serializers_by_class[cls.of] = cls

    def get_fields(self) -> dict[str, AnyField]:
        hints, declared = _hints(self.of), super().get_fields()
        names = self.only or [one.name for one in fields(self.of)]
        return {name: declared.get(name) or _field(hints[name], **self._help_text(name)) for name in names}

    def _help_text(self, name: str) -> Options:
        return {"help_text": self.help_texts[name]} if name in self.help_texts else {}


@cache
def _hints(of: type) -> dict[str, object]:
    return get_type_hints(of, include_extras=True)


def _field(hint: object, **options: Unpack[Options]) -> AnyField:
    """The field that shows values of a type."""
    if get_origin(hint) is Annotated:
        described, *notes = get_args(hint)
        (text,) = (note.description for note in notes if isinstance(note, FieldInfo) and note.description)
        return _field(described, **(options | {"help_text": text}))
    if get_origin(hint) in (Union, types.UnionType):
        (only,) = set(get_args(hint)) - {types.NoneType}
        return _field(only, **(options | {"allow_null": True}))
    if get_origin(hint) is tuple:
        of = get_args(hint)[0]
        parts = isinstance(of, type) and is_dataclass(of)
        return _serializer(of)(many=True, **options) if parts else serializers.ListField(child=_field(of), **options)
    if isinstance(hint, type) and is_dataclass(hint):
        return _serializer(hint)(**options)
    return PLAIN[hint](**options)


def _serializer(of: type) -> type[DataclassSerializer]:
    """The one that was written for this class, else one that shows all of it."""
    known = DataclassSerializer.serializers_by_class
    return known.get(of) or types.new_class(f"{of.__name__}Serializer", (DataclassSerializer,), exec_body=lambda body: body.update(of=of))


class CountsSerializer(DataclassSerializer):
    """Consented and assigned include people who withdrew; finished counts the stored answers."""

    of = Counts
    only = (
        "declined",
        "consented",
        "assigned",
        "finished",
        "withdrew",
        "comprehension_passed",
        "comprehension_failed",
        "attention_failed",
        "task_not_done",
    )


class BatchSerializer(DataclassSerializer):
    of = BatchProgress
    help_texts: ClassVar = {
        "until_next": "How many more people complete the next batch; null where none will come.",
        "people": "How many people the batch needs, from the one before it on.",
        "beyond_plan": "The study plans for fewer people than one batch needs: its numbers come when it is closed.",
        "withheld": "Somebody who was in the shown numbers withdrew: there are none until the next batch. "
        "Or everybody is being counted after the end.",
        "being_counted": "After the end, how many people have still to be counted before there are numbers; whole tens.",
        "held_back": "Somebody withdrew after the end, or a back-up was restored that did not know somebody: some people are left out to "
        "hide who it was.",
        "too_few": "The study ended with so few people that results would be about persons.",
    }


class GroupSerializer(DataclassSerializer):
    of = Group
    help_texts: ClassVar = {"arm": "Its name in the study file, or “all” for a reader who is blinded."}


class StudyCountsSerializer(DataclassSerializer):
    of = StudyCounts


class IntervalSerializer(DataclassSerializer):
    of = Interval


class CheaterProportionSerializer(DataclassSerializer):
    of = CheaterProportion
    help_texts: ClassVar = {"raw": "Before it was kept in [0, 1]; standard error and interval belong to it."}


class BootstrapSerializer(DataclassSerializer):
    of = BootstrapSummary


class EffectSerializer(DataclassSerializer):
    of = MarkedEffect
    only = (
        "treatment",
        "control",
        "method",
        "for_publication",
        *(one.name for one in fields(MarkedEffect) if one.name not in ("treatment", "control", "method", "for_publication")),
    )
    help_texts: ClassVar = {"for_publication": "False: it uses background answers, which the die does not protect."}


class EffectInGroupSerializer(DataclassSerializer):
    """The effect in a subgroup; the whole comparison says that it is not for publication."""

    of = Effect


class AssignmentSerializer(DataclassSerializer):
    of = AssignmentInference
    help_texts: ClassVar = {
        "clusters": "How many sections people with an answer were in.",
        "strata": "1: sections were drawn all together.",
        "degrees_of_freedom": "They are those of Student's t, for every effect.",
        "randomisation_p_values": "For every effect: how often a difference as large comes if the arms of the sections are drawn again.",
        "intraclass_correlation": "It is that of the reported answers.",
        "clusters_per_arm": "How many sections of one size those of each arm are worth.",
        "design_effect": "For every effect: how many times the variance of as many people who are assigned one by one.",
    }


class SequentialEffectSerializer(DataclassSerializer):
    of = MarkedSequentialEffect
    only = (
        *("treatment", "control", "method", "for_publication"),
        *("value", "interval", "honest_times_effect", "direction", "said_direction", "log_e_more", "log_e_fewer"),
    )
    said_direction = serializers.SerializerMethodField(
        help_text="`direction` where `interval` leaves out 0 on the same side, else 0: what pages say. 0 is undecided, not “no effect”."
    )
    help_texts: ClassVar = {
        "for_publication": "False: it uses background answers, which the die does not protect.",
        "direction": "The test alone: 1 or -1 where the sign of the effect is certain among all contrasts of the family, else 0. "
        "Pages and `said_direction` say it only where `interval` leaves out 0, too; report that one.",
        "log_e_more": "Logarithm of the e-value against an effect of zero or less.",
        "log_e_fewer": "Logarithm of the e-value against an effect of zero or more.",
    }

    def get_said_direction(self, effect: MarkedSequentialEffect) -> int:
        return beside(effect.interval, effect.direction)


class SequenceSerializer(DataclassSerializer):
    of = MarkedSequence
    help_texts: ClassVar = {
        "family": "The number of contrasts that share the error probability.",
        "waits_for": "Why there is nothing yet; null from the start of the sequence on.",
    }


class DifferenceSerializer(DataclassSerializer):
    of = Difference
    help_texts: ClassVar = {"difference": "In standard deviations."}


class BalanceSerializer(DataclassSerializer):
    of = Balance
    only = ("for_publication", "differences")
    help_texts: ClassVar = {"for_publication": "Always false: it uses background answers, which the die does not protect."}


class DirectOutcomeSerializer(DataclassSerializer):
    of = DirectOutcome
    only = ("question", "category", "prevalence", "differences", "under_reporting", "assumption", "notes")
    help_texts: ClassVar = {
        "category": "The named answer that yes stands for; null for yes/no questions.",
        "prevalence": "Null in an arm in which fewer than `smallest_cell` said yes, or no.",
        "under_reporting": "Share of yes by the die, of people who agreed too, minus the direct one.",
    }


class DirectGroupSerializer(DataclassSerializer):
    of = DirectGroup
    help_texts: ClassVar = {
        "ended": "Answers are counted only after the end of the study; before, `outcomes` is empty.",
        "for_publication": "Always false: these are exact counts of answers that no die protects.",
    }


class WorkSerializer(DataclassSerializer):
    of = Work
    only = ("status", "percent")


class ResultsSerializer(DataclassSerializer):
    of = ResultsDocument


class BlindingSerializer(serializers.Serializer[object]):
    on = serializers.BooleanField()


class FigureSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    svg = serializers.CharField(help_text="Its address.")
    png = serializers.CharField(help_text="Its address.")


class TableSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    csv = serializers.CharField(help_text="Its address.")


class FilesSerializer(serializers.Serializer[object]):
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

    def to_internal_value(self, data: object) -> float:
        number = None
        if isinstance(data, int | float | str) and not isinstance(data, bool):
            number = number_or_fraction(data, low=self.low, high=self.high)
        if number is None:
            raise serializers.ValidationError(
                _('Expected a number from %(low)s to %(high)s or a fraction like "2/6", found %(found)s.')
                % {"low": f"{self.low:g}", "high": f"{self.high:g}", "found": what_came(data, most=LONGEST_NUMBER)}
            )
        return number


class WholeField(NumberField):
    """A whole number within limits."""

    def to_internal_value(self, data: object) -> int:
        if not isinstance(data, int) or isinstance(data, bool) or not self.low <= data <= self.high:
            raise serializers.ValidationError(
                _("Expected a whole number from %(low)s to %(high)s, found %(found)s.")
                % {"low": f"{self.low:.0f}", "high": f"{self.high:.0f}", "found": what_came(data, most=LONGEST_NUMBER)}
            )
        return int(data)


class PlanRequestSerializer(serializers.Serializer[object]):
    """The options of `candor plan`, under the same names and with the same defaults."""

    design = serializers.DictField(help_text="A design document, as DESIGN.json for the command line.")
    effect = NumberField(low=-1, high=1, required=False, help_text="Difference of prevalence to control, of every treatment arm.")
    effects = serializers.DictField(
        child=NumberField(low=-1, high=1), required=False, help_text="By treatment arm; beats `effect`, which is for the arms not named."
    )
    prevalence = NumberField(low=0, high=1, default=0.4)
    cheaters = NumberField(source="cheater_proportion", low=0, high=1, default=0.0)
    cheaters_yes_rate = NumberField(source="cheater_yes_rate", low=0, high=1, default=None, allow_null=True)
    r_squared = NumberField(
        source="covariate_r_squared", low=0, high=1, default=0.0, help_text="Share of the variance of true answers that covariates explain."
    )
    n = WholeField(low=1, high=1_000_000_000, default=None, allow_null=True, help_text="Default: as many as `power` needs.")
    power = NumberField(low=0, high=1, default=0.8)
    half_width = NumberField(low=0, high=0.5, default=0.05, help_text="Half-width of the prevalence's interval, in a survey of one arm.")
    questions = WholeField(low=1, high=1000, default=1)
    epsilon_cap = NumberField(low=0, high=100, default=None, allow_null=True)
    level = NumberField(low=0, high=1, default=0.95)
    front = serializers.BooleanField(
        default=False, help_text="Whether to search designs of which none beats another in people, both errors and privacy."
    )
    cluster_size = NumberField(low=1, high=1_000_000, default=1.0, help_text="People in a section that is assigned as a whole.")
    icc = NumberField(
        source="intraclass_correlation", low=0, high=1, default=0.0, help_text="Intraclass correlation of the true answers of a section."
    )
    equivalence_margin = NumberField(low=0, high=1, default=None, allow_null=True, help_text="Also plan the test that effects are smaller.")
    non_inferiority = NumberField(
        low=0, high=1, default=None, allow_null=True, help_text="Also plan the test that no treatment is worse by this or more."
    )
    worse = serializers.ChoiceField(choices=("more_yes", "fewer_yes"), default=None, allow_null=True)
    least_truth = NumberField(low=0, high=0.95, default=0.25, help_text="Smallest share of rolls for the truth in these designs.")

    def validate_design(self, document: dict[str, object]) -> Design:
        for part, most in (("arms", MOST_ARMS), ("subsamples", MOST_SUBSAMPLES)):
            if isinstance(given := document.get(part), list | dict) and len(given) > most:
                raise serializers.ValidationError(
                    _("Expected at most %(most)s %(part)s, found %(found)s.") % {"most": most, "part": part, "found": len(given)}
                )
        try:
            return Design.from_document(document).of_yes_no()
        except MethodError as error:
            raise serializers.ValidationError(str(error)) from error

    def validate(self, data: dict[str, object]) -> dict[str, object]:
        design = cast(Design, data["design"])
        if not design.is_survey and "effect" not in data and not data.get("effects"):
            raise serializers.ValidationError({"effect": [_("Expected effect, effects or both, found neither.")]})
        return data

    def effects_by_arm(self) -> dict[str, float]:
        data = self.validated_data
        same = dict.fromkeys(data["design"].treatments, data["effect"]) if "effect" in data else {}
        return {**same, **data.get("effects", {})}
