"""Records that somebody brings, as programs declare them and as the API shows them."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from analysis.data_sets.declarations import LONGEST_ABOUT, MOST_COLUMNS
from analysis.data_sets.retention import usual_day
from analysis.data_sets.serializers import AboutSerializer
from analysis.models import DataSetStatus, PackageStatus
from analysis.packages.content import LONGEST_TITLE as LONGEST_AUTHOR
from analysis.packages.licences import LICENCES
from analysis.record_sets.declarations import CSV, RECORDS, XAPI, problem_of_file, problem_of_files
from analysis.record_sets.services import LONGEST_REASON, MOST_AUTHORS
from analysis.records.serializers import LONGEST_ATTRIBUTE, AttributeSerializer, SweepSerializer
from analysis.releases.protecting import LARGEST_CLASS, LARGEST_LEVEL, MOST_LEFT_OUT, USUAL
from analysis.serializers import NumberField, WholeField
from analysis.sources.records.rows import BroughtFile, BroughtRecords
from analysis.sources.records.values import ROLES
from analysis.sources.table_files import LONGEST_NAME


class DeclaredFileSerializer(serializers.Serializer[object]):
    """A file of a registrar or a department. Nothing is guessed: every column has a role."""

    name = serializers.CharField(max_length=LONGEST_NAME, help_text="For messages about it.")
    kind = serializers.ChoiceField((CSV, XAPI, RECORDS), help_text="json: records as docs/records.md describes them; they come alone.")
    group = serializers.CharField(
        max_length=40, required=False, default="", allow_blank=True, help_text="Name of a row below a student; empty: a row is a student."
    )
    key = serializers.CharField(
        max_length=LONGEST_NAME,
        required=False,
        default="",
        help_text="CSV: the column with the number of the student, which is thrown away.",
    )
    columns = serializers.ListField(
        child=serializers.CharField(), max_length=MOST_COLUMNS, required=False, default=list, help_text="CSV: the names of the first line."
    )
    roles = serializers.DictField(
        child=serializers.ChoiceField(ROLES),
        required=False,
        default=dict,
        help_text="The role of each column but the key and those in `on`; xAPI: activity, kind, grade.",
    )
    below = serializers.CharField(
        max_length=40, required=False, default="", allow_blank=True, help_text="The group of the rows to which a row belongs."
    )
    on = serializers.ListField(
        child=serializers.CharField(),
        max_length=MOST_COLUMNS,
        required=False,
        default=list,
        help_text="CSV: the columns, of the same names in both files, that say to which row of `below` a row belongs; thrown away. "
        "xAPI: the column of those rows that holds the last part of the address of context.contextActivities.parent.",
    )

    def validate(self, attrs: Any) -> dict[str, object]:
        file = BroughtFile(**{**attrs, "columns": tuple(attrs["columns"]), "on": tuple(attrs["on"]), "roles": dict(attrs["roles"])})
        if problem := problem_of_file(file):
            raise serializers.ValidationError(problem)
        return {"file": file}


class RecordsDeclarationSerializer(AboutSerializer):
    """Where the records come from, and their files in the order in which they are sent."""

    files = DeclaredFileSerializer(many=True)

    def validate(self, attrs: Any) -> dict[str, object]:
        files = [one["file"] for one in attrs.pop("files")]
        if problem := problem_of_files(files):
            raise serializers.ValidationError({"files": [problem]})
        return {"delete_on": usual_day(), **attrs, "brought": BroughtRecords(files=files)}


class BroughtRecordsSerializer(serializers.Serializer[object]):
    """The files and their declaration, as parts of one form."""

    declaration = RecordsDeclarationSerializer(help_text="JSON.")
    file = serializers.ListField(
        child=serializers.FileField(), help_text="Each file, in the order of the declaration; together at most 100 MB."
    )


class RecordRolesSerializer(serializers.Serializer[object]):
    roles = serializers.DictField(
        child=serializers.ChoiceField(ROLES), help_text="The role of every attribute. An identifier is dropped for ever."
    )


class RecordSetStepSerializer(serializers.Serializer[object]):
    """Parameters of some steps."""

    sha256 = serializers.CharField(
        max_length=64, required=False, help_text="The package that you saw: needed by request and approve, and taken by send-back."
    )
    about = serializers.CharField(
        max_length=LONGEST_ABOUT,
        required=False,
        help_text="Needed by describe. A package holds it, and is built again.",
    )
    delete_on = serializers.DateField(required=False, help_text="Needed by approve; by default of request the day that was declared.")
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, help_text="Needed by send-back and retract.")
    sure = serializers.BooleanField(default=False, help_text="Needed by delete: the rows are gone for ever.")


class RecordSetBuildSerializer(serializers.Serializer[object]):
    authors = serializers.ListField(child=serializers.CharField(max_length=LONGEST_AUTHOR), min_length=1, max_length=MOST_AUTHORS)
    licence = serializers.ChoiceField(choices=list(LICENCES), default="CC-BY-4.0")
    k = WholeField(low=2, high=LARGEST_CLASS, default=USUAL["k"])
    class_size = WholeField(low=2, high=LARGEST_CLASS, required=False, help_text="Default: k.")
    diversity = serializers.DictField(
        child=WholeField(low=0, high=LARGEST_LEVEL), default=dict, help_text="ℓ by sensitive attribute; 0 demands nothing."
    )
    suppress = NumberField(low=0, high=MOST_LEFT_OUT, default=USUAL["suppress"], help_text="Largest share of students left out.")

    anatomy = serializers.BooleanField(default=False, help_text="Shuffle sensitive values among those who look alike.")
    asked = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_ATTRIBUTE),
        max_length=100,
        default=list,
        help_text="Auxiliary attributes that an officer is asked to publish as they are.",
    )

    def choices(self) -> dict[str, object]:
        given = self.validated_data
        told = {name: given[name] for name in ("k", "suppress", "anatomy", "asked")}
        return {**told, "class_size": given.get("class_size", given["k"]), "l": given["diversity"]}


class RecordSetVerdictSerializer(serializers.Serializer[object]):
    """The checker about the package."""

    status = serializers.ChoiceField(choices=PackageStatus.choices)
    done = serializers.IntegerField(help_text="Per cent of the work.")
    error = serializers.CharField(allow_blank=True)
    holds = serializers.BooleanField(allow_null=True, help_text="Null: not built yet. A package that the checker refuses is never kept.")
    sha256 = serializers.CharField(allow_blank=True)
    records = serializers.JSONField(allow_null=True, help_text="Promise, loss and risks, as on the officer's page.")


class RecordSetSerializer(serializers.Serializer[object]):
    data_set = serializers.CharField()
    status = serializers.ChoiceField(choices=DataSetStatus.choices)
    students = serializers.IntegerField()
    attributes = AttributeSerializer(many=True)
    sweep = SweepSerializer(allow_null=True)
    verdict = RecordSetVerdictSerializer(allow_null=True)


def parts_missing(expected: int, found: int) -> str:
    """Why files and declaration do not fit; empty where they do."""
    if expected == found:
        return ""
    return _("Expected %(expected)s files, as many as are declared, found %(found)s.") % {"expected": expected, "found": found}
