"""Media files as the API shows and takes them."""

from rest_framework import serializers

from surveys.models import MediaFile


class MediaFileSerializer(serializers.ModelSerializer[MediaFile]):
    class Meta:
        model = MediaFile
        fields = ("name", "media_type", "size", "sha256", "duration_seconds")
        read_only_fields = fields


class MediaUploadSerializer(serializers.Serializer[object]):
    file = serializers.FileField(
        help_text="A video (.mp4, .webm), a recording (.mp3, .m4a, .ogg), captions (.vtt), a picture (.png, .jpg, .webp) "
        "or the words of a language (.po)."
    )
    name = serializers.CharField(required=False, max_length=100, help_text="As in the study file; by default the name of the file.")
