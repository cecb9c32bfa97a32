"""Topics for programs: preview, spend, tables."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, ANALYTICS_SPENDING, Role
from accounts.tokens.api_access import person_of
from analysis.learning.topics.offers import offer
from analysis.learning.topics.serializers import (
    TermLossSerializer,
    TopicsPreviewSerializer,
    TopicTablesSerializer,
    preview_document,
    tables_document,
)
from analysis.ledger.questions import Json
from analysis.ledger.selectors import asked_before, budget_of
from analysis.ledger.services import ask
from analysis.models import Source
from analysis.sources.places import place_at
from surveys.request_bodies import BoundedJson


class PreviewTopics(APIView):
    """Cost and error of a term's tables; nothing is spent."""

    roles = tuple(Role)
    parser_classes = (BoundedJson,)
    changes_nothing = True
    reading_scopes = ANALYTICS_READING
    writing_scopes = ANALYTICS_READING

    @extend_schema(operation_id="data_sets_preview_topics", request=TermLossSerializer, responses=TopicsPreviewSerializer)
    def post(self, request: Request, data_set: str) -> Response:
        return Response(preview_document(offer(_source(request, data_set), _document(request))))


class TopicTables(APIView):
    """The tables of topics, the newest first; a POST spends the loss of the term and asks for them."""

    roles = tuple(Role)
    parser_classes = (BoundedJson,)
    reading_scopes = ANALYTICS_READING
    writing_scopes = ANALYTICS_SPENDING

    @extend_schema(operation_id="data_sets_topics", responses=TopicTablesSerializer(many=True))
    def get(self, request: Request, data_set: str) -> Response:
        asked = asked_before(budget_of(_source(request, data_set)))
        return Response([tables_document(one) for one in reversed(asked) if one.charge.kind == "topics"])

    @extend_schema(operation_id="data_sets_ask_topics", request=TermLossSerializer, responses=TopicTablesSerializer)
    def post(self, request: Request, data_set: str) -> Response:
        return Response(tables_document(ask(_source(request, data_set), _document(request), actor=person_of(request))))


def _source(request: Request, data_set: str) -> Source:
    source = place_at(person_of(request), {"data_set": data_set}, needs="may_ask").source
    if source is None:
        raise Http404("Nothing can be asked here.")
    return source


def _document(request: Request) -> dict[str, Json]:
    asked = TermLossSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    return {"kind": "topics", **asked.validated_data}
