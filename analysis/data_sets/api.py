"""Data sets for programs."""

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, Role
from accounts.tokens.api_access import person_of
from analysis.data_sets.serializers import (
    BroughtFileSerializer,
    DataSetSerializer,
    DeclarationSerializer,
    OneDataSetSerializer,
    data_set_document,
    one_data_set_document,
)
from analysis.data_sets.services import bring
from analysis.sources.seats import access_data_set, data_sets_of
from surveys.access import OWNER_ROLES
from surveys.request_bodies import LARGEST_JSON, bytes_of, plain_json


class DataSets(APIView):
    """The data sets that this person may see, and bringing another one."""

    roles = tuple(Role)
    writing_roles = OWNER_ROLES
    reading_scopes = ANALYTICS_READING
    parser_classes = (MultiPartParser,)

    @extend_schema(operation_id="data_sets", responses=DataSetSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response([data_set_document(one) for one in data_sets_of(person_of(request))])

    @extend_schema(
        operation_id="bring_data_set",
        description="Read a file by its declaration and keep its rows, without keys of students and without texts. It has no budget yet.",
        request={"multipart/form-data": BroughtFileSerializer},
        responses={201: OneDataSetSerializer},
    )
    def post(self, request: Request) -> Response:
        user = person_of(request)
        file = request.data.get("file")
        if not isinstance(file, UploadedFile):
            raise ValidationError({"file": [_("Choose the file.")]})
        asked = DeclarationSerializer(data=plain_json(declaration_in(request.data.get("declaration"))))
        asked.is_valid(raise_exception=True)
        made = bring(**asked.validated_data, file=file, actor=user)
        return Response(one_data_set_document(access_data_set(user, made.slug)), status=201)


class OneDataSet(APIView):
    """One data set with its columns, as they were declared."""

    roles = tuple(Role)
    reading_scopes = ANALYTICS_READING

    @extend_schema(operation_id="data_set", responses=OneDataSetSerializer)
    def get(self, request: Request, data_set: str) -> Response:
        return Response(one_data_set_document(access_data_set(person_of(request), data_set)))


def declaration_in(part: object) -> bytes:
    """The part of the form, which programs send as a text or as a small file."""
    if isinstance(part, UploadedFile):
        return bytes_of(part, what="JSON", most=LARGEST_JSON)
    if not isinstance(part, str) or len(part) > LARGEST_JSON:
        raise ParseError(_("Expected a declaration in JSON beside the file."))
    return part.encode()
