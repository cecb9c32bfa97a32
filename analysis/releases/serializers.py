"""Releases as the API shows them, in the making and once they are public, and what it is told about them."""

from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analysis.deposits.selectors import deposit_of
from analysis.models import BackgroundHandling, Release
from analysis.packages.content import LONGEST_TITLE
from analysis.packages.licences import LICENCES
from analysis.releases.protecting import LARGEST_CLASS, LARGEST_LEVEL, MOST_LEFT_OUT, USUAL
from analysis.releases.services import LONGEST_REASON, MOST_AUTHORS, SMALLEST_COUNTS, UNREADABLE, Choices
from analysis.serializers import NumberField, WholeField
from surveys.retention.release_plans import release_plans

PEOPLE, SIMULATED = "people", "simulated"
PROTECTION = ("k", "class_size", "diversity", "suppress", "as_labels", "anatomy", "asked")
USUAL_COUNT = int(SMALLEST_COUNTS[1])


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


class SweepRequestSerializer(serializers.Serializer[object]):
    whose = serializers.ChoiceField(choices=(PEOPLE, SIMULATED), default=PEOPLE, help_text="The answers of people, or of bots.")


class BuildRequestSerializer(SweepRequestSerializer):
    title = serializers.CharField(max_length=LONGEST_TITLE)
    authors = serializers.ListField(child=serializers.CharField(max_length=LONGEST_TITLE), min_length=1, max_length=MOST_AUTHORS)
    licence = serializers.ChoiceField(choices=list(LICENCES), default="CC-BY-4.0")
    questions = serializers.ListField(child=serializers.CharField(max_length=100), min_length=1, max_length=100)
    k = WholeField(low=2, high=LARGEST_CLASS, required=False)
    class_size = WholeField(low=2, high=LARGEST_CLASS, required=False, help_text="Default: k.")
    diversity = serializers.DictField(
        child=WholeField(low=0, high=LARGEST_LEVEL), required=False, help_text="ℓ by sensitive question; 0 demands nothing."
    )
    suppress = NumberField(low=0, high=MOST_LEFT_OUT, required=False, help_text="Largest share of people left out.")
    as_labels = serializers.ListField(
        child=serializers.CharField(max_length=100),
        max_length=100,
        required=False,
        help_text="Sensitive questions treated as quasi-identifiers.",
    )
    anatomy = serializers.BooleanField(required=False, help_text="Shuffle sensitive values among those who look alike.")
    asked = serializers.ListField(
        child=serializers.CharField(max_length=100),
        max_length=100,
        required=False,
        help_text="Auxiliary questions that an officer is asked to publish as they are.",
    )
    with_doi = serializers.BooleanField(default=False, help_text="Reserve a DOI with this server's service before the files are signed.")
    reason = serializers.CharField(
        max_length=1000, default="", allow_blank=True, help_text="Why outside of the privacy budget, where the study has one."
    )

    def validate_title(self, title: str) -> str:
        return _readable(title)

    def validate_authors(self, authors: list[str]) -> list[str]:
        return [_readable(author) for author in authors]

    def validate_reason(self, reason: str) -> str:
        return _readable(reason)

    def choices(self) -> Choices:
        """Without any parameter: the usual ones, or those that are public already."""
        given = self.validated_data
        names = {"diversity": "l"}
        protection = {names.get(field, field): given[field] for field in PROTECTION if field in given}
        if protection:
            protection = {**USUAL, "class_size": max(protection.get("k", USUAL["k"]), USUAL["class_size"]), **protection}
        return Choices(
            title=given["title"],
            authors=tuple(given["authors"]),
            licence=given["licence"],
            questions=tuple(given["questions"]),
            background=given.get("background", BackgroundHandling.RECORDS),
            smallest_count=given.get("smallest_count", USUAL_COUNT),
            reason_for_exact_counts=given["reason"],
            simulated=given["whose"] == SIMULATED,
            protection=protection or None,
            with_doi=given["with_doi"],
        )


class StartReleaseSerializer(BuildRequestSerializer):
    """The choices for a release. Those of protected records need `background` to be `records`."""

    background = serializers.ChoiceField(choices=BackgroundHandling.choices, default=BackgroundHandling.LEFT_OUT)
    smallest_count = serializers.ChoiceField(
        choices=[int(count) for count in SMALLEST_COUNTS],
        default=USUAL_COUNT,
        help_text="Smaller counts of background answers are hidden.",
    )

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if attrs["background"] != BackgroundHandling.RECORDS and (unfit := [name for name in PROTECTION if name in attrs]):
            raise serializers.ValidationError({name: [_("This is of protected records alone.")] for name in unfit})
        return attrs


