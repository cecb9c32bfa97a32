"""All kinds of questions by name."""

from __future__ import annotations

from collections.abc import Mapping

from candor.errors import QuestionError, what_came
from candor.queries.averaging import Mean, Sum
from candor.queries.classifying import NaiveBayes
from candor.queries.columns import listed
from candor.queries.counting import Count, Histogram
from candor.queries.ordering import MostCommon, Quantile
from candor.queries.questions import Question
from candor.queries.shares import Recommendation, Share

KINDS: dict[str, type[Question]] = {
    kind.kind: kind for kind in (Count, Share, Histogram, Mean, Sum, Quantile, MostCommon, Recommendation, NaiveBayes)
}


def read_question(document: object) -> Question:
    """The question that a document asks.

    Parameters
    ----------
    document : mapping
        ``kind``, ``epsilon`` or ``rho``, ``where``, ``entries``, and the parts of its kind.

    Raises
    ------
    QuestionError
        Something is missing, unknown or of the wrong form; the message says what was expected and what came.

    Examples
    --------
    >>> asked = {"kind": "count", "epsilon": 0.5, "where": [{"column": "year", "in": ["2", "1"]}]}
    >>> read_question(asked).sentence()
    'How many people there are whose year is 1 or 2'
    >>> again = {"where": [{"in": ["1", "2", "2"], "column": "year"}], "epsilon": 0.5, "kind": "count"}
    >>> read_question(asked).sha256 == read_question(again).sha256
    True
    """
    if not isinstance(document, Mapping):
        raise QuestionError("expected a question as an object with kind, epsilon or rho, and its parts")
    name = document.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        raise QuestionError(f"kind: expected one of {listed(KINDS, most=20)}; found {what_came(name)}")
    return KINDS[name].read(document)
