"""Data sets as the API shows them: what is declared and public, and no statistic; and as programs declare them."""

from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from analysis.data_sets.declarations import (
    LONGEST_ABOUT,
    LONGEST_TITLE,
    MOST_COLUMNS,
    MOST_ENTRIES,
    MOST_VALUES,
    MOST_WEEKS,
    problem_of_bounds,
    problem_of_columns,
    problem_of_entries,
    problem_of_language,
    problem_of_names,
    problem_of_topics,
    problem_of_values,
)
from analysis.data_sets.retention import typed_day, usual_day
from analysis.data_sets.sent_back import read_before
from analysis.data_sets.services import LONGEST_REASON
from analysis.models import DataSetAnalyst, DataSetInvitation, DataSetStatus, Holds
from analysis.sources.brought import BroughtColumn, BroughtTable, BroughtTexts, ColumnRole
from analysis.sources.seats import DataSetSeat
from analysis.sources.selectors import newest_snapshot, schema_of_snapshot
from analysis.sources.table_files import LONGEST_NAME
from surveys.questions.plans import LARGEST_BUDGET


class DataSetSerializer(serializers.Serializer[object]):
    slug = serializers.CharField()
    title = serializers.CharField()
    about = serializers.CharField()
    simulated = serializers.BooleanField(help_text="True: students of the example files, who are nobody. The title says so, too.")
    owner = serializers.CharField(source="owner.username", help_text="User name.")
    holds = serializers.ChoiceField(Holds.choices, help_text="Columns are asked about; records are published as protected ones.")
    status = serializers.ChoiceField(DataSetStatus.choices)
    students = serializers.IntegerField(help_text="Rows; this number is public.")
    epsilon = serializers.FloatField(allow_null=True, help_text="The budget that was asked for or approved.")
    delta = serializers.FloatField(allow_null=True)
    delete_on = serializers.DateField(allow_null=True, help_text="On this day the rows are deleted.")
    forgotten_on = serializers.DateField(allow_null=True, help_text="Since this day the rows are deleted.")


class SentBackSerializer(serializers.Serializer[object]):
    """`about` and what follows are what the officer had read; null where an earlier version of Candor did not note it."""

    by = serializers.CharField(help_text="User name of the officer.")
    on = serializers.DateField()
    reason = serializers.CharField()
    about = serializers.CharField(allow_null=True)
    epsilon = serializers.FloatField(allow_null=True)
    delta = serializers.FloatField(allow_null=True)
    delete_on = serializers.DateField(allow_null=True)


class OneDataSetSerializer(DataSetSerializer):
    sent_back = SentBackSerializer(allow_null=True, help_text="The newest time that an officer sent it back; null once it is approved.")
    columns = serializers.JSONField(help_text="Each column with its role, and the values or bounds that were declared.")
    topics_a_week = serializers.IntegerField(allow_null=True, help_text="Topics of one student in one week, at most; of texts only.")
    analysts = serializers.ListField(child=serializers.CharField(), allow_null=True, help_text="User names; null for analysts.")


def _sent_back(seat: DataSetSeat) -> dict[str, object] | None:
    data_set = seat.data_set
    if not data_set.reason or seat.is_named or data_set.decided_by is None:
        return None
    read = read_before(data_set)
    return {
        "by": data_set.decided_by.get_username(),
        "on": data_set.decided_on,
        "reason": data_set.reason,
        **{name: getattr(read, name, None) for name in ("about", "epsilon", "delta", "delete_on")},
    }


