"""The list of studies, where a study begins, and the same steps as on a study's page."""

from collections.abc import Iterable, Mapping, Sequence

from django.db.models import QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.exceptions import ValidationError
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.tokens.api_access import asked_choice, checked, person_of, refuse_unknown_names
from audit.services import record_once_a_day
from candor.errors import what_came
from surveys import actions
from surveys.access import OWNER_ROLES, Seat, access_own_study, access_study, studies_of
from surveys.drafting.starter import starter_document
from surveys.models import Study, StudyStatus
from surveys.protocols import definition_for, files_for
from surveys.request_bodies import DEFINITION_SCHEMA, BoundedForm, BoundedJson, JsonFile, YamlFile, ZipFile, body_of
from surveys.studies.examples import EXAMPLES, study_from_example
from surveys.studies.exchange import archive_of, duplicate_study, import_study, read_upload, slug_from, with_slug
from surveys.studies.forms import WORDS, take_action
from surveys.studies.gallery import study_from_template, templates
from surveys.studies.serializers import (
    ActionDataSerializer,
    BeginningSerializer,
    CopySerializer,
    ImportedStudySerializer,
    NewStudySerializer,
    StudyDetailSerializer,
    StudySerializer,
)
from surveys.studies.services import create_study
from surveys.study_file import define, study_from_outside


class InOneOrder(OrderingFilter):
    """Studies that are equal in what was asked for stand by their slugs: otherwise one could stand on two pages, and another on none."""

    def remove_invalid_fields(self, queryset: QuerySet[Study], fields: Iterable[str], view: APIView, request: Request) -> list[str]:
        asked = list(fields)
        known = super().remove_invalid_fields(queryset, asked, view, request)
        if len(known) < len(asked):
            told = {"choices": ", ".join(Studies.ordering_fields), "found": what_came(",".join(asked))}
            raise ValidationError({self.ordering_param: [_("Expected one of %(choices)s, found %(found)s.") % told]})
        return known

    def get_ordering(self, request: Request, queryset: QuerySet[Study], view: APIView) -> Sequence[str]:
        return [*(super().get_ordering(request, queryset, view) or ()), "slug"]


