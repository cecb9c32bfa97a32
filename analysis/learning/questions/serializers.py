"""The desk for programs: question documents in, previews and answers out."""

from rest_framework import serializers

from analysis.learning.questions.desk import Line, Offer
from analysis.ledger.serializers import OfferSerializer, offer_document


class AskedQuestionSerializer(serializers.Serializer[object]):
    question = serializers.JSONField(help_text="A question document, as docs/analytics.md describes it; `kind` `true_yes` for the die.")
    error = serializers.FloatField(required=False, allow_null=True, help_text="Instead of epsilon or rho: exact to ± this much.")
    questions = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=100_000, help_text="Instead of epsilon or rho: an equal share for so many."
    )


class PreviewSerializer(OfferSerializer):
    question = serializers.JSONField(help_text="In canonical form, with what it spends.")
    sentence = serializers.CharField()
    free = serializers.BooleanField()
    asked_before = serializers.BooleanField()
    pure_epsilon = serializers.FloatField(allow_null=True)
    rho = serializers.FloatField()
    mechanism = serializers.CharField()
    error = serializers.FloatField(allow_null=True, help_text="± with 95 %; null for an exact answer.")
    mostly_noise = serializers.BooleanField()


class AnswerSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(help_text="In the ledger.")
    question = serializers.JSONField()
    sentence = serializers.CharField()
    state = serializers.CharField()
    answer = serializers.JSONField(allow_null=True, help_text="Null until a worker has answered.")
    reason = serializers.CharField()


def preview_document(offer: Offer) -> dict[str, object]:
    """The document that `PreviewSerializer` describes."""
    preview = offer.preview
    return {
        "question": offer.document,
        "sentence": offer.sentence,
        "free": offer.free,
        "asked_before": preview.earlier is not None,
        "pure_epsilon": preview.loss.pure_epsilon,
        "rho": preview.loss.rho,
        "mechanism": "" if offer.free else offer.noise,
        "error": offer.error,
        "mostly_noise": offer.mostly_noise,
    } | offer_document(preview)


def answer_document(line: Line) -> dict[str, object]:
    """The document that `AnswerSerializer` describes."""
    asked = line.asked
    return {
        "number": asked.charge.number,
        "question": asked.charge.document.get("question", asked.charge.document),
        "sentence": line.sentence,
        "state": asked.state,
        "answer": asked.answer,
        "reason": asked.reason,
    }
