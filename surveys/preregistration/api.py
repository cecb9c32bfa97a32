"""The preregistration for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import person_of
from surveys.access import access_study
from surveys.preregistration.selectors import plans_of
from surveys.preregistration.serializers import KeptPlanSerializer


class Preregistrations(APIView):
    """The preregistration and its amendments, in order; `sha256` is that of `text` in UTF-8."""

    @extend_schema(operation_id="studies_preregistration", responses=KeptPlanSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study = access_study(person_of(request), slug).study
        return Response(KeptPlanSerializer(plans_of(study), many=True).data)
