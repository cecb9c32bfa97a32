"""Difficulties for programs: choices in, previews and releases out."""

from django.utils.translation import gettext as _
from rest_framework import serializers

from analysis.learning.difficulties import LONGEST_REASON
from analysis.learning.difficulties_page import OMITTED, USUAL_SHARE
from analysis.ledger.serializers import OfferSerializer


class DifficultiesChoicesSerializer(serializers.Serializer[object]):
    share = serializers.FloatField(default=USUAL_SHARE, help_text="Percent of the whole budget, from above 0 to 100.")
    omitted = serializers.ChoiceField(
        [name for name, _label in OMITTED], default=OMITTED[0][0], help_text="An answer that was left out counts as this."
    )
    reason = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_REASON,
        help_text="Why it is released although it would be noise; repeated with it.",
    )

    def validate_share(self, share: float) -> float:
        if not 0 < share <= 100:
            found = {"found": f"{share:g}"}
            raise serializers.ValidationError(_("Write how many percent of the budget, from above 0 to 100, not “%(found)s”.") % found)
        return share


class DifficultiesPreviewSerializer(OfferSerializer):
    question = serializers.JSONField(source="question.document", help_text="The document that the ledger keeps.")
    mechanism = serializers.CharField(help_text="In words: the way that is more exact at this price.")
    pure_epsilon = serializers.FloatField(source="preview.loss.pure_epsilon", allow_null=True)
    rho = serializers.FloatField(source="preview.loss.rho")
    predicted_error = serializers.FloatField(source="error", help_text="Standard error of a difficulty, in logits.")
    is_noise = serializers.BooleanField(help_text="It would tell nothing, and needs a reason.")
    released_before = serializers.BooleanField(
        source="preview.asked_before", help_text="The same release is there; asking again costs nothing."
    )


class DifficultiesSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(source="asked.charge.number", help_text="In the ledger.")
    question = serializers.JSONField(source="asked.charge.document")
    mechanism = serializers.CharField()
    state = serializers.CharField(source="asked.state")
    reason = serializers.CharField(source="asked.reason", help_text="Why it has no answer.")
    rho = serializers.FloatField(source="asked.loss.rho")
    pure_epsilon = serializers.FloatField(source="asked.loss.pure_epsilon", allow_null=True)
    percent_of_budget = serializers.FloatField()
    answer = serializers.JSONField(source="found", allow_null=True, help_text="As in difficulties.json; null until a worker has answered.")
