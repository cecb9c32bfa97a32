"""Review and protocols as the API shows them."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from surveys.models import SIGNED_PARTS, Comment, Decision, PacketSection
from surveys.request_bodies import DEFINITION_SCHEMA


@extend_schema_field(DEFINITION_SCHEMA)
class DefinitionField(serializers.DictField):
    """A study file as plain values."""


class DecisionSerializer(serializers.ModelSerializer[Decision]):
    version = serializers.IntegerField(source="protocol.version", help_text="Version of the protocol that was decided on.")
    decided_by = serializers.CharField(source="decided_by.username", help_text="User name of the officer.")
    acknowledged_by = serializers.CharField(source="acknowledged_by.username", default=None, allow_null=True)

    class Meta:
        model = Decision
        fields = (
            "id",
            "verdict",
            "version",
            "reason",
            "conditions",
            "valid_until",
            "submitted_on",
            "decided_by",
            "decided_on",
            "acknowledged_by",
            "acknowledged_on",
        )
        read_only_fields = fields


class CommentSerializer(serializers.ModelSerializer[Comment]):
    author = serializers.CharField(source="author.username", help_text="User name.")
    version = serializers.IntegerField(source="protocol.version", help_text="Version of the newest protocol at that time.")

    class Meta:
        model = Comment
        fields = ("section", "text", "resolves", "author", "version", "written_on")
        read_only_fields = fields


class NewCommentSerializer(serializers.Serializer[object]):
    section = serializers.ChoiceField(choices=PacketSection.choices)
    text = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000, help_text="Needed unless it resolves.")
    resolves = serializers.BooleanField(required=False, default=False, help_text="It ends the thread of its section; for officers.")
    version = serializers.IntegerField(required=False, help_text="The version of the protocol that you have read; by default the newest.")
    read = serializers.IntegerField(
        required=False, help_text="How many comments on the section you have read: a thread with a newer one is not ended."
    )


class ThreadSerializer(serializers.Serializer[object]):
    section = serializers.ChoiceField(choices=PacketSection.choices)
    is_open = serializers.BooleanField(help_text="Until a comment resolves it, and again with the next one.")
    comments = CommentSerializer(many=True)


class ConsentCountSerializer(serializers.Serializer[object]):
    version = serializers.IntegerField()
    agreed = serializers.IntegerField(help_text="Those who withdrew later had agreed.")
    declined = serializers.IntegerField()
    withdrew = serializers.IntegerField()


class SignedSerializer(serializers.Serializer[object]):
    part = serializers.ChoiceField(choices=SIGNED_PARTS, help_text="A section of the protocol, or a point of the checklist.")
    officers = serializers.ListField(child=serializers.CharField(), help_text="User names of those who signed it.")


class SignSerializer(serializers.Serializer[object]):
    version = serializers.IntegerField(min_value=1, help_text="The version that you have read; it must be the one that waits.")
    part = serializers.ChoiceField(choices=SIGNED_PARTS)
    signed = serializers.BooleanField(default=True, help_text="False takes your signature back.")


class AssignSerializer(serializers.Serializer[object]):
    reviewer = serializers.CharField(allow_blank=True, max_length=150, help_text="User name of an IRB officer; empty: nobody.")


class ReviewSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    status = serializers.CharField()
    suspended = serializers.BooleanField(help_text="By an officer, who alone can lift it.")
    submitted_version = serializers.IntegerField(allow_null=True, help_text="The version that waits for a decision.")
    submitted_on = serializers.DateField(allow_null=True)
    approved_until = serializers.DateField(allow_null=True)
    reviewer = serializers.CharField(allow_null=True, help_text="User name of the officer to whom the review is assigned.")
    signed = SignedSerializer(many=True, help_text="Every part of the version that waits, and the officers who signed it.")
    decisions = DecisionSerializer(many=True, help_text="The newest first.")
    threads = ThreadSerializer(many=True, help_text="Comments on each section that has any.")
    consents = ConsentCountSerializer(many=True, help_text="Counts for each version of the consent text that anybody decided about.")


class WaitingSerializer(serializers.Serializer[object]):
    study = serializers.CharField(source="study.slug")
    title = serializers.CharField(source="study.title")
    owner = serializers.CharField(source="study.owner.username", help_text="User name of the investigator.")
    kind = serializers.ChoiceField(
        choices=["protocol", "amendment", "renewal"],
        help_text="The protocol of a study that does not run yet; an amendment of one that runs; a renewal of its approval.",
    )
    version = serializers.IntegerField(source="study.submitted.version", help_text="The version that waits for a decision.")
    submitted_on = serializers.DateField(source="study.submitted_on")
    days = serializers.IntegerField(help_text="How long it has been waiting.")
    open_threads = serializers.IntegerField(help_text="Sections with comments that no officer has resolved.")
    own = serializers.BooleanField(help_text="You have a part in this study: another officer decides.")
    reviewer = serializers.CharField(
        source="reviewer.username", default=None, allow_null=True, help_text="User name of the officer to whom it is assigned."
    )


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
    translation = serializers.ChoiceField(
        choices=["", "outdated", "confirmed"],
        help_text="For a translation that stayed although its original changed: whether somebody looked at it since.",
    )


class PrivacyLimitSerializer(serializers.Serializer[object]):
    epsilon = serializers.FloatField(help_text="An approval of a study with a larger total ε needs a reason.")
    largest = serializers.FloatField(read_only=True, help_text="No study with a larger total ε is launched.")


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
    seconds = serializers.FloatField(allow_null=True, help_text="Duration of a video.")
    sha256 = serializers.CharField()


class OutdatedTranslationSerializer(serializers.Serializer[object]):
    place = serializers.CharField(help_text="As in the study file, such as `quiz[0].options[1].text`.")
    language = serializers.CharField()
    original = serializers.CharField(help_text="As it is now.")
    translation = serializers.CharField()


class ProtocolSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    version = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="SHA-256 of the definition and its files: another version has another one.")
    frozen_on = serializers.DateField(allow_null=True, help_text="Null for a draft.")
    versions = serializers.ListField(child=serializers.IntegerField(), help_text="All that were frozen.")
    reviewed_before = serializers.IntegerField(allow_null=True, help_text="The newest older version that officers decided on.")
    epsilon_per_question = serializers.FloatField(help_text="Privacy loss ε of one answer.")
    epsilon_total = serializers.FloatField(help_text="Privacy loss ε of one participant, all questions together.")
    identified = serializers.BooleanField(help_text="Whether the design identifies the effect.")
    assumption = serializers.CharField(help_text="Under which assumption about those who do not follow the die.")
    outdated_translations = OutdatedTranslationSerializer(many=True, help_text="Their originals were changed after they were translated.")
    files = ProtocolFileSerializer(many=True)
    definition = DefinitionField(help_text="As in the study file, without what is only default.")
