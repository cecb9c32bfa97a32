"""Ways in by HTTP: addresses, join codes and numbers."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from surveys.access import access_own_study
from surveys.entrances.selectors import entrances_of
from surveys.entrances.serializers import EntranceSerializer, JoinCodeSerializer, WayToRenewSerializer
from surveys.recruitment.services import renew_join_code


class WaysIn(APIView):
    """Every way into the study. Nothing says who came which way."""

    @extend_schema(operation_id="studies_ways_in", responses=EntranceSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study = access_own_study(person_of(request), slug).study
        return Response(EntranceSerializer(entrances_of(study, absolute=request.build_absolute_uri), many=True).data)


class JoinCodes(APIView):
    """A new join code for a class; the one before opens nothing any more."""

    @extend_schema(operation_id="studies_renew_join_code", request=WayToRenewSerializer, responses={201: JoinCodeSerializer})
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(WayToRenewSerializer, request.data)
        way = asked.validated_data["way"]
        return Response(JoinCodeSerializer({"way": way, "code": renew_join_code(study, way=way, actor=user)}).data, status=201)