def one_data_set_document(seat: DataSetSeat) -> dict[str, object]:
    """The document that `OneDataSetSerializer` describes."""
    snapshot = newest_snapshot(seat.data_set.source)
    assert snapshot is not None
    shared = {**DataSetSerializer(seat.data_set).data, "sent_back": _sent_back(seat)}
    if seat.data_set.holds == Holds.RECORDS:
        assert snapshot.schema is not None
        return {**shared, "columns": snapshot.schema["attributes"], "topics_a_week": None, "analysts": []}
    schema = schema_of_snapshot(seat.data_set.source, snapshot.number)
    named = DataSetAnalyst.objects.filter(data_set=seat.data_set, approved_on__isnull=False)
    analysts = list(named.values_list("user__username", flat=True)) if seat.may_see_study else None
    return {
        **shared,
        "columns": [column.model_dump(mode="json", exclude_defaults=True) for column in schema.columns],
        "topics_a_week": schema.cap,
        "analysts": analysts,
    }


class DataSetAnalystSerializer(serializers.Serializer[object]):
    person = serializers.CharField(source="user.username", help_text="User name.")
    approved_on = serializers.DateField(allow_null=True, help_text="Null: an officer has not approved them yet.")


class DataSetInvitationSerializer(serializers.ModelSerializer[DataSetInvitation]):
    number = serializers.IntegerField(source="pk")

    class Meta:
        model = DataSetInvitation
        fields = ("number", "addressee", "last_day")
        read_only_fields = fields


class DataSetPeopleSerializer(serializers.Serializer[object]):
    data_set = serializers.CharField()
    owner = serializers.CharField(help_text="User name.")
    analysts = DataSetAnalystSerializer(many=True)
    invitations = DataSetInvitationSerializer(many=True, help_text="Those that can still be accepted.")


class InviteAnalystSerializer(serializers.Serializer[object]):
    addressee = serializers.CharField(max_length=254, help_text="An e-mail address, or the name of an account.")


def _above_zero(number: float) -> None:
    if number <= 0:
        raise serializers.ValidationError(_("Expected a number above 0, found %(found)s.") % {"found": f"{number:g}"})


class DataSetStepSerializer(serializers.Serializer[object]):
    """Parameters of some steps."""

    epsilon = serializers.FloatField(
        validators=[_above_zero],
        max_value=LARGEST_BUDGET,
        required=False,
        help_text="Needed by submit and by approve, which names the budget that was read, as send-back may do.",
    )
    delta = serializers.FloatField(validators=[_above_zero], required=False, help_text="As for epsilon; below 1 in ten times the students.")
    delete_on = serializers.DateField(required=False, help_text="As for epsilon; by default of submit the day that was declared.")
    about = serializers.CharField(
        max_length=LONGEST_ABOUT, required=False, help_text="Needed by describe, which writes it anew; otherwise as for epsilon."
    )
    analysts = serializers.ListField(
        child=serializers.CharField(max_length=150),
        max_length=1000,
        default=list,
        help_text="User names of waiting analysts, for approve and approve-analysts.",
    )
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, help_text="Needed by send-back.")
    sure = serializers.BooleanField(default=False, help_text="Needed by delete: the rows are gone for ever.")


