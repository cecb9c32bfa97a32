"""Credit in courses, for programs."""

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from lti.selectors import credit_numbers
from lti.serializers import StudyCreditSerializer
from lti.services import send_again
from surveys.access import access_own_study
from surveys.credit.services import change_credit


class StudyCredit(APIView):
    """Whether a study gives credit at course platforms, and how much was sent."""

    @extend_schema(operation_id="studies_credit", responses=StudyCreditSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(StudyCreditSerializer(credit_numbers(access_own_study(person_of(request), slug).study)).data)

    @extend_schema(
        operation_id="studies_change_credit",
        request=StudyCreditSerializer,
        responses=StudyCreditSerializer,
        examples=[OpenApiExample("on", request_only=True, value={"gives_credit": True, "for_everybody": True})],
    )
    def put(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(StudyCreditSerializer, request.data)
        is_on, for_everybody = asked.validated_data["gives_credit"], asked.validated_data["for_everybody"]
        change_credit(study, is_on=is_on, for_everybody=for_everybody, actor=user)
        return Response(StudyCreditSerializer(credit_numbers(study)).data)


class SendCreditAgain(APIView):
    """Credit that a platform did not take in about a day goes out once more."""

    @extend_schema(operation_id="studies_send_credit_again", request=None, responses=StudyCreditSerializer)
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        send_again(study, actor=user)
        return Response(StudyCreditSerializer(credit_numbers(study)).data)
