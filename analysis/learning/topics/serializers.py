"""Topics for programs: the loss of the term in, previews and tables out."""

from rest_framework import serializers

from analysis.learning.one_loss import LARGEST_LOSS
from analysis.ledger.serializers import OfferSerializer


class TermLossSerializer(serializers.Serializer[object]):
    """Exactly one of the two."""

    epsilon = serializers.FloatField(required=False, max_value=LARGEST_LOSS, help_text="Pure ε of the whole term, with Laplace noise.")
    rho = serializers.FloatField(required=False, max_value=LARGEST_LOSS, help_text="ρ of the whole term, with Gaussian noise.")


class TopicsPreviewSerializer(OfferSerializer):
    weeks = serializers.IntegerField()
    topics_a_week = serializers.IntegerField(source="cap", help_text="At most so many of one student.")
    a_week = serializers.FloatField(source="week", help_text="The loss of one week, in the unit that was asked for.")
    epsilon = serializers.FloatField(help_text="ε of the whole term, at the δ of the budget.")
    half_width = serializers.IntegerField(help_text="Half of a 95 % interval of each count.")
    is_noise = serializers.BooleanField()
    asked_before = serializers.BooleanField(source="preview.asked_before")


class TopicTablesSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(source="charge.number", help_text="In the ledger.")
    state = serializers.CharField()
    rho = serializers.FloatField(source="loss.rho")
    pure_epsilon = serializers.FloatField(source="loss.pure_epsilon", allow_null=True)
    answer = serializers.JSONField(allow_null=True, help_text="Null until a worker has answered.")
    reason = serializers.CharField(allow_blank=True)