@extend_schema_view(
    get=extend_schema(
        operation_id="studies_list",
        parameters=[OpenApiParameter("status", str, enum=StudyStatus.values, description="Only studies of this status.")],
    )
)
class Studies(ListAPIView[Study]):
    """The studies that you may see: your own and those shared with you; for IRB officers all ever submitted; for administrators all."""

    writing_roles = OWNER_ROLES
    serializer_class = StudySerializer
    filter_backends = (SearchFilter, InOneOrder)
    search_fields = ("slug", "title")
    ordering_fields = ("slug", "title", "status", "created_on", "launched_on", "closed_on")
    parser_classes = (YamlFile, JsonFile)

    def get_queryset(self) -> QuerySet[Study]:
        studies = studies_of(person_of(self.request))
        status = asked_choice(self.request, "status", StudyStatus.values)
        return studies if status is None else studies.filter(status=status)

    @extend_schema(
        operation_id="studies_create",
        description="Read a study file, YAML or JSON, into a new draft. Its videos, captions and posters follow by `media/`.",
        request={"application/yaml": DEFINITION_SCHEMA, "application/json": DEFINITION_SCHEMA},
        responses={201: StudyDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        owner = person_of(request)
        study = create_study(definition=study_from_outside(body_of(request)), owner=owner)
        return new_study_answer(Seat(owner, study))


class StudyDetail(APIView):
    """One study: its definition, its status, its privacy loss, and the actions that you can take on it now."""

    @extend_schema(operation_id="studies_retrieve", responses=StudyDetailSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return study_answer(access_study(person_of(request), slug))


class StudyAction(APIView):
    """Take a step of a study's life, under the same guards as on its page: all steps but those of review are for people who run the study.

    `return`, `reject`, `suspend` and `lift` need a reason. `approve` takes a last day and conditions. With a `version`, a decision is
    refused if another version waits by now; with a `decision`, `lift` and `acknowledge` are refused if another one holds by now.
    """

    parser_classes = (BoundedJson, BoundedForm, MultiPartParser)

    @extend_schema(
        operation_id="studies_take_action",
        parameters=[OpenApiParameter("action", str, OpenApiParameter.PATH, enum=list(WORDS))],
        request=ActionDataSerializer,
        responses=StudyDetailSerializer,
        examples=[
            OpenApiExample(
                "approve", value={"version": 2, "valid_until": "2027-06-30", "conditions": "Only after the exams."}, request_only=True
            ),
            OpenApiExample(
                "launched", response_only=True, value={"slug": "lecture-videos", "status": "recruiting", "actions": ["pause", "close"]}
            ),
        ],
    )
    def post(self, request: Request, slug: str, action: str) -> Response:
        user = person_of(request)
        data = request.data if isinstance(request.data, Mapping) else {}
        refuse_unknown_names(ActionDataSerializer(), data)
        changed = take_action(access_study(user, slug), action, data)
        return study_answer(Seat(user, changed))


class Beginnings(APIView):
    """Where a study can begin without a file: from nothing, or with an example or a template."""

    roles = OWNER_ROLES

    @extend_schema(operation_id="studies_beginnings", responses=BeginningSerializer(many=True))
    def get(self, request: Request) -> Response:
        language = get_language() or "en"
        found = [{"name": name, "about": str(about), "published": ""} for name, about in EXAMPLES.items()]
        found += [{"name": one.name, "about": one.about.in_language(language), "published": one.source} for one in templates()]
        return Response(BeginningSerializer(found, many=True).data)

    @extend_schema(
        operation_id="studies_begin",
        request=NewStudySerializer,
        responses={201: StudyDetailSerializer},
        examples=[OpenApiExample("an example", request_only=True, value={"example": "lecture-videos"})],
    )
    def post(self, request: Request) -> Response:
        """Make a draft that is valid from the first minute, with gaps to fill."""
        owner = person_of(request)
        asked = checked(NewStudySerializer, request.data)
        return new_study_answer(Seat(owner, _begun(asked, owner)))


class ImportStudy(APIView):
    """A study file with its media, as the builder writes them into one ZIP file."""

    roles = OWNER_ROLES
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="studies_import",
        request={"multipart/form-data": ImportedStudySerializer},
        responses={201: StudyDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        """Read a study file, or a ZIP file with its media, into a new draft. Everything or nothing."""
        owner = person_of(request)
        asked = checked(ImportedStudySerializer, request.data)
        file, slug = asked.validated_data["file"], asked.validated_data["slug"]
        definition, media, _ignored, held = read_upload(file, name=file.name)
        with held:
            study = import_study(with_slug(definition, slug) if slug else definition, media=media, owner=owner)
        return new_study_answer(Seat(owner, study))


class StudyArchive(APIView):
    """The study file and its media as one ZIP file, which `studies_import` reads."""

    renderer_classes = (ZipFile,)

    @extend_schema(operation_id="studies_archive", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        user = person_of(request)
        seat = access_own_study(user, slug)
        archive = archive_of(definition_for(seat), files=files_for(seat))
        record_once_a_day(actor=user, action=actions.STUDY_EXPORTED, subject=seat.study)
        headers = {"Content-Disposition": f'attachment; filename="{slug}.zip"'}
        return StreamingHttpResponse(archive, content_type="application/zip", headers=headers)


class Duplicate(APIView):
    """A copy of a study as a new draft of yours, without anybody's answers."""

    roles = OWNER_ROLES

    @extend_schema(operation_id="studies_duplicate", request=CopySerializer, responses={201: StudyDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_own_study(user, slug)
        asked = checked(CopySerializer, request.data)
        copy = duplicate_study(definition_for(seat), files=files_for(seat), slug=asked.validated_data["slug"], owner=user)
        return new_study_answer(Seat(user, copy))


def study_answer(seat: Seat) -> Response:
    """A study, as this person may see it."""
    return Response(StudyDetailSerializer(seat.study, context={"seat": seat, "definition": definition_for(seat)}).data)


def new_study_answer(seat: Seat) -> Response:
    """The same for a study that was just made."""
    answer = study_answer(seat)
    answer.status_code, answer["Location"] = 201, reverse("surveys:api_study", args=[seat.study.slug])
    return answer


def _begun(asked: NewStudySerializer, owner: User) -> Study:
    given = asked.validated_data
    if name := given.get("example"):
        return (study_from_example if name in EXAMPLES else study_from_template)(name, owner=owner, slug=given["slug"])
    slug = given["slug"] or slug_from(given["title"])
    document = starter_document(slug=slug, title=given["title"], languages=given["languages"], survey=given["kind"] == "survey")
    return create_study(definition=define(document), owner=owner)
