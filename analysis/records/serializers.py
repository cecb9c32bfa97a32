"""Protected records as the API shows them before a release, and what it is told."""

from rest_framework import serializers

from analysis.models import ReleaseStatus, SweepStatus
from analysis.packages.content import LONGEST_TITLE
from analysis.packages.licences import LICENCES
from analysis.releases.protecting import LARGEST_CLASS, LARGEST_LEVEL, MOST_LEFT_OUT, USUAL
from analysis.releases.services import Choices
from analysis.serializers import NumberField, WholeField

PEOPLE, SIMULATED = "people", "simulated"
MOST_AUTHORS = 50


class SweepRequestSerializer(serializers.Serializer[object]):
    whose = serializers.ChoiceField(choices=(PEOPLE, SIMULATED), default=PEOPLE, help_text="The answers of people, or of bots.")


class BuildRequestSerializer(SweepRequestSerializer):
    title = serializers.CharField(max_length=LONGEST_TITLE)
    authors = serializers.ListField(child=serializers.CharField(max_length=LONGEST_TITLE), min_length=1, max_length=MOST_AUTHORS)
    licence = serializers.ChoiceField(choices=list(LICENCES), default="CC-BY-4.0")
    questions = serializers.ListField(child=serializers.CharField(max_length=100), min_length=1, max_length=100)
    k = WholeField(low=2, high=LARGEST_CLASS, required=False)
    class_size = WholeField(low=2, high=LARGEST_CLASS, required=False, help_text="Default: k.")
    diversity = serializers.DictField(
        child=WholeField(low=0, high=LARGEST_LEVEL), required=False, help_text="ℓ by sensitive question; 0 demands nothing."
    )
    suppress = NumberField(low=0, high=MOST_LEFT_OUT, required=False, help_text="Largest share of people left out.")
    as_labels = serializers.ListField(
        child=serializers.CharField(max_length=100),
        max_length=100,
        required=False,
        help_text="Sensitive questions treated as quasi-identifiers.",
    )
    anatomy = serializers.BooleanField(required=False, help_text="Shuffle sensitive values among those who look alike.")
    asked = serializers.ListField(
        child=serializers.CharField(max_length=100),
        max_length=100,
        required=False,
        help_text="Auxiliary questions that an officer is asked to publish as they are.",
    )
    reason = serializers.CharField(
        max_length=1000, default="", allow_blank=True, help_text="Why outside of the privacy budget, where the study has one."
    )

    def choices(self) -> Choices:
        """Without any parameter: the usual ones, or those that are public already."""
        given = self.validated_data
        names = {"diversity": "l"}
        chosen = ("k", "class_size", "diversity", "suppress", "as_labels", "anatomy", "asked")
        protection = {names.get(field, field): given[field] for field in chosen if field in given}
        if protection:
            protection = {**USUAL, "class_size": max(protection.get("k", USUAL["k"]), USUAL["class_size"]), **protection}
        return Choices(
            title=given["title"],
            authors=tuple(given["authors"]),
            licence=given["licence"],
            questions=tuple(given["questions"]),
            background="records",
            smallest_count=10,
            reason_for_exact_counts=given["reason"],
            simulated=given["whose"] == SIMULATED,
            protection=protection or None,
        )


class ConfirmRequestSerializer(serializers.Serializer[object]):
    attributes = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=1, max_length=100, help_text="Auxiliary questions, each by name."
    )


class AttributeSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    words = serializers.CharField()
    role = serializers.ChoiceField(choices=("quasi_identifier", "sensitive", "auxiliary"))
    hierarchy = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), allow_null=True, help_text="Labels of each value, up to `*`."
    )


class SweepPartSerializer(serializers.Serializer[object]):
    size = serializers.IntegerField(required=False, help_text="Class size; k may be anything up to it.")
    level = serializers.IntegerField(required=False, help_text="ℓ demanded of every sensitive question that allows it.")
    epsilon = serializers.FloatField(required=False, help_text="Instead of a class size: ε of all counts together, asked with noise.")
    desk = serializers.FloatField(required=False, allow_null=True, help_text="Average relative error of these counts.")
    queries = serializers.IntegerField(required=False, help_text="How many counts were asked.")
    left_out = serializers.IntegerField(required=False, help_text="Those of them whose true count is 0.")
    impossible = serializers.CharField(required=False, help_text="Why there is no such release; all else is missing then.")
    largest = serializers.DictField(child=serializers.IntegerField(), required=False, help_text="Largest ℓ by sensitive question.")
    loss = serializers.FloatField(required=False)
    blank = serializers.FloatField(required=False, help_text="Largest share of the values of a sensitive question that is not told.")
    error = serializers.FloatField(required=False, allow_null=True, help_text="Average relative error of counts.")
    with_totals = serializers.FloatField(required=False, allow_null=True, help_text="The same when totals of each answer are public.")
    insider = serializers.FloatField(required=False)
    prosecutor = serializers.FloatField(required=False)
    suppressed = serializers.IntegerField(required=False)


class SweepSerializer(serializers.Serializer[object]):
    status = serializers.ChoiceField(choices=SweepStatus.choices)
    error = serializers.CharField(allow_blank=True)
    parts = serializers.IntegerField()
    found = SweepPartSerializer(many=True)


class AnsweredSerializer(serializers.Serializer[object]):
    size = serializers.IntegerField(help_text="Class size.")
    error = serializers.FloatField(help_text="Average relative error, each answer below a label being equally likely.")
    with_totals = serializers.FloatField(help_text="The same when totals of each answer are public.")
    as_good_as = serializers.FloatField(allow_null=True, help_text="Smallest ε that was tried at which the desk is as good; null: none.")


class DeskSerializer(serializers.Serializer[object]):
    epsilon = serializers.FloatField(help_text="The budget of all counts together.")
    error = serializers.FloatField()


class RecordsOrQuerySerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    status = serializers.ChoiceField(choices=SweepStatus.choices, allow_null=True, help_text="Null: never tried.")
    queries = serializers.IntegerField(allow_null=True)
    left_out = serializers.IntegerField(allow_null=True, help_text="Queries whose true count is 0.")
    records = AnsweredSerializer(many=True)
    desk = DeskSerializer(many=True)


class VerdictSerializer(serializers.Serializer[object]):
    """The checker about the newest release with records."""

    version = serializers.IntegerField()
    status = serializers.ChoiceField(choices=ReleaseStatus.choices)
    error = serializers.CharField(allow_blank=True)
    holds = serializers.BooleanField(allow_null=True, help_text="Null: not built yet, or deleted.")
    records = serializers.JSONField(allow_null=True, help_text="Promise, loss and risks, as on the officer's page.")


class RecordsSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    attributes = AttributeSerializer(many=True)
    sweep = SweepSerializer(allow_null=True)
    verdict = VerdictSerializer(allow_null=True)
