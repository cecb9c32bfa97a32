"""Data sets as the API shows them: what is declared and public, and no statistic."""

from rest_framework import serializers

from analysis.data_sets.services import students_of
from analysis.models import DataSet, DataSetAnalyst, DataSetStatus
from analysis.sources.seats import DataSetSeat
from analysis.sources.selectors import newest_snapshot, schema_of_snapshot


class DataSetSerializer(serializers.Serializer[object]):
    slug = serializers.CharField()
    title = serializers.CharField()
    about = serializers.CharField()
    owner = serializers.CharField(help_text="User name.")
    status = serializers.ChoiceField(DataSetStatus.choices)
    students = serializers.IntegerField(help_text="Rows; this number is public.")
    epsilon = serializers.FloatField(allow_null=True, help_text="The budget that was asked for or approved.")
    delta = serializers.FloatField(allow_null=True)
    forgotten_on = serializers.DateField(allow_null=True, help_text="Since this day the rows are deleted.")


class OneDataSetSerializer(DataSetSerializer):
    columns = serializers.JSONField(help_text="Each column with its role, and the values or bounds that were declared.")
    topics_a_week = serializers.IntegerField(allow_null=True, help_text="Topics of one student in one week, at most; of texts only.")
    analysts = serializers.ListField(child=serializers.CharField(), allow_null=True, help_text="User names; null for analysts.")


def data_set_document(data_set: DataSet) -> dict[str, object]:
    """The document that `DataSetSerializer` describes."""
    return {
        "slug": data_set.slug,
        "title": data_set.title,
        "about": data_set.about,
        "owner": data_set.owner.get_username(),
        "status": data_set.status,
        "students": students_of(data_set),
        "epsilon": data_set.epsilon,
        "delta": data_set.delta,
        "forgotten_on": data_set.forgotten_on,
    }


def one_data_set_document(seat: DataSetSeat) -> dict[str, object]:
    """The document that `OneDataSetSerializer` describes."""
    snapshot = newest_snapshot(seat.data_set.source)
    assert snapshot is not None
    schema = schema_of_snapshot(seat.data_set.source, snapshot.number)
    named = DataSetAnalyst.objects.filter(data_set=seat.data_set, approved_on__isnull=False)
    analysts = list(named.values_list("user__username", flat=True)) if seat.may_see_study else None
    return {
        **data_set_document(seat.data_set),
        "columns": [column.model_dump(mode="json", exclude_defaults=True) for column in schema.columns],
        "topics_a_week": schema.cap,
        "analysts": analysts,
    }
