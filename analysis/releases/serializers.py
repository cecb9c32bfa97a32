"""API representations of public data."""

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analysis.models import Release


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    study = serializers.CharField(source="study.slug")
    published_on = serializers.DateField(source="decided_on")
    address = serializers.SerializerMethodField(help_text="Its page, for people.")
    package = serializers.SerializerMethodField(help_text="Its ZIP file; null once it is retracted.")
    simulated = serializers.BooleanField(help_text="True: made by bots.")

    class Meta:
        model = Release
        fields: tuple[str, ...] = (
            "study",
            "version",
            "title",
            "authors",
            "licence",
            "published_on",
            "simulated",
            "address",
            "package",
            "retracted_on",
        )
        read_only_fields = fields

    def get_address(self, release: Release) -> str:
        return self._absolute(reverse("analysis:public_release", args=[release.study.slug, release.version]))

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_package(self, release: Release) -> str | None:
        if release.retracted_on:
            return None
        return self._absolute(reverse("analysis:api_release_package", args=[release.study.slug, release.version]))

    def _absolute(self, path: str) -> str:
        found: str = self.context["request"].build_absolute_uri(path)
        return found


class FileSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    size = serializers.IntegerField(help_text="In bytes.")
    sha256 = serializers.CharField()


class ReleaseDetailSerializer(ReleaseSerializer):
    citation = serializers.CharField(source="summary.citation")
    description = serializers.CharField(source="summary.description")
    privacy = serializers.ListField(child=serializers.CharField(), source="summary.privacy_sentences")
    files = FileSerializer(many=True)
    retraction_reason = serializers.CharField(source="reason", allow_blank=True)

    class Meta(ReleaseSerializer.Meta):
        fields = (
            *ReleaseSerializer.Meta.fields,
            "citation",
            "description",
            "privacy",
            "questions",
            "background",
            "package_sha256",
            "files",
            "downloads",
            "retraction_reason",
        )
        read_only_fields = fields
