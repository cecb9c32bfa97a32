"""Drafts as the API shows and takes them: translations, imports, history, files of arms."""

from rest_framework import serializers

from surveys.imports.choosing import BACKGROUND, DIE, NOT, OUTCOMES
from surveys.models import DraftRevision
from surveys.review.serializers import OutdatedTranslationSerializer
from surveys.stimuli.uploads import SLOTS

LARGEST_NUMBER = 2_000_000_000


class ImportSerializer(serializers.Serializer[object]):
    file = serializers.FileField(
        help_text="REDCap (CSV), Qualtrics (QSF), LimeSurvey (LSS), SurveyJS (JSON), or a table of questions (CSV)."
    )
    dry_run = serializers.BooleanField(default=True, help_text="The report alone. Send false to add the questions.")
    with_die = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=5000),
        default=list,
        help_text="Numbers of questions to be asked with the die.",
    )
    left_out = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=5000), default=list, help_text="Numbers of questions to be left out."
    )


class AttributeCountsSerializer(serializers.Serializer[object]):
    taken = serializers.IntegerField()
    changed = serializers.IntegerField()
    lost = serializers.IntegerField()


class OfferSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField()
    name = serializers.CharField(help_text="As the file calls it.")
    text = serializers.CharField()
    taken_as = serializers.ChoiceField([BACKGROUND, DIE, NOT])
    can_use_die = serializers.BooleanField()


class ImportLineSerializer(serializers.Serializer[object]):
    question = serializers.IntegerField(help_text="The number of its question, -1 for the rest of the file.")
    place = serializers.CharField()
    value = serializers.CharField(help_text="At most 200 characters of it.")
    outcome = serializers.ChoiceField(OUTCOMES)
    count = serializers.IntegerField(help_text="How many attributes share this line, which happens in very large files.")
    notes = serializers.ListField(child=serializers.CharField())


class ImportReportSerializer(serializers.Serializer[object]):
    """The report of a file. Its counts add up to all attributes."""

    kind = serializers.CharField()
    encoding = serializers.CharField()
    counts = AttributeCountsSerializer()
    added = serializers.IntegerField(help_text="How many questions were added; 0 in a dry run.")
    offers = OfferSerializer(many=True)
    lines = ImportLineSerializer(many=True)


class ExportLostSerializer(serializers.Serializer[object]):
    question = serializers.CharField()
    sentence = serializers.CharField()


class ExportSerializer(serializers.Serializer[object]):
    file = serializers.CharField(source="text")
    lost = ExportLostSerializer(many=True, help_text="All that does not come through.")


class TranslationsSerializer(serializers.Serializer[object]):
    outdated = OutdatedTranslationSerializer(many=True, help_text="A study can be submitted for review when there are none.")


class TranslationPlaceSerializer(serializers.Serializer[object]):
    place = serializers.CharField(max_length=200, help_text="As listed, such as `quiz[0].options[1].text`.")
    language = serializers.CharField(max_length=12)


class StillRightSerializer(serializers.Serializer[object]):
    still_right = TranslationPlaceSerializer(many=True, allow_empty=False, help_text="The translations that you have looked at.")


class RevisionSerializer(serializers.ModelSerializer[DraftRevision]):
    by = serializers.CharField(source="actor.username", default=None, allow_null=True, help_text="User name.")

    class Meta:
        model = DraftRevision
        fields = ("number", "part", "by", "at", "reverts")
        read_only_fields = fields


class TakeBackSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(min_value=1, max_value=LARGEST_NUMBER, help_text="Your last change, as the history numbers it.")


class RestoreSerializer(serializers.Serializer[object]):
    version = serializers.IntegerField(min_value=1, max_value=LARGEST_NUMBER, help_text="The number of a version in the history.")


class NewVersionSerializer(serializers.Serializer[object]):
    reason = serializers.CharField(max_length=2000, help_text="Why a new version is needed; it stays in the log.")


class ArmFileSerializer(serializers.Serializer[object]):
    file = serializers.FileField()
    place = serializers.ChoiceField(choices=list(SLOTS), help_text="Its place in what the arm shows.")
    language = serializers.CharField(max_length=12, default="", allow_blank=True, help_text="The language of captions.")
    page = serializers.CharField(max_length=100, default="", allow_blank=True, help_text="One of several pages of the arm.")