class DeclaredColumnSerializer(serializers.Serializer[object]):
    """A column of a table, as the first line of the file names it."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    role = serializers.ChoiceField([role.value for role in ColumnRole])
    values = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_NAME),
        required=False,
        max_length=MOST_VALUES,
        help_text="All values that a category has.",
    )
    minimum = serializers.FloatField(required=False, help_text="The bounds of a number; values outside them are refused.")
    maximum = serializers.FloatField(required=False)
    several = serializers.BooleanField(default=False, help_text="Whether a student has a value in each of several rows.")

    def validate(self, attrs: Any) -> object:
        bounds = [attrs[end] for end in ("minimum", "maximum") if end in attrs]
        if attrs["role"] == ColumnRole.CATEGORY:
            _refuse(values=problem_of_values(attrs["name"], attrs.get("values", ())))
        if attrs["role"] == ColumnRole.NUMBER:
            _refuse(minimum=problem_of_bounds(attrs["name"], bounds))
        return attrs


class DeclaredRolesSerializer(serializers.Serializer[object]):
    """The columns of a file of texts; all others are left out."""

    student = serializers.CharField()
    week = serializers.CharField()
    text = serializers.CharField()


class DeclaredTableSerializer(serializers.Serializer[object]):
    """Quiz answers, background, or both. Every column has a role; nothing is guessed."""

    columns = DeclaredColumnSerializer(many=True)
    entries = serializers.IntegerField(
        default=1, min_value=1, max_value=MOST_ENTRIES, help_text="Rows of one student that count, where columns have several."
    )

    def validate(self, attrs: Any) -> dict[str, object]:
        columns = [
            BroughtColumn(**{**one, "role": ColumnRole(one["role"]), "values": tuple(one.get("values", ()))}) for one in attrs["columns"]
        ]
        _refuse(columns=problem_of_names([one.name for one in columns]) or problem_of_columns(columns))
        _refuse(entries=problem_of_entries(columns, attrs["entries"]))
        return {"brought": BroughtTable(columns=columns, entries=attrs["entries"])}


class DeclaredTextsSerializer(serializers.Serializer[object]):
    """Texts over a term, of which only topics and affect are kept."""

    names = serializers.ListField(child=serializers.CharField(), max_length=MOST_COLUMNS, help_text="The columns of the first line.")
    roles = DeclaredRolesSerializer()
    topics = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(max_length=100), max_length=1000), help_text="The words of each topic."
    )
    weeks = serializers.IntegerField(min_value=1, max_value=MOST_WEEKS)
    cap = serializers.IntegerField(min_value=1, max_value=MOST_WEEKS, help_text="Topics of one student in one week, at most.")
    language = serializers.CharField(help_text="en: affect is read by an English lexicon.")

    def validate(self, attrs: Any) -> dict[str, object]:
        names, roles, topics = attrs["names"], dict(attrs["roles"]), attrs["topics"]
        unknown = sorted({name for name in roles.values() if name not in names})
        twice = "" if len(set(roles.values())) == len(roles) else _("Each role needs a column of its own.")
        _refuse(names=problem_of_names(names), language=problem_of_language(attrs["language"]), topics=problem_of_topics(topics))
        _refuse(roles=_("Expected columns of the file, found %(names)s.") % {"names": ", ".join(unknown)[:200]} if unknown else twice)
        texts = BroughtTexts(names=names, roles=roles, topics=topics, weeks=attrs["weeks"], cap=min(attrs["cap"], len(topics)))
        return {"brought": texts}


class AboutSerializer(serializers.Serializer[object]):
    """Where data come from, and until when their rows are kept."""

    title = serializers.CharField(max_length=LONGEST_TITLE)
    about = serializers.CharField(max_length=LONGEST_ABOUT, help_text="Where the data come from, and what the students agreed to.")
    delete_on = serializers.DateField(required=False, help_text="The rows are deleted on this day; usually in a year.")

    def validate_delete_on(self, day: date) -> date:
        try:
            return typed_day(day.isoformat())
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


class DeclarationSerializer(AboutSerializer):
    """The content of a file, either as a table or as texts."""

    table = DeclaredTableSerializer(required=False)
    texts = DeclaredTextsSerializer(required=False)

    def validate(self, attrs: Any) -> dict[str, object]:
        declared = [attrs.pop(kind) for kind in ("table", "texts") if kind in attrs]
        if len(declared) != 1:
            raise serializers.ValidationError(_("Expected either a table or texts."))
        return {"delete_on": usual_day(), **attrs, **declared[0]}


class BroughtFileSerializer(serializers.Serializer[object]):
    """A file and its declaration, as two parts of one form."""

    declaration = DeclarationSerializer(help_text="JSON.")
    file = serializers.FileField(help_text="CSV in UTF-8 with a line of names, of at most 100 MB.")


def _refuse(**problems: str) -> None:
    if found := {field: [problem] for field, problem in problems.items() if problem}:
        raise serializers.ValidationError(found)
