"""Data sets for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, Role
from accounts.tokens.api_access import person_of
from analysis.data_sets.serializers import DataSetSerializer, OneDataSetSerializer, data_set_document, one_data_set_document
from analysis.sources.seats import access_data_set, data_sets_of


class DataSets(APIView):
    """The data sets that this person may see."""

    roles = tuple(Role)
    reading_scopes = ANALYTICS_READING

    @extend_schema(operation_id="data_sets", responses=DataSetSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response([data_set_document(one) for one in data_sets_of(person_of(request))])


class OneDataSet(APIView):
    """One data set with its columns, as they were declared."""

    roles = tuple(Role)
    reading_scopes = ANALYTICS_READING

    @extend_schema(operation_id="data_set", responses=OneDataSetSerializer)
    def get(self, request: Request, data_set: str) -> Response:
        return Response(one_data_set_document(access_data_set(person_of(request), data_set)))
