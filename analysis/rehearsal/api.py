"""Rehearsals for programs: send bots through a sandbox copy of a study, and read whether what was planted is found."""

from django.utils.translation import get_language
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from analysis.rehearsal.page import rehearsal_view
from analysis.rehearsal.serializers import PlantedSerializer, RehearsalStateSerializer
from surveys.access import access_own_study
from surveys.models import Study
from surveys.protocols import protocol_view_for
from surveys.rehearsal.selectors import rehearsal_of
from surveys.rehearsal.services import delete_rehearsal, rehearse, stop_rehearsal


class Rehearsal(APIView):
    """The sandbox copy of a study, in which only bots walk: how far they are, what was planted in them, and what was found."""

    @extend_schema(operation_id="studies_rehearsal", responses=RehearsalStateSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_state(access_own_study(person_of(request), slug).study))

    @extend_schema(
        operation_id="studies_rehearse",
        description="Send bots. The new rehearsal takes the place of an older one. Shares are proportions, or fractions such as `1/10`.",
        request=PlantedSerializer,
        responses={202: RehearsalStateSerializer},
        examples=[
            OpenApiExample(
                "400 bots", request_only=True, value={"bots": 400, "prevalence": 0.4, "effect": 0.2, "cheaters": "1/10", "dropout": 0.05}
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        seat = access_own_study(user, slug)
        asked = checked(PlantedSerializer, request.data)
        protocol = protocol_view_for(seat)
        rehearse(seat.study, protocol=protocol, planted=asked.planted(compares=not protocol.definition.is_survey), actor=user)
        return Response(_state(seat.study), status=202)

    @extend_schema(operation_id="studies_delete_rehearsal", request=None, responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Take the sandbox copy away with everything in it; there may be none."""
        user = person_of(request)
        delete_rehearsal(access_own_study(user, slug).study, actor=user)
        return Response(status=204)


class StopRehearsal(APIView):
    """Send no further bots; those who are on their way come to their end. There may be none."""

    @extend_schema(operation_id="studies_stop_rehearsal", request=None, responses=RehearsalStateSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        stop_rehearsal(study, actor=user)
        return Response(_state(study))


def _state(study: Study) -> dict[str, object]:
    sandbox = rehearsal_of(study)
    view = rehearsal_view(sandbox, language=get_language() or "en") if sandbox else None
    return dict(RehearsalStateSerializer({"study": study.slug, "rehearsal": view}).data)
