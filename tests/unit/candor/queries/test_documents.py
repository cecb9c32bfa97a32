"""A question has one canonical form; what is not understood is refused with what was expected and what came."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candor.errors import QuestionError
from candor.queries.columns import Category, Number, Schema
from candor.queries.kinds import read_question
from tests.unit.candor.queries.tables import SCHEMA
from tests.unit.candor.queries.test_answers import QUESTIONS

YEAR = {"column": "year", "in": ["1"]}
COUNT = {"kind": "count", "epsilon": 1, "where": [YEAR]}
MEAN = {"kind": "mean", "epsilon": 1, "column": "gpa", "low": 0, "high": 4}
QUANTILE = {"kind": "quantile", "epsilon": 1, "column": "gpa", "q": 0.5, "low": 0, "high": 4}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_document_reads_as_the_same_question_also_from_json(name: str) -> None:
    question = read_question(QUESTIONS[name] | {"epsilon": 0.5})
    again = read_question(json.loads(json.dumps(question.document())))
    assert again == question
    assert again.sha256 == question.sha256
    assert read_question(QUESTIONS[name] | {"epsilon": 0.6}).sha256 != question.sha256
    assert question.sentence().strip().endswith(tuple("abcdefghijklmnopqrstuvwxyz0123456789"))


@given(st.permutations(["1", "2", "3"]), st.permutations([("year", 0), ("major", 1), ("gpa", 2)]))
def test_the_order_of_values_and_conditions_does_not_matter(years: list[str], order: list[tuple[str, int]]) -> None:
    conditions = [{"column": "year", "in": years}, {"column": "major", "in": ["biology"]}, {"column": "gpa", "from": -0.0, "to": 4}]
    question = read_question({"kind": "count", "rho": 0.1, "where": [conditions[place] for _, place in order]})
    straight = read_question({"kind": "count", "rho": 0.1, "where": [conditions[0] | {"in": ["1", "2", "3"]}, *conditions[1:]]})
    assert question.sha256 == straight.sha256


WIDE = {"column": "gpa", "edges": [one / 50 for one in range(201)]}
SUCCESS = [{"column": "passed", "in": ["yes"]}]
RECOMMENDATION = {"kind": "recommendation", "epsilon": 1, "option": "major", "band": "year", "success": SUCCESS}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"kind": "census"}, "expected one of count, share, histogram"),
    ({"kind": "count", "where": [YEAR]}, "expected either epsilon"),
    (COUNT | {"rho": 1}, "expected either epsilon"),
    (COUNT | {"epsilon": 0}, "expected epsilon above 0 and at most 10, found 0"),
    (COUNT | {"epsilon": 11}, "at most 10, found 11"),
    (COUNT | {"epsilon": float("nan")}, "epsilon: expected a number, found nan"),
    (COUNT | {"epsilon": "1"}, "epsilon: expected a number, found '1'"),
    (COUNT | {"epsilon": True}, "epsilon: expected a number"),
    (COUNT | {"seed": 1}, "count: expected kind, epsilon, rho"),
    (COUNT | {"where": []}, "expected at least one condition"),
    (COUNT | {"where": [YEAR, YEAR]}, "several for year"),
    (COUNT | {"where": [{"column": "year", "in": ["9"]}]}, "expected values of year, which are 1, 2, 3, 4, 5, 6; found 9"),
    (COUNT | {"where": [{"column": "age", "in": ["9"]}]}, "expected one of the columns major, year"),
    (COUNT | {"where": [{"column": "year", "in": []}]}, "expected a list with something in it"),
    (COUNT | {"where": [{"column": "year", "in": [1]}]}, "expected a text, found 1"),
    (COUNT | {"where": [{"column": "gpa", "from": 3, "to": 2}]}, "expected bounds in order, found from 3 to 2"),
    (COUNT | {"where": [{"column": "gpa", "from": 5, "to": 6}]}, "expected bounds between 0 and 4"),
    (COUNT | {"where": [{"column": "gpa", "from": 3}]}, "where.to: expected a number, found nothing"),
    (COUNT | {"where": [{"column": "gpa", "in": ["3"]}]}, "expected a column with declared values; gpa holds numbers"),
    (COUNT | {"where": [{"column": "year", "from": 1, "to": 2}]}, "expected a column of numbers; year holds one of 1"),
    (COUNT | {"where": [{"column": "year"}]}, "either values \\(in\\) or bounds"),
    (COUNT | {"where": [{"column": "year", "is": "1"}]}, "expected column, in, from, to; found is"),
    (COUNT | {"entries": 2}, "expected no bound on entries"),
    (COUNT | {"where": [{"column": "course", "in": ["CS101"]}]}, "how many entries of one participant count, from 1 to 4; found nothing"),
    (COUNT | {"where": [{"column": "course", "in": ["CS101"]}], "entries": 5}, "from 1 to 4; found 5"),
    (MEAN | {"low": 4, "high": 0}, "expected bounds in order, found low 4 and high 0"),
    (MEAN | {"low": -1e308, "high": 1e308}, r"between ±1e\+100 .* found low -1e\+308 and high 1e\+308"),
    (MEAN | {"kind": "sum", "low": -1e308, "high": 1e308}, r"between ±1e\+100"),
    (MEAN | {"kind": "sum", "low": 0, "high": 5e-324}, "apart by a billionth"),
    (MEAN | {"low": 1e16, "high": 1e16 + 2}, "apart by a billionth"),
    (QUANTILE | {"low": -1e308, "high": 1e308}, r"between ±1e\+100"),
    (MEAN | {"high": 10**400}, "high: expected a number, found 1000"),
    (COUNT | {"epsilon": 10**400}, "epsilon: expected a number, found 1000"),
    (COUNT | {"epsilon": 1e-300}, "expected epsilon of at least 1e-09, found 1e-300"),
    (COUNT | {"epsilon": None, "rho": 1e-300}, "expected rho of at least 5e-19, found 1e-300"),
    (MEAN | {"column": "year"}, "expected a column of numbers"),
    (MEAN | {"low": None}, "mean: expected low, found nothing"),
    (QUANTILE | {"q": 0}, "expected q above 0"),
    (QUANTILE | {"bins": 1001}, "expected 2 to 1,000 bins, found 1,001"),
    (QUANTILE | {"bins": 2.5}, "bins: expected a whole number of at least 1, found 2.5"),
    (COUNT | {"entries": True}, "entries: expected a whole number of at least 1, found True"),
    (QUANTILE | {"low": 2, "high": 2}, "expected bounds in order"),
    ({"kind": "histogram", "epsilon": 1, "by": []}, "by: expected a list"),
    ({"kind": "histogram", "epsilon": 1, "by": ["gpa"]}, "expected edges that cut the numbers of gpa"),
    ({"kind": "histogram", "epsilon": 1, "by": [{"column": "year", "edges": [0, 1, 2]}]}, "expected no edges for year"),
    ({"kind": "histogram", "epsilon": 1, "by": [{"column": "gpa", "edges": [0, 2, 1]}]}, "each above the one before"),
    (
        {"kind": "histogram", "epsilon": 1, "by": ["major", {"column": "gpa", "edges": [one / 100 for one in range(401)]}]},
        "expected at most 1,000 cells, found 4 × 401 = 1,604",
    ),
    ({"kind": "most_common", "rho": 1, "column": "major"}, "pure ε, found rho"),
    ({"kind": "most_common", "epsilon": 1, "column": "gpa"}, "expected a column with declared values"),
    ({"kind": "share", "epsilon": 1, "event": []}, "event: expected at least one condition"),
    ({"kind": "share", "epsilon": 1, "event": [{"column": "year", "in": ["9"]}]}, "expected values of year"),
    (RECOMMENDATION | {"success": []}, "success: expected at least one condition"),
    (RECOMMENDATION | {"success": [{"column": "year", "in": ["9"]}]}, "expected values of year"),
    (RECOMMENDATION | {"band": WIDE}, "expected at most 1,000 cells, found 4 × 201 × 2 = 1,608"),
    ({"kind": "naive_bayes", "epsilon": 1, "target": "year", "features": [WIDE]}, "1,000 cells in all tables, found 1,206"),
    (MEAN | {"by": ["major", WIDE, "year"]}, "expected at most 1,000 cells, found 4 × 201 × 7 = 5,628"),
    ({"kind": "naive_bayes", "epsilon": 1, "target": "passed", "features": ["passed"]}, "all of different columns"),
    ({"kind": "naive_bayes", "epsilon": 1, "target": "passed", "features": ["course"], "entries": 1}, "expected columns with one value"),
]


@pytest.mark.parametrize(("document", "said"), BAD)
def test_a_question_that_cannot_be_asked_says_why(document: dict[str, Any], said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        read_question(document).check(SCHEMA)


def test_a_question_that_is_no_object_is_refused() -> None:
    with pytest.raises(QuestionError, match="expected a question as an object"):
        read_question([])


def test_columns_that_declare_nonsense_are_refused() -> None:
    for make, said in (
        (lambda: Number(name="x", minimum=2, maximum=1), "the minimum below the maximum"),
        (lambda: Category(name="x", values=()), "found none"),
        (lambda: Category(name="x", values=("a", "a")), "expected different values"),
        (lambda: Schema((Category(name="x", values=("a",)), Number(name="x", minimum=0, maximum=1))), "found x twice"),
    ):
        with pytest.raises(QuestionError, match=said):
            make()


def test_columns_of_two_kinds_of_entries_do_not_mix() -> None:
    schema = Schema((Category(name="a", values=("x",), entries=2), Category(name="b", values=("x",), entries=3)))
    question = read_question({"kind": "histogram", "epsilon": 1, "by": ["a", "b"], "entries": 2})
    with pytest.raises(QuestionError, match="expected columns of one kind of entries"):
        question.check(schema)
