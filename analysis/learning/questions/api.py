"""The desk for programs: preview, spend, answers."""

from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ANALYTICS_READING, ANALYTICS_SPENDING, Role
from accounts.tokens.api_access import person_of
from analysis.learning.questions.desk import line_of, lines, offer, true_yes, with_spending
from analysis.learning.questions.kinds import Statistic
from analysis.learning.questions.serializers import (
    AnswerSerializer,
    AskedQuestionSerializer,
    PreviewSerializer,
    answer_document,
    preview_document,
)
from analysis.ledger.errors import QuestionError
from analysis.ledger.services import ask
from analysis.models import Source
from analysis.sources.places import place_at
from surveys.models import Study
from surveys.request_bodies import BoundedJson


class PreviewQuestion(APIView):
    """Cost and error of a question, and what is left; nothing is spent."""

    roles = tuple(Role)
    parser_classes = (BoundedJson,)
    changes_nothing = True
    reading_scopes = ANALYTICS_READING
    writing_scopes = ANALYTICS_READING

    @extend_schema(operation_id="studies_preview_question", request=AskedQuestionSerializer, responses=PreviewSerializer)
    def post(self, request: Request, **where: str) -> Response:
        source = _source(request, where)[0]
        return Response(preview_document(offer(source, _question(request, source))))


class Questions(APIView):
    """The answers of the desk; a POST asks one more question and spends its price."""

    roles = tuple(Role)
    parser_classes = (BoundedJson,)
    reading_scopes = ANALYTICS_READING
    writing_scopes = ANALYTICS_SPENDING

    @extend_schema(operation_id="studies_answers", responses=AnswerSerializer(many=True))
    def get(self, request: Request, **where: str) -> Response:
        return Response([answer_document(line) for line in lines(_source(request, where)[0])])

    @extend_schema(operation_id="studies_ask", request=AskedQuestionSerializer, responses=AnswerSerializer)
    def post(self, request: Request, **where: str) -> Response:
        source, study = _source(request, where)
        question = _question(request, source)
        if study and question.get("kind") == "true_yes":
            document = true_yes(study, str(question.get("answer", "")))
        else:
            document = {"kind": Statistic.model_fields["kind"].default, "question": question}
        asked = ask(source, document, actor=person_of(request))
        return Response(answer_document(line_of(source, asked)))


@extend_schema_view(
    post=extend_schema(operation_id="data_sets_preview_question", request=AskedQuestionSerializer, responses=PreviewSerializer)
)
class PreviewDataSetQuestion(PreviewQuestion):
    """Cost and error of a question about a data set, and what is left; nothing is spent."""


@extend_schema_view(
    get=extend_schema(operation_id="data_sets_answers", responses=AnswerSerializer(many=True)),
    post=extend_schema(operation_id="data_sets_ask", request=AskedQuestionSerializer, responses=AnswerSerializer),
)
class DataSetQuestions(Questions):
    """The answers of the desk of a data set; a POST asks one more question and spends its price."""


def _source(request: Request, where: dict[str, str]) -> tuple[Source, Study | None]:
    place = place_at(person_of(request), where, needs="may_ask")
    if place.source is None:
        raise Http404("Nothing can be asked here.")
    return place.source, place.study


def _question(request: Request, source: Source) -> dict[str, Any]:
    asked = AskedQuestionSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    data = asked.validated_data
    if not isinstance(data["question"], dict):
        raise QuestionError(_("Expected a question document, found something else."))
    return with_spending(data["question"], source, error=data.get("error"), questions=data.get("questions"))
