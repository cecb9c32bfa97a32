"""Ways in as the API shows them."""

from rest_framework import serializers


class EntranceNumbersSerializer(serializers.Serializer[object]):
    agreed = serializers.IntegerField()
    finished = serializers.IntegerField()
    declined = serializers.IntegerField()
    screened_out = serializers.IntegerField()


class EntranceSerializer(serializers.Serializer[object]):
    name = serializers.CharField(source="way.name")
    kind = serializers.CharField(source="way.kind")
    words = serializers.CharField(source="way.label", allow_null=True, help_text="Its words for staff.")
    address = serializers.CharField(help_text="Empty for panels, and for a class without a join code.")
    panel_address = serializers.CharField(help_text="The address to give to the panel, with the panel's own words in it.")
    join_code = serializers.CharField()
    ended = serializers.BooleanField(help_text="Whether an amendment has taken it away: it has no address any more.")
    numbers = EntranceNumbersSerializer(
        allow_null=True, help_text="In whole tens, renewed with all numbers of the study; null for the only way."
    )


class WayToRenewSerializer(serializers.Serializer[object]):
    way = serializers.CharField(max_length=50, help_text="The name of a class.")


class JoinCodeSerializer(serializers.Serializer[object]):
    way = serializers.CharField()
    code = serializers.CharField()
