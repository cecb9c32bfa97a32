"""Short texts as the API shows them."""

from rest_framework import serializers


class WrittenSerializer(serializers.Serializer[object]):
    text = serializers.CharField()
    people = serializers.IntegerField()


class WordsSerializer(serializers.Serializer[object]):
    question = serializers.CharField()
    texts = WrittenSerializer(many=True, allow_null=True, help_text="In alphabetical order; null where too few people wrote something.")


class WrittenWordsSerializer(serializers.Serializer[object]):
    study = serializers.CharField()
    words = WordsSerializer(
        many=True, allow_null=True, help_text="Null while the study runs, once its data are deleted, and once somebody withdrew after it."
    )