class ConfirmRequestSerializer(serializers.Serializer[object]):
    attributes = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=1, max_length=100, help_text="Auxiliary questions, each by name."
    )
    sha256 = serializers.CharField(
        max_length=64, required=False, help_text="The package that you have looked at; another one is left alone."
    )


class ReleaseStepSerializer(serializers.Serializer[object]):
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, help_text="Needed by refuse and retract.")
    sha256 = serializers.CharField(
        max_length=64, required=False, help_text="The package that you have looked at: a decision is refused if it is another one by now."
    )
    attributes = serializers.ListField(
        child=serializers.CharField(max_length=200),
        max_length=100,
        required=False,
        help_text="Needed by confirm: auxiliary questions, each by name, to be published as they are.",
    )


class StudyReleaseSerializer(serializers.ModelSerializer[Release]):
    """A release as the people of its study and officers see it, before and after it is public."""

    number = serializers.IntegerField(source="pk", help_text="In addresses of this study's releases.")
    requested_by = serializers.CharField(source="requested_by.username", help_text="User name.")
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True, help_text="User name of the officer.")

    class Meta:
        model = Release
        fields: tuple[str, ...] = (
            "number",
            "version",
            "status",
            "title",
            "authors",
            "licence",
            "questions",
            "background",
            "smallest_count",
            "reason_for_exact_counts",
            "simulated",
            "requested_by",
            "requested_on",
            "decided_by",
            "decided_on",
            "reason",
            "retracted_on",
            "stage",
            "error",
            "package_sha256",
        )
        read_only_fields = fields


class ReleasePlanSerializer(serializers.Serializer[object]):
    version = serializers.IntegerField(help_text="The newest version of the protocol with this plan.")
    language = serializers.CharField(
        help_text="That of the text: the first of the study, or one in which this version said something else."
    )
    text = serializers.CharField()


class StudyReleaseDetailSerializer(StudyReleaseSerializer):
    """The context holds the `steps` open to the person who asks and the `preview` of the files."""

    files = FileSerializer(many=True)
    citation = serializers.SerializerMethodField()
    description = serializers.SerializerMethodField()
    privacy = serializers.SerializerMethodField()
    release_plans = serializers.SerializerMethodField(
        help_text="The plans of publication of all versions to which people could agree. A release must fit each."
    )
    steps = serializers.SerializerMethodField(help_text="The steps that you can take now.")
    header = serializers.SerializerMethodField(help_text="The columns of the rows.")
    rows = serializers.SerializerMethodField(
        help_text=(
            "The first rows; those of people only for officers before they are public. None before the package is built, nor in the answer "
            "to a step."
        )
    )
    counts = serializers.SerializerMethodField(help_text="All counts of background answers that are in it; likewise.")

    class Meta(StudyReleaseSerializer.Meta):
        fields = (
            *StudyReleaseSerializer.Meta.fields,
            "files",
            "citation",
            "description",
            "privacy",
            "release_plans",
            "steps",
            "header",
            "rows",
            "counts",
        )
        read_only_fields = fields

    def get_citation(self, release: Release) -> str:
        return str(release.summary.get("citation", ""))

    def get_description(self, release: Release) -> str:
        return str(release.summary.get("description", ""))

    def get_privacy(self, release: Release) -> list[str]:
        return list(release.summary.get("privacy_sentences", ()))

    @extend_schema_field(ReleasePlanSerializer(many=True))
    def get_release_plans(self, release: Release) -> list[dict[str, object]]:
        return [{"version": plan.version, "language": plan.language, "text": plan.text} for plan in release_plans(release.study)]

    def get_steps(self, release: Release) -> list[str]:
        return sorted(self.context["steps"])

    def get_header(self, release: Release) -> list[str]:
        return list(self.context["preview"].header)

    def get_rows(self, release: Release) -> list[list[str]]:
        return [list(row) for row in self.context["preview"].rows]

    def get_counts(self, release: Release) -> list[dict[str, str]]:
        return [dict(count) for count in self.context["preview"].counts]


def _readable(text: str) -> str:
    if UNREADABLE.search(text):
        raise serializers.ValidationError(_("Expected words without line breaks and control characters."))
    return text
