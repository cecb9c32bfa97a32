"""Codes as the API shows and takes them."""

from rest_framework import serializers


class EntryCodeCountsSerializer(serializers.Serializer[object]):
    total = serializers.IntegerField()
    spent = serializers.IntegerField(help_text="In whole tens while the study runs, the newest ten held back.")


class AddedCodesSerializer(serializers.Serializer[object]):
    added = serializers.IntegerField(help_text="How many of the codes are new.")


class CodesToCheckSerializer(serializers.Serializer[object]):
    codes = serializers.ListField(child=serializers.CharField(max_length=100), max_length=5000)


class CheckedCodeSerializer(serializers.Serializer[object]):
    code = serializers.CharField()
    genuine = serializers.BooleanField()
    repeated = serializers.BooleanField(help_text="It stands in the list more than once.")
