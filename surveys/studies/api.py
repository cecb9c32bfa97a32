"""The list of studies, import of a study file, and the same steps as on a study's page."""

from collections.abc import Mapping

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Role
from accounts.tokens.api_access import asked_choice, person_of
from surveys.access import OWNER_ROLES, Seat, access_study, studies_of
from surveys.models import Study, StudyStatus
from surveys.protocols import definition_for
from surveys.request_bodies import BoundedForm, BoundedJson, JsonFile, YamlFile, body_of
from surveys.studies.forms import WORDS, take_action
from surveys.studies.serializers import ActionDataSerializer, StudyDetailSerializer, StudySerializer
from surveys.studies.services import create_study
from surveys.study_file import study_from_outside


class Studies(ListAPIView[Study]):
    """The studies that you may see: your own and those shared with you; for IRB officers all ever submitted; for administrators all."""

    roles = tuple(Role)
    writing_roles = OWNER_ROLES
    serializer_class = StudySerializer
    filter_backends = (SearchFilter, OrderingFilter)
    search_fields = ("slug", "title")
    ordering_fields = ("slug", "title", "status", "created_on", "launched_on", "closed_on")
    parser_classes = (YamlFile, JsonFile)

    def get_queryset(self) -> QuerySet[Study]:
        studies = studies_of(person_of(self.request))
        status = asked_choice(self.request, "status", StudyStatus.values)
        return studies if status is None else studies.filter(status=status)

    @extend_schema(
        operation_id="studies_list",
        parameters=[OpenApiParameter("status", str, enum=StudyStatus.values, description="Only studies of this status.")],
    )
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="studies_create",
        description="Read a study file, YAML or JSON, into a new draft. Its videos, captions and posters follow by `media/`.",
        request={"application/yaml": OpenApiTypes.OBJECT, "application/json": OpenApiTypes.OBJECT},
        responses={201: StudyDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        owner = person_of(request)
        study = create_study(definition=study_from_outside(body_of(request)), owner=owner)
        address = reverse("surveys:api_study", args=[study.slug])
        return Response(_detail(Seat(owner, study)), status=201, headers={"Location": address})


class StudyDetail(APIView):
    """One study: its definition, its status, its privacy loss, and the actions that you can take on it now."""

    roles = tuple(Role)

    @extend_schema(operation_id="studies_retrieve", responses=StudyDetailSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_detail(access_study(person_of(request), slug)))


class StudyAction(APIView):
    """Take a step of a study's life, under the same guards as on its page: all steps but those of review are for people who run the study.

    `return`, `reject`, `suspend` and `lift` need a reason. `approve` takes a last day and conditions. With a `version`, a decision is
    refused if another version waits by now.
    """

    parser_classes = (BoundedJson, BoundedForm, MultiPartParser)
    roles = tuple(Role)

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
        changed = take_action(access_study(user, slug), action, data)
        return Response(_detail(Seat(user, changed)))


def _detail(seat: Seat) -> dict[str, object]:
    return StudyDetailSerializer(seat.study, context={"seat": seat, "definition": definition_for(seat)}).data
