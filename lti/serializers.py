"""Credit in courses as the API shows it."""

from rest_framework import serializers


class StudyCreditSerializer(serializers.Serializer[object]):
    gives_credit = serializers.BooleanField(help_text="Whether the study gives credit.")
    for_everybody = serializers.BooleanField(default=True, help_text="Whether students who do not take part have it, too.")
    key = serializers.CharField(read_only=True, help_text="SHA-256 of the key that signs credit; empty before there is one.")
    sent = serializers.IntegerField(read_only=True, help_text="How many credits were sent, in whole tens.")
    given_up = serializers.IntegerField(read_only=True, help_text="How many students' credit no platform took, at most: 10 is one to ten.")
