"""Personal entry codes come in; completion codes that students hand in are checked."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Role
from accounts.tokens.api_access import person_of
from surveys.access import access_own_study
from surveys.models import EntryCode
from surveys.recruitment.selectors import spent_codes_shown
from surveys.recruitment.serializers import AddedCodesSerializer, CheckedCodeSerializer, CodesToCheckSerializer, EntryCodeCountsSerializer
from surveys.recruitment.services import MAXIMUM_BYTES, add_entry_codes, check_completion_codes, read_codes
from surveys.request_bodies import LimitedBytes


class CsvBytes(LimitedBytes):
    media_type = "text/csv"
    what, most = "a list", MAXIMUM_BYTES


class EntryCodes(APIView):
    """How many codes there are. The codes themselves are not kept, and nobody learns whose answers came in with one."""

    roles = tuple(Role)
    parser_classes = (CsvBytes,)

    @extend_schema(operation_id="studies_codes", responses=EntryCodeCountsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        study = access_own_study(person_of(request), slug).study
        counts = {"total": EntryCode.objects.filter(study=study).count(), "spent": spent_codes_shown(study)}
        return Response(EntryCodeCountsSerializer(counts).data)

    @extend_schema(
        operation_id="studies_add_codes",
        description="Add the codes in the first column of a CSV file. Those that the study has already are left as they are.",
        request={"text/csv": OpenApiTypes.STR},
        responses=AddedCodesSerializer,
        examples=[OpenApiExample("two codes", request_only=True, media_type="text/csv", value="code\nA7KD-22XM\nB3PQ-90LL\n")],
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        content = request.data if isinstance(request.data, bytes) else b""
        added = add_entry_codes(study, codes=read_codes(content), actor=user)
        return Response(AddedCodesSerializer({"added": added}).data)


class CompletionCodes(APIView):
    """Whether the codes that students handed in are genuine, and whether any were handed in twice; in the order sent."""

    roles = tuple(Role)
    changes_nothing = True

    @extend_schema(
        operation_id="studies_check_completion_codes", request=CodesToCheckSerializer, responses=CheckedCodeSerializer(many=True)
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = CodesToCheckSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        checked = check_completion_codes(study, codes=asked.validated_data["codes"], actor=user)
        return Response(CheckedCodeSerializer(checked, many=True).data)
