"""Exact statistics equal a count by hand, answers hold the truth as often as they say, and errors are known before anything is spent."""

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from candor.errors import DataError
from candor.queries.columns import Number, Schema, Table
from candor.queries.exactness import Spending
from candor.queries.histogram.release import histogram
from candor.queries.kinds import KINDS, read_question
from candor.queries.mean.release import sums
from candor.queries.naive_bayes.release import log_probabilities, tables
from candor.queries.parts import Condition
from candor.queries.questions import Answer, Question, epsilon_for
from candor.queries.total.release import sensitivity as sensitivity_of_total
from candor.queries.total.release import total
from tests.unit.candor.queries.tables import MAJORS, SCHEMA, university

TABLE = university()
SECOND_YEAR = [{"column": "year", "in": ["2", "3"]}]
GOOD = [{"column": "gpa", "from": 3, "to": 4}]
QUESTIONS = {
    "count": {"kind": "count", "where": [*SECOND_YEAR, *GOOD]},
    "count of entries": {"kind": "count", "where": [{"column": "course", "in": ["CS101"]}, *SECOND_YEAR], "entries": 2},
    "share": {"kind": "share", "where": SECOND_YEAR, "event": [{"column": "passed", "in": ["yes"]}]},
    "share of all": {"kind": "share", "event": [{"column": "passed", "in": ["yes"]}, *GOOD]},
    "histogram": {"kind": "histogram", "by": ["major", {"column": "gpa", "edges": [0, 2, 3, 4]}], "where": SECOND_YEAR},
    "mean": {"kind": "mean", "column": "gpa", "low": 0, "high": 4, "where": SECOND_YEAR},
    "mean by group": {"kind": "mean", "column": "gpa", "low": 0, "high": 4, "by": ["major"]},
    "mean of entries": {"kind": "mean", "column": "grade", "low": 0, "high": 100, "by": ["course"], "entries": 3},
    "sum": {"kind": "sum", "column": "gpa", "low": 1, "high": 3.5, "where": SECOND_YEAR},
    "sum of entries": {"kind": "sum", "column": "grade", "low": 0, "high": 100, "entries": 2},
    "histogram of entries": {"kind": "histogram", "by": ["course"], "entries": 3},
    "most common of entries": {"kind": "most_common", "column": "course", "entries": 2},
    "quantile": {"kind": "quantile", "column": "gpa", "q": 0.25, "low": 1, "high": 4},
    "most common": {"kind": "most_common", "column": "major"},
    "recommendation": {
        "kind": "recommendation",
        "option": "major",
        "band": {"column": "gpa", "edges": [0, 2, 4]},
        "success": [{"column": "passed", "in": ["yes"]}],
        "where": [{"column": "year", "in": ["1", "2", "3", "4"]}],
    },
    "naive Bayes": {"kind": "naive_bayes", "target": "passed", "features": ["major", "year"]},
}


def asked(name: str, **spending: float) -> Question:
    question = read_question(QUESTIONS[name] | (spending or {"epsilon": 1.0}))
    question.check(SCHEMA)
    return question


def answered(question: Question) -> Answer:
    released, loss = question.release(question.exact(TABLE))
    assert loss.rho <= question.price.rho
    return question.explain(released, SCHEMA, TABLE.n)


def people(entries: int | None = None) -> list[dict]:
    """The table as a list of rows; of entries, a row for each of the first few of a person."""
    rows = []
    for place in range(TABLE.n):
        for entry in range(entries or 1):
            row = {}
            for column in SCHEMA.columns:
                value = TABLE.arrays[column.name][place]
                value = value[entry] if column.entries else value
                if hasattr(column, "values"):
                    row[column.name] = None if value < 0 else column.values[value]
                else:
                    row[column.name] = None if math.isnan(value) else float(value)
            rows.append(row)
    return rows


