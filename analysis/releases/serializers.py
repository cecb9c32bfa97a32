"""API representations of public data."""

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analysis.deposits.selectors import deposit_of
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


class CreatorSerializer(serializers.Serializer[object]):
    name = serializers.CharField(help_text="“Family, Given” is a person; any other name is taken as it is.")
    orcid = serializers.CharField(required=False)
    institution = serializers.CharField(required=False)
    ror = serializers.URLField(required=False)
    roles = serializers.ListField(child=serializers.CharField(), required=False, help_text="From the Contributor Role Taxonomy.")


class GrantSerializer(serializers.Serializer[object]):
    funder = serializers.CharField()
    ror = serializers.URLField(required=False)
    award = serializers.CharField(required=False)


class PublicationSerializer(serializers.Serializer[object]):
    """As in a study file; what is not known is left out."""

    creators = CreatorSerializer(many=True)
    funding = GrantSerializer(many=True, required=False)
    keywords = serializers.ListField(child=serializers.CharField(), required=False)
    contact = serializers.DictField(child=serializers.CharField(), required=False)
    collected = serializers.DictField(child=serializers.CharField(), required=False)


class FileSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    size = serializers.IntegerField(help_text="In bytes.")
    sha256 = serializers.CharField()


class ReleaseDetailSerializer(ReleaseSerializer):
    citation = serializers.CharField(source="summary.citation")
    description = serializers.CharField(source="summary.description")
    privacy = serializers.ListField(child=serializers.CharField(), source="summary.privacy_sentences")
    publication = serializers.SerializerMethodField(help_text="Authors, funding, keywords, contact and months of the collection.")
    doi = serializers.SerializerMethodField(help_text="Empty until it is registered.")
    files = FileSerializer(many=True)
    retraction_reason = serializers.CharField(source="reason", allow_blank=True)

    class Meta(ReleaseSerializer.Meta):
        fields = (
            *ReleaseSerializer.Meta.fields,
            "citation",
            "description",
            "privacy",
            "publication",
            "doi",
            "questions",
            "background",
            "package_sha256",
            "files",
            "downloads",
            "retraction_reason",
        )
        read_only_fields = fields

    @extend_schema_field(PublicationSerializer)
    def get_publication(self, release: Release) -> dict[str, object]:
        return release.described.model_dump(mode="json", exclude_defaults=True)

    def get_doi(self, release: Release) -> str:
        deposit = deposit_of(release)
        return deposit.doi if deposit is not None and deposit.published_on else ""
