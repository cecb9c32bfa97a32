"""Studies as the API shows them."""

from typing import Any

from rest_framework import serializers

from surveys.models import Study
from surveys.selectors import definition_for
from surveys.services.studies import missing_before_review
from surveys.services.study_actions import actions_of
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
        )
        read_only_fields = fields
        extra_kwargs = {  # noqa: RUF012  (as REST framework declares it)
            "epsilon_per_question": {"help_text": "Privacy loss ε of one answer."},
            "epsilon_total": {"help_text": "Privacy loss ε of one participant, all questions together."},
        }


class StudyDetailSerializer(StudySerializer):
    definition = serializers.SerializerMethodField(help_text="As in the study file, without what is only default.")
    actions = serializers.SerializerMethodField(help_text="What you can do with the study now.")
    missing = serializers.SerializerMethodField(help_text="What a draft still lacks before it can be submitted, one sentence each.")
    warnings = serializers.SerializerMethodField(help_text="What is allowed but should be known before anybody is recruited.")

    class Meta(StudySerializer.Meta):
        fields = (*StudySerializer.Meta.fields, "definition", "actions", "missing", "warnings")
        read_only_fields = fields

    def get_definition(self, study: Study) -> dict[str, Any]:
        return document_of(definition_for(self.context["request"].user, study))

    def get_actions(self, study: Study) -> list[str]:
        return list(actions_of(study, self.context["request"].user))

    def get_missing(self, study: Study) -> list[str]:
        return missing_before_review(study) if study.status == "draft" else []

    def get_warnings(self, study: Study) -> list[str]:
        return definition_for(self.context["request"].user, study).warnings()
