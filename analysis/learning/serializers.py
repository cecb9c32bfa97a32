"""Difficulties for programs: choices in, previews and releases out."""

from django.utils.translation import gettext as _
from rest_framework import serializers

from analysis.learning.difficulties import LONGEST_REASON
from analysis.learning.difficulties_page import OMITTED, USUAL_SHARE, Offer, Released
from analysis.ledger.serializers import OfferSerializer, offer_document


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
    question = serializers.JSONField(help_text="The document that the ledger keeps.")
    mechanism = serializers.CharField(help_text="In words: the way that is more exact at this price.")
    pure_epsilon = serializers.FloatField(allow_null=True)
    rho = serializers.FloatField()
    predicted_error = serializers.FloatField(help_text="Standard error of a difficulty, in logits.")
    is_noise = serializers.BooleanField(help_text="It would tell nothing, and needs a reason.")
    released_before = serializers.BooleanField(help_text="The same release is there; asking again costs nothing.")


class DifficultiesSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(help_text="In the ledger.")
    question = serializers.JSONField()
    mechanism = serializers.CharField()
    state = serializers.CharField()
    reason = serializers.CharField(help_text="Why it has no answer.")
    rho = serializers.FloatField()
    pure_epsilon = serializers.FloatField(allow_null=True)
    percent_of_budget = serializers.FloatField()
    answer = serializers.JSONField(allow_null=True, help_text="As in difficulties.json; null until a worker has answered.")


def preview_document(offer: Offer) -> dict[str, object]:
    """The document that `DifficultiesPreviewSerializer` describes."""
    preview = offer.preview
    loss = preview.earlier.loss if preview.earlier else preview.loss
    return {
        "question": offer.question.document,
        "mechanism": offer.mechanism,
        "pure_epsilon": loss.pure_epsilon,
        "rho": loss.rho,
        "predicted_error": offer.error,
        "is_noise": offer.is_noise,
        "released_before": preview.earlier is not None,
    } | offer_document(preview)


def release_document(released: Released) -> dict[str, object]:
    """The document that `DifficultiesSerializer` describes."""
    asked = released.asked
    return {
        "number": asked.charge.number,
        "question": asked.charge.document,
        "mechanism": released.mechanism,
        "state": asked.state,
        "reason": asked.reason,
        "rho": asked.loss.rho,
        "pure_epsilon": asked.loss.pure_epsilon,
        "percent_of_budget": 100 * released.share,
        "answer": released.found,
    }
