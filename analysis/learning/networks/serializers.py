"""Networks for programs: what is asked, and what it costs."""

from rest_framework import serializers

from analysis.learning.networks.forms import OF_CLASSES, OF_STUDENTS
from analysis.learning.networks.offers import Offer, Released
from analysis.learning.one_loss import LARGEST_LOSS
from analysis.ledger.serializers import OfferSerializer, offer_document

KINDS = tuple(kind for kind, _label in (*OF_STUDENTS, *OF_CLASSES))


class AskedNetworkSerializer(serializers.Serializer[object]):
    """One release about who learns with whom, at a loss of `epsilon` or of `rho`."""

    kind = serializers.ChoiceField(choices=KINDS)
    circle = serializers.CharField(max_length=100, help_text="The question about friends, by its name.")
    classes = serializers.CharField(
        max_length=101,
        required=False,
        help_text="Names the class; for network_class_types and network_class_means.",
    )
    epsilon = serializers.FloatField(required=False, min_value=0, max_value=LARGEST_LOSS, help_text="Pure, with Laplace noise.")
    rho = serializers.FloatField(required=False, min_value=0, max_value=LARGEST_LOSS, help_text="zCDP, with Gaussian noise.")


class NetworkPreviewSerializer(OfferSerializer):
    question = serializers.JSONField(help_text="As it would be asked.")
    sentence = serializers.CharField()
    asked_before = serializers.BooleanField(help_text="The same answer again costs nothing.")
    pure_epsilon = serializers.FloatField(allow_null=True)
    rho = serializers.FloatField()
    error = serializers.FloatField(help_text="± of each number, with 95 %.")
    mostly_noise = serializers.BooleanField()


class NetworkAnswerSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(help_text="In the ledger.")
    question = serializers.JSONField()
    sentence = serializers.CharField()
    state = serializers.CharField()
    answer = serializers.JSONField(allow_null=True, help_text="Null until a worker has answered.")
    reason = serializers.CharField(allow_blank=True)


def preview_document(offer: Offer, asked: dict[str, object]) -> dict[str, object]:
    """The document that `NetworkPreviewSerializer` describes."""
    loss = offer.preview.loss
    return {
        "question": asked,
        "sentence": offer.sentence,
        "asked_before": offer.preview.earlier is not None,
        "pure_epsilon": loss.pure_epsilon,
        "rho": loss.rho,
        "error": offer.half_width,
        "mostly_noise": offer.is_noise,
    } | offer_document(offer.preview)


def answer_document(released: Released) -> dict[str, object]:
    """The document that `NetworkAnswerSerializer` describes."""
    asked = released.asked
    return {
        "number": asked.charge.number,
        "question": asked.charge.document,
        "sentence": released.sentence,
        "state": asked.state,
        "answer": asked.answer,
        "reason": asked.reason,
    }
