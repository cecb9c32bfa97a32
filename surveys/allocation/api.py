"""Changes to an arm while the study runs."""

from django.http import Http404
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from surveys.access import access_own_study
from surveys.allocation.serializers import ArmChangeSerializer, ArmStateSerializer
from surveys.allocation.services import change_arm
from surveys.models import ArmState


class Arms(APIView):
    """The arms of a launched study, with their quotas, and whether they still take participants."""

    @extend_schema(operation_id="studies_arms", responses=ArmStateSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study = access_own_study(person_of(request), slug).study
        return Response(ArmStateSerializer(study.arm_states.order_by("pk"), many=True).data)


class Arm(APIView):
    """Give an arm a quota, stop recruiting to it, or resume. The change is recorded."""

    @extend_schema(
        operation_id="studies_change_arm",
        request=ArmChangeSerializer,
        responses=ArmStateSerializer,
        examples=[OpenApiExample("no more people", request_only=True, value={"closed": True})],
    )
    def patch(self, request: Request, slug: str, arm: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        state = ArmState.objects.filter(study=study, arm=arm).first()
        if state is None:
            raise Http404("There is no such arm.")
        asked = checked(ArmChangeSerializer, request.data)
        change_arm(study, arm=arm, actor=user, **asked.validated_data)
        return Response(ArmStateSerializer(ArmState.objects.get(pk=state.pk)).data)
