"""Protected records as the API shows them before a release, and what it is told."""

from rest_framework import serializers

from analysis.models import ReleaseStatus, SweepStatus

LONGEST_ATTRIBUTE = 200


class RecordHierarchySerializer(serializers.Serializer[object]):
    attribute = serializers.CharField(max_length=LONGEST_ATTRIBUTE)
    hierarchy = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(max_length=200), max_length=32),
        allow_null=True,
        help_text="Labels of each value, from the value up to `*`; null: the suggested one again.",
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
    found = SweepPartSerializer(
        many=True, help_text="None in the answer to a step; of records that somebody brought, for their owner alone."
    )


class AnsweredSerializer(serializers.Serializer[object]):
    size = serializers.IntegerField(help_text="Class size.")
    error = serializers.FloatField(help_text="Average relative error, each answer below a label being equally likely.")
    with_totals = serializers.FloatField(help_text="The same when totals of each answer are public.")
    as_good_as = serializers.FloatField(allow_null=True, help_text="Smallest ε that was tried at which the desk is as good; null: none.")


class DeskSerializer(serializers.Serializer[object]):
    epsilon = serializers.FloatField(help_text="The budget of all counts together.")
    error = serializers.FloatField()


class RecordsOrQuerySerializer(serializers.Serializer[object]):
    study = serializers.CharField(allow_null=True)
    data_set = serializers.CharField(allow_null=True)
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
    records = serializers.JSONField(allow_null=True, help_text="Promise, loss and risks, as for officers; null in the answer to a step.")


class RecordsSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    attributes = AttributeSerializer(many=True)
    sweep = SweepSerializer(allow_null=True)
    verdict = VerdictSerializer(allow_null=True)