def exact_answers() -> dict[str, dict[tuple, float]]:
    """Every answer in plain Python."""
    all_, second = people(), [row for row in people() if row["year"] in ("2", "3")]
    bands = {"0 to 2": (0, 2), "2 to 3": (2, 3), "3 to 4": (3, 5)}

    def band(gpa: float | None) -> str:
        return "not given" if gpa is None else next(name for name, (low, high) in bands.items() if low <= gpa < high)

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    rated = [row for row in all_ if row["gpa"] is not None]
    known = [row for row in second if row["passed"] is not None]
    courses = [row for row in people(3) if row["grade"] is not None]
    recommended = [row for row in all_ if row["passed"] is not None and row["year"] in "1234"]
    told = [row for row in rated if row["passed"] is not None]
    halves = {"0 to 2": lambda gpa: gpa is not None and gpa < 2, "2 to 4": lambda gpa: gpa is not None and gpa >= 2}
    return {
        "count": {(): sum(row["gpa"] is not None and row["gpa"] >= 3 for row in second)},
        "count of entries": {(): sum(row["course"] == "CS101" and row["year"] in ("2", "3") for row in people(2))},
        "share": {(): mean([row["passed"] == "yes" for row in known])},
        "share of all": {(): mean([row["passed"] == "yes" and row["gpa"] >= 3 for row in told])},
        "histogram": {
            (major or "not given", name): sum(row["major"] == major and band(row["gpa"]) == name for row in second)
            for major in (*MAJORS, None)
            for name in (*bands, "not given")
        },
        "mean": {(): mean([row["gpa"] for row in second if row["gpa"] is not None])},
        "mean by group": {(major,): mean([row["gpa"] for row in rated if row["major"] == major]) for major in MAJORS},
        "mean of entries": {
            (course,): mean([row["grade"] for row in courses if row["course"] == course]) for course in ("BIO101", "CS101", "MATH1")
        },
        "sum": {(): sum(min(max(row["gpa"], 1), 3.5) for row in second if row["gpa"] is not None)},
        "sum of entries": {(): sum(row["grade"] for row in people(2) if row["grade"] is not None)},
        "histogram of entries": {
            (course or "not given",): sum(row["course"] == course for row in people(3)) for course in ("BIO101", "CS101", "MATH1", None)
        },
        "quantile": {(): float(np.nanquantile(TABLE.arrays["gpa"], 0.25, method="inverted_cdf"))},
        "recommendation": {
            (major, name): mean([row["passed"] == "yes" for row in recommended if row["major"] == major and inside(row["gpa"])])
            for major in MAJORS
            for name, inside in halves.items()
        },
    }


TRUTH = exact_answers()


@pytest.mark.parametrize("name", TRUTH)
def test_an_answer_with_hardly_any_noise_is_what_a_count_by_hand_gives(name: str) -> None:
    found = {cell.labels: cell for cell in answered(asked(name, epsilon=10.0)).cells}
    precise = {cell.labels: cell.value for cell in answered(asked(name, rho=50.0)).cells}
    close = {
        "share": 0.01,
        "share of all": 0.01,
        "histogram": 2,
        "count": 2,
        "count of entries": 3,
        "sum": 3,
        "sum of entries": 150,
        "histogram of entries": 4,
        "quantile": 0.13,
        "mean of entries": 3,
    }
    for labels, truth in TRUTH[name].items():
        assert precise[labels] == pytest.approx(truth, abs=close.get(name, 0.05))
        assert found[labels].low <= found[labels].value <= found[labels].high


