"""Studies as the API shows them."""

from typing import Any

from rest_framework import serializers

from surveys.lifecycle.steps import obstacles_to_recruiting
from surveys.models import RUNNING, Study, StudyStatus
from surveys.studies.services import missing_before_review
from surveys.studies.study_actions import actions_of
from surveys.study_file import document_of


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


class ActionDataSerializer(serializers.Serializer[object]):
    """Parameters of some steps, for the description of the API; the form of the step checks them."""

    reason = serializers.CharField(required=False, max_length=5000, help_text="Needed by return, reject, suspend and lift.")
    valid_until = serializers.DateField(required=False, help_text="Last day of an approval: one year from now if left out, at most five.")
    conditions = serializers.CharField(
        required=False, max_length=5000, help_text="Conditions of an approval; to be acknowledged before recruiting."
    )
    version = serializers.IntegerField(required=False, help_text="The version of the protocol that the officer has read.")


class StudyDetailSerializer(StudySerializer):
    """The context holds the `seat` of the person who asks and the `definition` that they may see."""

    definition = serializers.SerializerMethodField(help_text="As in the study file, without what is only default.")
    actions = serializers.SerializerMethodField(help_text="Actions that you can take on the study now.")
    missing = serializers.SerializerMethodField(help_text="Gaps of a draft, to be filled before it can be submitted, one sentence each.")
    obstacles = serializers.SerializerMethodField(help_text="Why an approved study must not take in participants now, one sentence each.")
    warnings = serializers.SerializerMethodField(help_text="Warnings about permitted settings, to be read before anybody is recruited.")

    class Meta(StudySerializer.Meta):
        fields = (*StudySerializer.Meta.fields, "definition", "actions", "missing", "obstacles", "warnings")
        read_only_fields = fields

    def get_definition(self, study: Study) -> dict[str, Any]:
        return document_of(self.context["definition"])

    def get_actions(self, study: Study) -> list[str]:
        return list(actions_of(self.context["seat"]))

    def get_missing(self, study: Study) -> list[str]:
        return missing_before_review(study) if study.status == StudyStatus.DRAFT else []

    def get_obstacles(self, study: Study) -> list[str]:
        return obstacles_to_recruiting(study) if study.status in (StudyStatus.APPROVED, *RUNNING) else []

    def get_warnings(self, study: Study) -> list[str]:
        return list(self.context["definition"].warnings())
