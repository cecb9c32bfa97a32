"""Codes as the API shows and takes them."""

from rest_framework import serializers

from surveys.recruitment.made_codes import MOST


class EntryCodeCountsSerializer(serializers.Serializer[object]):
    total = serializers.IntegerField()
    spent = serializers.IntegerField(help_text="In whole tens while the study runs, and after it if it had several ways in.")


class AddedCodesSerializer(serializers.Serializer[object]):
    added = serializers.IntegerField(help_text="How many of the codes are new.")
    column = serializers.IntegerField(help_text="The column in which the codes stand, from 1.")


class HowManyCodesSerializer(serializers.Serializer[object]):
    count = serializers.IntegerField(min_value=1, max_value=MOST)
    section = serializers.CharField(
        required=False, max_length=3, help_text="Its number, where sections are assigned as a whole: the links then name it."
    )


class MadeCodeSerializer(serializers.Serializer[object]):
    code = serializers.CharField()
    link = serializers.CharField(help_text="Opens the study and fills the code in; the part behind # never reaches a server.")


class CodesToCheckSerializer(serializers.Serializer[object]):
    codes = serializers.ListField(child=serializers.CharField(max_length=100), max_length=5000)


class CheckedCodeSerializer(serializers.Serializer[object]):
    code = serializers.CharField()
    genuine = serializers.BooleanField()
    repeated = serializers.BooleanField(help_text="It stands in the list more than once.")
