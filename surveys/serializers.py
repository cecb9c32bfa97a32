"""Studies as the API shows them."""

from typing import Any

from rest_framework import serializers

from audit.actions import registered
from audit.models import Entry
from surveys.models import RUNNING, ArmState, Comment, Decision, MediaFile, PacketSection, Study, StudyStatus
from surveys.studies.services import missing_before_review
from surveys.studies.study_actions import actions_of
from surveys.studies.study_steps import obstacles_to_recruiting
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
    """What some steps need to be told, for the description of the API; `surveys.studies.study_actions` checks it."""

    reason = serializers.CharField(required=False, max_length=5000, help_text="Needed by return, reject, suspend and lift.")
    valid_until = serializers.DateField(required=False, help_text="Last day of an approval: one year from now if left out, at most five.")
    conditions = serializers.CharField(required=False, max_length=5000, help_text="Of an approval; to be acknowledged before recruiting.")
    version = serializers.IntegerField(required=False, help_text="The version of the protocol that the officer has read.")


class StudyDetailSerializer(StudySerializer):
    """The context holds the `user` who asks and the `definition` that they may see."""

    definition = serializers.SerializerMethodField(help_text="As in the study file, without what is only default.")
    actions = serializers.SerializerMethodField(help_text="What you can do with the study now.")
    missing = serializers.SerializerMethodField(help_text="What a draft still lacks before it can be submitted, one sentence each.")
    obstacles = serializers.SerializerMethodField(help_text="Why an approved study must not take in participants now, one sentence each.")
    warnings = serializers.SerializerMethodField(help_text="What is allowed but should be known before anybody is recruited.")

    class Meta(StudySerializer.Meta):
        fields = (*StudySerializer.Meta.fields, "definition", "actions", "missing", "obstacles", "warnings")
        read_only_fields = fields

    def get_definition(self, study: Study) -> dict[str, Any]:
        return document_of(self.context["definition"])

    def get_actions(self, study: Study) -> list[str]:
        return list(actions_of(study, self.context["user"]))

    def get_missing(self, study: Study) -> list[str]:
        return missing_before_review(study) if study.status == StudyStatus.DRAFT else []

    def get_obstacles(self, study: Study) -> list[str]:
        return obstacles_to_recruiting(study) if study.status in (StudyStatus.APPROVED, *RUNNING) else []

    def get_warnings(self, study: Study) -> list[str]:
        return list(self.context["definition"].warnings())


class MediaFileSerializer(serializers.ModelSerializer[MediaFile]):
    class Meta:
        model = MediaFile
        fields = ("name", "media_type", "size", "sha256", "duration_seconds")
        read_only_fields = fields


class MediaUploadSerializer(serializers.Serializer[object]):
    file = serializers.FileField(help_text="A video (.mp4, .webm), captions (.vtt) or a picture (.png, .jpg, .webp).")
    name = serializers.CharField(required=False, max_length=100, help_text="As in the study file; by default the name of the file.")


class EntryCodeCountsSerializer(serializers.Serializer[object]):
    total = serializers.IntegerField()
    spent = serializers.IntegerField()


class AddedCodesSerializer(serializers.Serializer[object]):
    added = serializers.IntegerField(help_text="How many of the codes are new.")


class CodesToCheckSerializer(serializers.Serializer[object]):
    codes = serializers.ListField(child=serializers.CharField(max_length=100), max_length=5000)


class CheckedCodeSerializer(serializers.Serializer[object]):
    code = serializers.CharField()
    genuine = serializers.BooleanField()
    repeated = serializers.BooleanField(help_text="It stands in the list more than once.")


class ArmStateSerializer(serializers.ModelSerializer[ArmState]):
    class Meta:
        model = ArmState
        fields = ("arm", "quota", "closed")
        read_only_fields = fields


class ArmChangeSerializer(serializers.Serializer[object]):
    """What is left out stays as it is."""

    quota = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=1_000_000, help_text="Null: no limit.")
    closed = serializers.BooleanField(required=False)


