"""The changeable settings of an arm, as the API shows and takes them."""

from rest_framework import serializers

from surveys.models import ArmState
from surveys.questions.assignment import MOST_PARTICIPANTS


class ArmStateSerializer(serializers.ModelSerializer[ArmState]):
    class Meta:
        model = ArmState
        fields = ("arm", "quota", "closed")
        read_only_fields = fields


class ArmChangeSerializer(serializers.Serializer[object]):
    """Omitted fields stay as they are."""

    quota = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=MOST_PARTICIPANTS, help_text="Null: no limit.")
    closed = serializers.BooleanField(required=False)
