"""The desk for programs: question documents in, previews and answers out."""

from rest_framework import serializers

from analysis.ledger.serializers import OfferSerializer


class AskedQuestionSerializer(serializers.Serializer[object]):
    question = serializers.JSONField(help_text="A question document, as docs/analytics.md describes it; `kind` `true_yes` for the die.")
    error = serializers.FloatField(required=False, allow_null=True, help_text="Instead of epsilon or rho: exact to ± this much.")
    questions = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=100_000, help_text="Instead of epsilon or rho: an equal share for so many."
    )


class PreviewSerializer(OfferSerializer):
    question = serializers.JSONField(source="document", help_text="In canonical form, with what it spends.")
    sentence = serializers.CharField()
    free = serializers.BooleanField()
    asked_before = serializers.BooleanField(source="preview.asked_before")
    pure_epsilon = serializers.FloatField(source="preview.loss.pure_epsilon", allow_null=True)
    rho = serializers.FloatField(source="preview.loss.rho")
    mechanism = serializers.CharField(source="noise")
    error = serializers.FloatField(allow_null=True, help_text="± with 95 %; null for an exact answer.")
    mostly_noise = serializers.BooleanField()


class AnswerSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(source="asked.charge.number", help_text="In the ledger.")
    question = serializers.JSONField(source="document")
    sentence = serializers.CharField()
    state = serializers.CharField(source="asked.state")
    answer = serializers.JSONField(
        source="asked.answer", allow_null=True, help_text="Null until a worker has answered; an exact one again once somebody withdrew."
    )
    reason = serializers.CharField(source="asked.reason")