class DecisionSerializer(serializers.ModelSerializer[Decision]):
    version = serializers.IntegerField(source="protocol.version", help_text="Of the protocol that was decided on.")
    decided_by = serializers.CharField(source="decided_by.username", help_text="User name of the officer.")
    acknowledged_by = serializers.CharField(source="acknowledged_by.username", default=None, allow_null=True)

    class Meta:
        model = Decision
        fields = (
            "verdict",
            "version",
            "reason",
            "conditions",
            "valid_until",
            "decided_by",
            "decided_on",
            "acknowledged_by",
            "acknowledged_on",
        )
        read_only_fields = fields


class CommentSerializer(serializers.ModelSerializer[Comment]):
    author = serializers.CharField(source="author.username", help_text="User name.")
    version = serializers.IntegerField(source="protocol.version", help_text="Of the protocol that was the newest then.")

    class Meta:
        model = Comment
        fields = ("section", "text", "resolves", "author", "version", "written_on")
        read_only_fields = fields


class NewCommentSerializer(serializers.Serializer[object]):
    section = serializers.ChoiceField(choices=PacketSection.choices)
    text = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000, help_text="Needed unless it resolves.")
    resolves = serializers.BooleanField(required=False, default=False, help_text="It ends the thread of its section; for officers.")


class ThreadSerializer(serializers.Serializer[object]):
    section = serializers.ChoiceField(choices=PacketSection.choices)
    is_open = serializers.BooleanField(help_text="Until a comment resolves it, and again with the next one.")
    comments = CommentSerializer(many=True)


class ConsentCountSerializer(serializers.Serializer[object]):
    version = serializers.IntegerField()
    agreed = serializers.IntegerField(help_text="Those who withdrew later had agreed.")
    declined = serializers.IntegerField()
    withdrew = serializers.IntegerField()


class ReviewSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    status = serializers.CharField()
    suspended = serializers.BooleanField(help_text="By an officer, who alone can lift it.")
    submitted_version = serializers.IntegerField(allow_null=True, help_text="The version that waits for a decision.")
    submitted_on = serializers.DateField(allow_null=True)
    approved_until = serializers.DateField(allow_null=True)
    decisions = DecisionSerializer(many=True, help_text="The newest first.")
    threads = ThreadSerializer(many=True, help_text="Of the sections on which anything was said.")
    consents = ConsentCountSerializer(many=True, help_text="Of the versions of the consent text that anybody decided about.")


class WaitingSerializer(serializers.Serializer[object]):
    study = serializers.CharField(source="study.slug")
    title = serializers.CharField(source="study.title")
    owner = serializers.CharField(source="study.owner.username", help_text="User name of the investigator.")
    kind = serializers.ChoiceField(
        choices=["protocol", "amendment", "renewal"], help_text="Of a study that does not run yet; of one that runs; of its approval."
    )
    version = serializers.IntegerField(source="study.submitted.version", help_text="The version that waits for a decision.")
    submitted_on = serializers.DateField(source="study.submitted_on")
    days = serializers.IntegerField(help_text="How long it has been waiting.")
    open_threads = serializers.IntegerField(help_text="Sections with comments that no officer has resolved.")
    own = serializers.BooleanField(help_text="You have a part in this study: another officer decides.")


class ReviewedStudySerializer(serializers.Serializer[object]):
    study = serializers.CharField(source="slug")
    title = serializers.CharField()
    approved_until = serializers.DateField(allow_null=True, help_text="Last day of the approval.")


class QueueSerializer(serializers.Serializer[object]):
    waiting = WaitingSerializer(many=True, help_text="The oldest first.")
    ending = ReviewedStudySerializer(many=True, help_text="Approvals that end within 60 days, or have ended.")
    suspended = ReviewedStudySerializer(many=True)