@pytest.mark.parametrize("name", TRUTH)
@pytest.mark.parametrize("spending", [{"epsilon": 0.5}, {"rho": 0.125}], ids=["Laplace", "Gaussian"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(name: str, spending: dict[str, float]) -> None:
    """93 % of all cells in 150 answers, less six standard errors: a coverage of 95 % falls below that once in 10⁷ times."""
    question = asked(name, **spending)
    exact = question.exact(TABLE)
    held = []
    for _ in range(150):
        answer = question.explain(question.release(exact)[0], SCHEMA, TABLE.n)
        for cell in answer.cells:
            if cell.labels in TRUTH[name] and cell.low is not None:
                held.append(cell.low <= TRUTH[name][cell.labels] <= cell.high)
    assert np.mean(held) >= 0.93 - 6 * math.sqrt(0.95 * 0.05 / len(held))


@pytest.mark.parametrize("name", ["count", "histogram", "sum"])
def test_the_error_that_is_told_before_is_the_one_that_is_found(name: str) -> None:
    question = asked(name, epsilon=0.3)
    exact = np.asarray(question.exact(TABLE))
    step = question.step if name == "sum" else 1
    errors = np.concatenate([np.ravel(np.array(question.release(exact)[0]) - exact) * step for _ in range(2000 // exact.size)])
    assert np.mean(np.abs(errors) > question.error(SCHEMA, TABLE.n)) == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_noise_is_that_of_the_sensitivity_with_all_entries_of_a_person(name: str) -> None:
    pure = QUESTIONS[name]["kind"] == "most_common"
    for spending in ({"epsilon": 0.5},) if pure else ({"epsilon": 0.5}, {"rho": 0.125}):
        question = asked(name, **spending)
        noisy, sensitivity = question.noisy(question.exact(TABLE)), question.sensitivity
        assert noisy.noise_sd == pytest.approx(4 * sensitivity.linf if pure else question.spending.sd(sensitivity), rel=1e-9)
        assert noisy.loss.rho == pytest.approx(question.price.rho, rel=1e-9)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_epsilon_for_an_error_gives_this_error(name: str) -> None:
    question = asked(name)
    wanted = question.error(SCHEMA, TABLE.n) * 0.6
    epsilon = epsilon_for(question, wanted, SCHEMA, TABLE.n)
    assert epsilon is not None
    assert asked(name, epsilon=epsilon).error(SCHEMA, TABLE.n) == pytest.approx(wanted, rel=1e-6)
    assert epsilon_for(question, 1e-9, SCHEMA, TABLE.n) is None


def test_the_most_common_value_is_found_and_says_how_wrong_it_can_be() -> None:
    answer = answered(asked("most common", epsilon=5.0))
    assert answer.cells[0].labels[0] in MAJORS
    assert "With 95 % certainty, at most 2 more people" in answer.notes[0]


def test_a_classifier_predicts_for_people_it_has_not_seen_and_its_tables_are_probabilities() -> None:
    answer = answered(asked("naive Bayes", epsilon=5.0))
    assert answer.model is not None
    assert np.exp(answer.model["log_probabilities"]).sum() == pytest.approx(1, abs=1e-4)
    for feature in answer.model["features"]:
        assert np.exp(feature["log_probabilities"]).sum(axis=1) == pytest.approx(1, abs=1e-4)
        assert feature["values"][-1] == "not given"
    (accuracy,) = answer.cells
    assert 0.4 < accuracy.value < 0.9


def test_training_and_test_are_disjoint_and_cost_the_larger_part() -> None:
    question = asked("naive Bayes", epsilon=1.0)
    exact = question.exact(TABLE)
    assert exact["tables"].sum() == 2 * (np.delete(TABLE.arrays["passed"], np.s_[::5]) >= 0).sum()
    assert len(exact["classes"]) == 100
    _, loss = question.release(exact)
    assert 0.999 < loss.pure_epsilon <= 1.0


def test_numbers_beyond_the_declared_bounds_count_as_the_bound() -> None:
    schema, numbers = Schema((Number(name="x", minimum=1, maximum=3),)), np.array([-5.0, 0, 1, 1.5, 2, 3, 4, 99, np.nan])
    for low, high in combinations((-9, 1, 1.5, 2, 3, 9), 2):
        condition = Condition(column="x", between=(low, high))
        held = np.clip(numbers, 1, 3)
        assert condition.fits({"x": numbers}, schema).tolist() == ((low <= held) & (held <= high)).tolist()
        assert condition.share(schema) == pytest.approx((min(high, 3) - max(low, 1)) / 2)


def test_sizes_of_answers_and_errors_of_means_follow_from_the_bounds() -> None:
    """A third of 500 people, who add the middle of 1 to 3.5, or a quarter of −4 to 4; bounds that lie elsewhere are as far apart."""
    assert asked("sum").typical(SCHEMA, 500) == pytest.approx(500 / 3 * 2.25)
    assert read_question(QUESTIONS["sum"] | {"low": -4, "high": 4, "epsilon": 1}).typical(SCHEMA, 500) == pytest.approx(500 / 3 * 2)
    assert asked("mean").typical(SCHEMA, 500) == 2
    assert asked("histogram").typical(SCHEMA, 500) == pytest.approx(500 / 3 / 16)
    moved = read_question(QUESTIONS["mean"] | {"low": 1, "high": 5, "epsilon": 1.0})
    assert moved.error(SCHEMA, 500) == asked("mean").error(SCHEMA, 500) == pytest.approx(3 / (500 / 3) * 4, rel=0.01)


def test_the_error_of_a_quartile_is_that_of_eight_bins_with_three_quarters_and_of_24_with_one() -> None:
    question = asked("quantile")
    sd = math.sqrt(8 * 0.75**2 + 24 * 0.25**2)
    assert question.error(SCHEMA, 500) == pytest.approx(question.spending.half_width(question.sensitivity) * sd / 500)


def test_statistics_are_of_the_people_whom_they_are_about() -> None:
    assert asked("most common").exact(TABLE).tolist() == [sum(row["major"] == major for row in people()) for major in MAJORS]
    told = [row["passed"] for row in people() if row["passed"] is not None and row["year"] in "1234"]
    failed, passed = asked("recommendation").exact(TABLE).reshape(-1, 2).sum(axis=0)[::-1].tolist()
    assert (failed, passed) == (told.count("no"), told.count("yes"))
    trained = read_question(QUESTIONS["naive Bayes"] | {"epsilon": 1, "where": QUESTIONS["recommendation"]["where"]}).exact(TABLE)
    of_training = [row["passed"] for at, row in enumerate(people()) if at % 5 and row["year"] in "1234"]
    assert trained["tables"].sum() == 2 * (of_training.count("no") + of_training.count("yes"))


def test_probabilities_of_a_classifier_by_hand() -> None:
    """Two classes, features of two and of three values; one is added to each cell, and the smallest table counts the classes."""
    prior, likelihoods = log_probabilities([5, -3, 2, 7, 1, 2, 3, 0, 0, 9], class_count=2, sizes=(2, 3))
    assert np.exp(prior) == pytest.approx([7 / 18, 11 / 18])
    assert np.exp(likelihoods[0]).ravel() == pytest.approx([6 / 7, 1 / 7, 3 / 11, 8 / 11])
    assert np.exp(likelihoods[1]).ravel() == pytest.approx([2 / 9, 3 / 9, 4 / 9, 1 / 12, 1 / 12, 10 / 12])


def test_a_question_that_finds_mostly_noise_is_known_before() -> None:
    assert asked("count", epsilon=0.01).is_mostly_noise(SCHEMA, TABLE.n)
    assert not asked("count", epsilon=1.0).is_mostly_noise(SCHEMA, TABLE.n)
    assert asked("recommendation", epsilon=0.05).is_mostly_noise(SCHEMA, 60)


def test_counts_are_never_negative_nor_more_than_all() -> None:
    rare = read_question({"kind": "count", "epsilon": 0.05, "where": [{"column": "gpa", "from": 0, "to": 0}]})
    for _ in range(50):
        (cell,) = answered(rare).cells
        assert 0 <= cell.low <= cell.value <= cell.high <= TABLE.n
    all_entries = asked("count of entries")
    assert [all_entries.explain([noisy], SCHEMA, TABLE.n).cells[0].value for noisy in (-(10**9), 10**9)] == [0, 2 * TABLE.n]


def test_entries_beyond_the_bound_do_not_count_and_the_bound_is_in_the_sensitivity() -> None:
    once, thrice = (read_question(QUESTIONS["mean of entries"] | {"entries": c, "epsilon": 1.0}) for c in (1, 3))
    assert thrice.sensitivity.l1 == 3 * once.sensitivity.l1
    assert thrice.sensitivity.l2_squared == 9 * once.sensitivity.l2_squared
    counted = once.exact(TABLE)[1].sum() / 500_000
    assert counted == ((TABLE.arrays["course"][:, 0] >= 0) & ~np.isnan(TABLE.arrays["grade"][:, 0])).sum()


@pytest.mark.parametrize("name", QUESTIONS)
def test_one_changed_row_moves_a_statistic_by_at_most_its_sensitivity(name: str) -> None:
    question = asked(name)
    rng = np.random.default_rng(1)

    def exact(table: Table) -> np.ndarray:
        found = question.exact(table)
        return np.asarray(found["tables"] if name == "naive Bayes" else found)

    before = exact(TABLE)
    for _ in range(200):
        row, other = rng.integers(0, TABLE.n, 2)
        arrays = {column: array.copy() for column, array in TABLE.arrays.items()}
        for array in arrays.values():
            array[row] = array[other]
        change = np.abs(exact(Table(SCHEMA, TABLE.n, arrays)) - before)
        assert change.sum() <= question.sensitivity.l1
        assert (change**2).sum() <= question.sensitivity.l2_squared


@pytest.mark.parametrize(
    "exact",
    [
        lambda: histogram([0, 3], cells=3),
        lambda: histogram([-1, 2], cells=3),
        lambda: histogram([0.0, 2.0], cells=3),
        lambda: total([0, 2], low=0, high=1),
        lambda: total([-1, 1], low=0, high=1),
        lambda: total([0.0, 0.5], low=0, high=1),
        lambda: total([True], low=1, high=2),
        lambda: total([True], low=-1, high=0),
        lambda: sensitivity_of_total(1, 1),
        lambda: sums([0, 3], [0, 1], count=2, steps=4),
        lambda: sums([-3, 0], [0, 1], count=2, steps=4),
        lambda: sums([0.0, 0.5], [0, 1], count=2, steps=4),
        lambda: sums([0, 1], [0, 2], count=2, steps=4),
        lambda: sums([0, 1], [-2, 0], count=2, steps=4),
        lambda: sums([0, 1], [0.0, 1.0], count=2, steps=4),
        lambda: tables([0, 2], [[0], [1]], class_count=2, sizes=[2]),
        lambda: tables([0, 1], [[0, 1], [2, 1]], class_count=2, sizes=[2, 2]),
        lambda: tables([0, 1], [[-1], [1]], class_count=2, sizes=[2]),
    ],
)
def test_a_row_beyond_the_bounds_that_the_sensitivity_counts_on_is_refused(exact: Callable[[], object]) -> None:
    with pytest.raises(DataError):
        exact()


def test_every_kind_has_an_example_here() -> None:
    assert {document["kind"] for document in QUESTIONS.values()} == set(KINDS)
    assert Spending(epsilon=1).noise == "discrete Laplace"
