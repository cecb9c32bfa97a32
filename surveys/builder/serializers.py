"""Outdated translations as the API shows and takes them."""

from rest_framework import serializers

from surveys.review.serializers import OutdatedTranslationSerializer


class TranslationsSerializer(serializers.Serializer[object]):
    outdated = OutdatedTranslationSerializer(many=True, help_text="A study can be submitted for review when there are none.")


class TranslationPlaceSerializer(serializers.Serializer[object]):
    place = serializers.CharField(max_length=200, help_text="As listed, such as `quiz[0].options[1].text`.")
    language = serializers.CharField(max_length=12)


class StillRightSerializer(serializers.Serializer[object]):
    still_right = TranslationPlaceSerializer(many=True, allow_empty=False, help_text="The translations that you have looked at.")
