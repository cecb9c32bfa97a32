"""Codes as the API shows and takes them."""

from typing import Any

from rest_framework import serializers


class EntryCodeCountsSerializer(serializers.Serializer[Any]):
    total = serializers.IntegerField()
    spent = serializers.IntegerField()


class AddedCodesSerializer(serializers.Serializer[Any]):
    added = serializers.IntegerField(help_text="How many of the codes are new.")


class CodesToCheckSerializer(serializers.Serializer[Any]):
    codes = serializers.ListField(child=serializers.CharField(max_length=100), max_length=5000)


class CheckedCodeSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    genuine = serializers.BooleanField()
    repeated = serializers.BooleanField(help_text="It stands in the list more than once.")
