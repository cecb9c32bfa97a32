"""Networks for programs: what is asked, and what it costs."""

from rest_framework import serializers

from analysis.learning.networks.forms import OF_CLASSES, OF_STUDENTS
from analysis.learning.one_loss import LARGEST_LOSS
from analysis.ledger.serializers import OfferSerializer

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
    question = serializers.JSONField(source="document", help_text="As it would be asked.")
    sentence = serializers.CharField()
    asked_before = serializers.BooleanField(source="preview.asked_before", help_text="The same answer again costs nothing.")
    pure_epsilon = serializers.FloatField(source="preview.loss.pure_epsilon", allow_null=True)
    rho = serializers.FloatField(source="preview.loss.rho")
    error = serializers.FloatField(source="half_width", help_text="± of each number, with 95 %.")
    mostly_noise = serializers.BooleanField(source="is_noise")


class NetworkAnswerSerializer(serializers.Serializer[object]):
    number = serializers.IntegerField(source="asked.charge.number", help_text="In the ledger.")
    question = serializers.JSONField(source="asked.charge.document")
    sentence = serializers.CharField()
    state = serializers.CharField(source="asked.state")
    answer = serializers.JSONField(source="asked.answer", allow_null=True, help_text="Null until a worker has answered.")
    reason = serializers.CharField(source="asked.reason", allow_blank=True)
