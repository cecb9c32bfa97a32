"""Difficulties for programs: preview, spend, read."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, ANALYTICS_SPENDING, Role
from accounts.tokens.api_access import person_of
from analysis.learning.difficulties_page import Offer, best_offer, releases_of
from analysis.learning.serializers import (
    DifficultiesChoicesSerializer,
    DifficultiesPreviewSerializer,
    DifficultiesSerializer,
    preview_document,
    release_document,
)
from analysis.ledger.services import ask
from analysis.models import Source
from analysis.sources.places import place_at
from surveys.request_bodies import BoundedJson


class PreviewDifficulties(APIView):
    """Price and predicted error of a release, and what is left; nothing is spent."""

    roles = tuple(Role)
    parser_classes = (BoundedJson,)
    changes_nothing = True
    reading_scopes = ANALYTICS_READING
    writing_scopes = ANALYTICS_READING

    @extend_schema(
        operation_id="studies_preview_difficulties", request=DifficultiesChoicesSerializer, responses=DifficultiesPreviewSerializer
    )
    def post(self, request: Request, **where: str) -> Response:
        return Response(preview_document(_offer(request, _source(request, where, needs="may_change"))))


class ReleasedDifficulties(APIView):
    """The released difficulties, the newest first; a POST spends a share of the budget and releases them."""

    roles = tuple(Role)
    parser_classes = (BoundedJson,)
    reading_scopes = ANALYTICS_READING
    writing_scopes = ANALYTICS_SPENDING

    @extend_schema(operation_id="studies_difficulties", responses=DifficultiesSerializer(many=True))
    def get(self, request: Request, **where: str) -> Response:
        released = releases_of(_source(request, where, needs="may_see_study"))
        return Response([release_document(one) for one in released])

    @extend_schema(operation_id="studies_release_difficulties", request=DifficultiesChoicesSerializer, responses=DifficultiesSerializer)
    def post(self, request: Request, **where: str) -> Response:
        source = _source(request, where, needs="may_change")
        number = ask(source, _offer(request, source).question.document, actor=person_of(request)).charge.number
        released = next(one for one in releases_of(source) if one.asked.charge.number == number)
        return Response(release_document(released))


@extend_schema_view(
    post=extend_schema(
        operation_id="data_sets_preview_difficulties", request=DifficultiesChoicesSerializer, responses=DifficultiesPreviewSerializer
    )
)
class PreviewDataSetDifficulties(PreviewDifficulties):
    """Price and predicted error of a release about a data set, and what is left; nothing is spent."""


@extend_schema_view(
    get=extend_schema(operation_id="data_sets_difficulties", responses=DifficultiesSerializer(many=True)),
    post=extend_schema(
        operation_id="data_sets_release_difficulties", request=DifficultiesChoicesSerializer, responses=DifficultiesSerializer
    ),
)
class ReleasedDataSetDifficulties(ReleasedDifficulties):
    """The released difficulties of a data set, the newest first; a POST spends a share of the budget and releases them."""


def _source(request: Request, where: dict[str, str], *, needs: str) -> Source:
    source = place_at(person_of(request), where, needs=needs).source
    if source is None:
        raise Http404("Nothing can be asked here.")
    return source


def _offer(request: Request, source: Source) -> Offer:
    asked = DifficultiesChoicesSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    choices: dict[str, Any] = asked.validated_data
    reason = " ".join(choices["reason"].split())
    return best_offer(source, share=choices["share"] / 100, omitted=choices["omitted"], reason=reason)
