"""The preregistration as JSON."""

from rest_framework import serializers


class KeptPlanSerializer(serializers.Serializer[object]):
    version = serializers.IntegerField(help_text="The protocol's version.")
    sha256 = serializers.CharField()
    registered_on = serializers.DateField()
    text = serializers.CharField(help_text="The plan, a JSON document, as it was kept.")
