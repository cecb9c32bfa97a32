"""Personal entry codes come in; completion codes that students hand in are checked."""

from django.utils.translation import ngettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.tokens.api_access import checked, person_of
from surveys.access import access_own_study
from surveys.models import EntryCode
from surveys.recruitment.code_files import MAXIMUM_BYTES
from surveys.recruitment.code_lists import CodesError, read_codes
from surveys.recruitment.made_codes import made_codes, new_seed, slips
from surveys.recruitment.selectors import definition_shown, path_for_participants, spent_codes_shown, way_of_codes
from surveys.recruitment.serializers import (
    AddedCodesSerializer,
    CheckedCodeSerializer,
    CodesToCheckSerializer,
    EntryCodeCountsSerializer,
    HowManyCodesSerializer,
    MadeCodeSerializer,
)
from surveys.recruitment.services import add_entry_codes, check_completion_codes
from surveys.request_bodies import LimitedBytes


class CsvBytes(LimitedBytes):
    media_type = "text/csv"
    what, most = "a list", MAXIMUM_BYTES


class EntryCodes(APIView):
    """How many codes there are. The codes themselves are not kept, and nobody learns whose answers came in with one."""

    parser_classes = (CsvBytes,)

    @extend_schema(operation_id="studies_codes", responses=EntryCodeCountsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        study = access_own_study(person_of(request), slug).study
        counts = {"total": EntryCode.objects.filter(study=study).count(), "spent": spent_codes_shown(study)}
        return Response(EntryCodeCountsSerializer(counts).data)

    @extend_schema(
        operation_id="studies_add_codes",
        description=(
            "Add the codes of a CSV file (comma, semicolon or tab): those under the heading `code`, or of the only column with codes. "
            "The study's own are left as they are. A file of which one line cannot be used adds nothing; the answer names the lines."
        ),
        request={"text/csv": OpenApiTypes.STR},
        responses=AddedCodesSerializer,
        examples=[OpenApiExample("two codes", request_only=True, media_type="text/csv", value="code\nA7KD-22XM\nB3PQ-90LL\n")],
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        content = request.data if isinstance(request.data, bytes) else b""
        found = read_codes(content)
        if found.refused:  # no person looks at what is left out
            raise CodesError(
                ngettext(
                    "file: %(count)d line cannot be used, so no code was added",
                    "file: %(count)d lines cannot be used, so no code was added",
                    found.refused_count,
                )
                % {"count": found.refused_count},
                lines=found.refused,
            )
        added = add_entry_codes(study, codes=found.codes, actor=user)
        return Response(AddedCodesSerializer({"added": added, "column": found.column}).data)


class MadeCodes(APIView):
    """New codes with their links. They are in this answer and nowhere else: the study keeps their hashes."""

    @extend_schema(operation_id="studies_make_codes", request=HowManyCodesSerializer, responses={201: MadeCodeSerializer(many=True)})
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(HowManyCodesSerializer, request.data)
        section, way = asked.validated_data.get("section", ""), way_of_codes(definition_shown(study))
        address = request.build_absolute_uri(path_for_participants(study, section=section, way=way))
        made = made_codes(study.slug, seed=new_seed(), count=asked.validated_data["count"])
        add_entry_codes(study, codes=made, actor=user)
        return Response(MadeCodeSerializer(slips(made, address=address), many=True).data, status=201)


class CompletionCodes(APIView):
    """Whether the codes that students handed in are genuine, and whether any were handed in twice; in the order sent."""

    changes_nothing = True

    @extend_schema(
        operation_id="studies_check_completion_codes", request=CodesToCheckSerializer, responses=CheckedCodeSerializer(many=True)
    )
    def post(self, request: Request, slug: str) -> Response:
        user = person_of(request)
        study = access_own_study(user, slug).study
        asked = checked(CodesToCheckSerializer, request.data)
        found = check_completion_codes(study, codes=asked.validated_data["codes"], actor=user)
        return Response(CheckedCodeSerializer(found, many=True).data)
