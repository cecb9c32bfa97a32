"""Topics for programs: the loss of the term in, previews and tables out."""

from rest_framework import serializers

from analysis.learning.one_loss import LARGEST_LOSS
from analysis.learning.topics.offers import Offer
from analysis.ledger.selectors import Asked
from analysis.ledger.serializers import OfferSerializer, offer_document


class TermLossSerializer(serializers.Serializer[object]):
    """Exactly one of the two."""

    epsilon = serializers.FloatField(required=False, max_value=LARGEST_LOSS, help_text="Pure ε of the whole term, with Laplace noise.")
    rho = serializers.FloatField(required=False, max_value=LARGEST_LOSS, help_text="ρ of the whole term, with Gaussian noise.")


class TopicsPreviewSerializer(OfferSerializer):
    weeks = serializers.IntegerField()
    topics_a_week = serializers.IntegerField(help_text="At most so many of one student.")
    a_week = serializers.FloatField(help_text="The loss of one week, in the unit that was asked for.")
    epsilon = serializers.FloatField(help_text="ε of the whole term, at the δ of the budget.")
    half_width = serializers.IntegerField(help_text="Half of a 95 % interval of each count.")
    is_noise = serializers.BooleanField()
    asked_before = serializers.BooleanField()


class TopicTablesSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(help_text="In the ledger.")
    state = serializers.CharField()
    rho = serializers.FloatField()
    pure_epsilon = serializers.FloatField(allow_null=True)
    answer = serializers.JSONField(allow_null=True, help_text="Null until a worker has answered.")
    reason = serializers.CharField(allow_blank=True)


def preview_document(offer: Offer) -> dict[str, object]:
    """The document that `TopicsPreviewSerializer` describes."""
    return {
        "weeks": offer.weeks,
        "topics_a_week": offer.cap,
        "a_week": offer.week,
        "epsilon": offer.epsilon,
        "half_width": offer.half_width,
        "is_noise": offer.is_noise,
        "asked_before": offer.preview.earlier is not None,
    } | offer_document(offer.preview)


def tables_document(asked: Asked) -> dict[str, object]:
    """The document that `TopicTablesSerializer` describes."""
    return {
        "number": asked.charge.number,
        "state": asked.state,
        "rho": asked.loss.rho,
        "pure_epsilon": asked.loss.pure_epsilon,
        "answer": asked.answer,
        "reason": asked.reason,
    }
