"""Studies as the API shows them."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from surveys.allocation.selectors import drawing_of
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.lifecycle.steps import obstacles_to_recruiting
from surveys.models import RUNNING, ListDrawing, Study, StudyStatus
from surveys.request_bodies import DEFINITION_SCHEMA
from surveys.studies.examples import EXAMPLES
from surveys.studies.gallery import NAMES as TEMPLATES
from surveys.studies.services import missing_before_review
from surveys.studies.study_actions import actions_of
from surveys.study_file import document_of

SLUG = r"^[a-z0-9][a-z0-9-]{1,49}\Z"
NO_SLUG: dict[str, Any] = {"invalid": gettext_lazy("Use 2 to 50 small letters, digits and hyphens.")}


class StudySerializer(serializers.ModelSerializer[Study]):
    owner = serializers.CharField(source="owner.username", help_text="User name of the investigator.")

    class Meta:
        model = Study
        fields: tuple[str, ...] = (
            "slug",
            "title",
            "owner",
            "status",
            "epsilon_per_question",
            "epsilon_total",
            "accepts_bots",
            "created_on",
            "launched_on",
            "closed_on",
            "submitted_on",
            "approved_until",
            "suspended",
        )
        read_only_fields = fields
        extra_kwargs = {  # noqa: RUF012  (as REST framework declares it)
            "epsilon_per_question": {"help_text": "Privacy loss ε of one answer."},
            "epsilon_total": {"help_text": "Privacy loss ε of one participant, all questions together."},
        }


class BeginningSerializer(serializers.Serializer[object]):
    name = serializers.CharField(help_text="To be sent as `example`.")
    about = serializers.CharField()
    published = serializers.CharField(allow_blank=True, help_text="The published study that asked something like it.")


class CopySerializer(serializers.Serializer[object]):
    slug = serializers.RegexField(
        SLUG, error_messages=NO_SLUG, help_text="The address of the new study: 2 to 50 small letters, digits and hyphens."
    )


class NewStudySerializer(serializers.Serializer[object]):
    """Either an example, or a title with kind and languages."""

    example = serializers.ChoiceField(choices=[*EXAMPLES, *TEMPLATES], required=False, help_text="An example or a template by its name.")
    title = serializers.CharField(max_length=200, required=False)
    kind = serializers.ChoiceField(choices=["experiment", "survey"], default="experiment")
    languages = serializers.ListField(
        child=serializers.ChoiceField(choices=list(LANGUAGE_NAMES)), min_length=1, max_length=len(LANGUAGE_NAMES), default=["en"]
    )
    slug = serializers.RegexField(
        SLUG,
        error_messages=NO_SLUG,
        default="",
        allow_blank=True,
        help_text="The address; by default one made of the title, or of the example's name.",
    )

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if ("example" in attrs) == ("title" in attrs):
            raise serializers.ValidationError({"title": [_("Expected either a title or the name of an example.")]})
        return attrs


class ImportedStudySerializer(serializers.Serializer[object]):
    file = serializers.FileField(help_text="A study file (YAML or JSON), or a ZIP file with it and its media.")
    slug = serializers.RegexField(
        SLUG, error_messages=NO_SLUG, default="", allow_blank=True, help_text="Another address than that of the file."
    )


class ActionDataSerializer(serializers.Serializer[object]):
    """Parameters of some steps, for the description of the API; the form of the step checks them."""

    reason = serializers.CharField(required=False, max_length=5000, help_text="Needed by return, reject, suspend and lift.")
    valid_until = serializers.DateField(required=False, help_text="Last day of an approval: one year from now if left out, at most five.")
    conditions = serializers.CharField(
        required=False, max_length=5000, help_text="Conditions of an approval; to be acknowledged before recruiting."
    )
    version = serializers.IntegerField(required=False, help_text="The version of the protocol that the officer has read.")
    decision = serializers.IntegerField(
        required=False, help_text="For lift and acknowledge: the `id` of the decision that was read; a later one is left alone."
    )


class DrawingSerializer(serializers.ModelSerializer[ListDrawing]):
    class Meta:
        model = ListDrawing
        fields = ("status", "stored", "lines", "error")
        read_only_fields = fields
        extra_kwargs = {  # noqa: RUF012  (as REST framework declares it)
            "stored": {"help_text": "How many lines of the list are stored."},
            "lines": {"help_text": "How many lines it will have. With the last one the study opens by itself."},
            "error": {"help_text": "Why it failed; empty otherwise."},
        }


class StudyDetailSerializer(StudySerializer):
    """The context holds the `seat` of the person who asks and the `definition` that they may see."""

    definition = serializers.SerializerMethodField(help_text="As in the study file, without what is only default.")
    actions = serializers.SerializerMethodField(help_text="Actions that you can take on the study now.")
    missing = serializers.SerializerMethodField(help_text="Gaps of a draft, to be filled before it can be submitted, one sentence each.")
    obstacles = serializers.SerializerMethodField(help_text="Why an approved study must not take in participants now, one sentence each.")
    warnings = serializers.SerializerMethodField(help_text="Warnings about permitted settings, to be read before anybody is recruited.")

    drawing = serializers.SerializerMethodField(help_text="The drawing of a long list for which a launch waits; else null.")

    class Meta(StudySerializer.Meta):
        fields = (*StudySerializer.Meta.fields, "definition", "actions", "missing", "obstacles", "warnings", "drawing")
        read_only_fields = fields

    @extend_schema_field(DEFINITION_SCHEMA)
    def get_definition(self, study: Study) -> dict[str, Any]:
        return document_of(self.context["definition"])

    def get_actions(self, study: Study) -> list[str]:
        return list(actions_of(self.context["seat"]))

    def get_missing(self, study: Study) -> list[str]:
        return missing_before_review(study) if study.status == StudyStatus.DRAFT else []

    def get_obstacles(self, study: Study) -> list[str]:
        return obstacles_to_recruiting(study) if study.status in (StudyStatus.APPROVED, *RUNNING) else []

    def get_warnings(self, study: Study) -> list[str]:
        return [str(warning) for warning in self.context["definition"].warnings()]

    @extend_schema_field(DrawingSerializer(allow_null=True))
    def get_drawing(self, study: Study) -> dict[str, Any] | None:
        found = drawing_of(study)
        return None if found is None else dict(DrawingSerializer(found).data)
