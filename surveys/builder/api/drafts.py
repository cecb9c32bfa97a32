"""Around a draft: its history and the ways back, the files of its arms, and a new version of a frozen protocol."""

from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from surveys.access import Seat, access_own_study
from surveys.builder.api.definitions import DEFINITION, IF_MATCH, definition_answer, version_seen
from surveys.builder.serializers import (
    ArmFileSerializer,
    NewVersionSerializer,
    RestoreSerializer,
    RevisionSerializer,
    TakeBackSerializer,
)
from surveys.builder.services import put_arm_file, remove_arm_file, restore_version, take_back_change
from surveys.errors import ConcurrentEditError, PreconditionFailedError
from surveys.media.serializers import MediaFileSerializer
from surveys.models import Study
from surveys.protocols import definition_for
from surveys.revisions.selectors import versions_of
from surveys.studies.api import study_answer
from surveys.studies.serializers import StudyDetailSerializer
from surveys.studies.services import take_back

PAGE = OpenApiParameter("page", str, description="One of several pages of the arm; without it, what the arm itself shows.")


class History(APIView):
    """The last versions of the draft that are kept, the newest first."""

    @extend_schema(operation_id="studies_history", responses=RevisionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study = access_own_study(person_of(request), slug).study
        return Response(RevisionSerializer(versions_of(study), many=True).data)


class TakeBackChange(APIView):
    """Take back your last change, or make again the one that you took back last. Changes of others since then stay."""

    @extend_schema(operation_id="studies_take_back_change", request=TakeBackSerializer, responses=DEFINITION)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(TakeBackSerializer, request.data)
        take_back_change(study, number=asked.validated_data["number"], actor=user)
        study.refresh_from_db()
        return definition_answer(study.definition, slug)


class RestoreVersion(APIView):
    """Make the draft what it was in one of its versions."""

    @extend_schema(operation_id="studies_restore_version", parameters=[IF_MATCH], request=RestoreSerializer, responses=DEFINITION)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(RestoreSerializer, request.data)
        version = study.revisions.filter(number=asked.validated_data["version"]).first()
        if version is None:
            raise Http404("There is no such version of the draft.")
        try:
            changed = restore_version(study, version=version, seen=version_seen(study, request), actor=user)
        except ConcurrentEditError as error:
            raise PreconditionFailedError from error
        return definition_answer(changed.definition, slug)


class NewVersion(APIView):
    """Make a study that waits for a decision or is approved a draft again, for a new version of its protocol."""

    @extend_schema(operation_id="studies_new_version", request=NewVersionSerializer, responses=StudyDetailSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(NewVersionSerializer, request.data)
        return study_answer(Seat(user, take_back(study, actor=user, reason=asked.validated_data["reason"])))


class ArmFiles(APIView):
    """The files of an arm: given a place, a file is kept under a name of its own, and the definition names it."""

    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="studies_put_arm_file",
        request={"multipart/form-data": ArmFileSerializer},
        responses={201: MediaFileSerializer},
    )
    def post(self, request: Request, slug: str, arm: str) -> Response:
        """Check a file and put it in its place, where it replaces the older one."""
        user = person_of(request)
        seat = access_own_study(user, slug)
        study = _with_arm(seat, arm)
        asked = checked(ArmFileSerializer, request.data)
        given, languages = asked.validated_data, definition_for(seat).languages
        if given["place"] == "captions" and given["language"] not in languages:
            expected = {"languages": ", ".join(languages), "found": given["language"] or _("none")}
            raise ValidationError({"language": [_("Expected one of %(languages)s, found %(found)s.") % expected]})
        named = {name: given[name] for name in ("page", "language")}
        media = put_arm_file(study, arm=arm, kind=given["place"], content=given["file"], actor=user, **named)
        return Response(MediaFileSerializer(media).data, status=201)


class ArmFile(APIView):
    """One file of an arm."""

    @extend_schema(
        operation_id="studies_remove_arm_file",
        parameters=[PAGE, OpenApiParameter("name", OpenApiTypes.STR, OpenApiParameter.PATH)],
        responses={204: None},
    )
    def delete(self, request: Request, slug: str, arm: str, name: str) -> Response:
        """Take a file out of a draft's arm. Without one that it needs, the draft cannot be submitted."""
        user = person_of(request)
        study = _with_arm(access_own_study(user, slug), arm)
        remove_arm_file(study, arm=arm, page=request.query_params.get("page", ""), name=name, actor=user)
        return Response(status=204)


def _with_arm(seat: Seat, arm: str) -> Study:
    if arm not in (one.name for one in definition_for(seat).arms):
        raise Http404("There is no such arm.")
    return seat.study