class ChangeSerializer(serializers.Serializer[object]):
    place = serializers.CharField(source="label", help_text="Where in the study file.")
    old = serializers.CharField(help_text="Empty: it was not there.")
    new = serializers.CharField(help_text="Empty: it is not there any more.")


class ChangedSectionSerializer(serializers.Serializer[object]):
    section = serializers.ChoiceField(choices=PacketSection.choices)
    changes = ChangeSerializer(many=True)


class ProtocolChangesSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    version = serializers.IntegerField()
    since = serializers.IntegerField(allow_null=True, help_text="The version compared with; null when there is none.")
    sections = ChangedSectionSerializer(many=True, help_text="Those in which anything differs.")


class ProtocolFileSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    media_type = serializers.CharField()
    seconds = serializers.FloatField(allow_null=True, help_text="Of a video.")
    sha256 = serializers.CharField()


class ProtocolSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    version = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Of the definition and its files: another version has another one.")
    frozen_on = serializers.DateField(allow_null=True, help_text="Null for a draft.")
    versions = serializers.ListField(child=serializers.IntegerField(), help_text="All that were frozen.")
    reviewed_before = serializers.IntegerField(allow_null=True, help_text="The newest older version that officers decided on.")
    epsilon_per_question = serializers.FloatField(help_text="Privacy loss ε of one answer.")
    epsilon_total = serializers.FloatField(help_text="Privacy loss ε of one participant, all questions together.")
    identified = serializers.BooleanField(help_text="Whether the design identifies the effect.")
    assumption = serializers.CharField(help_text="Under which assumption about those who do not follow the die.")
    files = ProtocolFileSerializer(many=True)
    definition = serializers.DictField(help_text="As in the study file, without what is only default.")


class LogFilterSerializer(serializers.Serializer[object]):
    """Which entries of the audit log are asked for."""

    kind = serializers.CharField(required=False, help_text="An action (“study.launched”), or the beginning of several (“study.”).")
    person = serializers.CharField(required=False, max_length=150, help_text="User name of whoever did it.")
    since = serializers.DateField(required=False, help_text="The first day.")
    until = serializers.DateField(required=False, help_text="The last day.")
    before = serializers.IntegerField(required=False, min_value=0, max_value=2**62, help_text="Only entries older than this one: `older`.")
    after = serializers.IntegerField(required=False, min_value=0, max_value=2**62, help_text="Only entries newer than this one: `newer`.")


class LogEntrySerializer(serializers.Serializer[object]):
    """One entry, as it stands in an exported file, and what its action means."""

    sequence = serializers.IntegerField()
    at = serializers.DateTimeField()
    actor_id = serializers.IntegerField(allow_null=True)
    actor_name = serializers.CharField(help_text="Empty: Candor itself.")
    action = serializers.CharField()
    meaning = serializers.SerializerMethodField()
    subject_kind = serializers.CharField()
    subject_id = serializers.CharField()
    details = serializers.JSONField()
    previous_hash = serializers.CharField()
    hash = serializers.CharField()

    def get_meaning(self, entry: Entry) -> str:
        return registered().get(entry.action, "")


class LogSerializer(serializers.Serializer[object]):
    """Some entries, the latest first."""

    entries = LogEntrySerializer(many=True)
    older = serializers.IntegerField(allow_null=True, help_text="Ask with `before` of this value for the entries before these.")
    newer = serializers.IntegerField(allow_null=True, help_text="Ask with `after` of this value for the entries after these.")
    left_out = serializers.ListField(
        child=serializers.CharField(), help_text="Studies in which you are a blinded viewer: what was done to them is not shown to you."
    )


class LogFindingSerializer(serializers.Serializer[object]):
    """What a check of the chain found; nothing yet, when a worker is at it."""

    intact = serializers.IntegerField(allow_null=True, help_text="How many entries are as they were written.")
    broken_at = serializers.IntegerField(allow_null=True, help_text="The first entry that is not.")
    finding = serializers.CharField(help_text="The same in words.")
