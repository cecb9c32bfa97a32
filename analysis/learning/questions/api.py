"""The desk for programs: preview, spend, answers."""

from collections.abc import Mapping
from typing import TypedDict

from django.utils.translation import gettext as _

from analysis.learning.questions.desk import KINDS, Line, Offer, line_of, offer, true_yes, with_spending
from analysis.learning.questions.serializers import AnswerSerializer, AskedQuestionSerializer, PreviewSerializer
from analysis.ledger.api import Answers, Desk, Preview
from analysis.ledger.errors import QuestionError
from analysis.ledger.selectors import Asked
from analysis.models import Source


class AskedDocument(TypedDict, total=False):
    """A question, and what finds its ε."""

    question: object
    error: float
    questions: int


class QuestionDesk(Desk):
    kinds = KINDS
    choices, offers, answers = AskedQuestionSerializer, PreviewSerializer, AnswerSerializer

    def offer(self, source: Source, chosen: AskedDocument) -> Offer:
        return offer(source, _with_spending(source, chosen))

    def question(self, source: Source, chosen: AskedDocument) -> Mapping[str, object]:
        question = _with_spending(source, chosen)
        if source.study and question.get("kind") == "true_yes":
            return true_yes(source.study, str(question.get("answer", "")))
        return {"kind": KINDS[0], "question": question}

    def answer(self, source: Source, asked: Asked) -> Line:
        return line_of(source, asked)


def _with_spending(source: Source, chosen: AskedDocument) -> dict[str, object]:
    if not isinstance(chosen["question"], dict):
        raise QuestionError(_("Expected a question document, found something else."))
    return with_spending(chosen["question"], source, error=chosen.get("error"), questions=chosen.get("questions"))


DESK = QuestionDesk()


class PreviewQuestion(Preview, desk=DESK, operation="studies_preview_question"):
    """Cost and error of a question, and what is left; nothing is spent."""


class Questions(Answers, desk=DESK, reads="studies_answers", asks="studies_ask"):
    """The answers of the desk; a POST asks one more question and spends its price."""


class PreviewDataSetQuestion(Preview, desk=DESK, operation="data_sets_preview_question"):
    """Cost and error of a question about a data set, and what is left; nothing is spent."""


class DataSetQuestions(Answers, desk=DESK, reads="data_sets_answers", asks="data_sets_ask"):
    """The answers of the desk of a data set; a POST asks one more question and spends its price."""
