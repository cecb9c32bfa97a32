"""Stored results are read back as the same values; a document that does not fit is not read at all."""

import hashlib
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from analysis.stored_results import (
    Balance,
    DirectGroup,
    DirectOutcome,
    NotYet,
    QuestionEstimate,
    Results,
    document_of,
    read_results,
)
from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.direct_comparison import direct_comparison
from candor.estimators.effects import estimate_outcome
from candor.results import BootstrapSummary, Difference, Interval, SpecificationTest
from candor.sequences.looks import sequential_estimate
from candor.software import METHOD_VERSION

# A fingerprint of the stored names, by method version. If this changes, raise METHOD_VERSION, so that older results are computed again.
SHAPES = {"1": "7debe749c96ce20c", "2": "7abe7dd0c0f63a90"}
TELLING = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
MIRRORED = {"1": {"forced_no": "1/6", "forced_yes": "3/6"}, "2": {"forced_no": "3/6", "forced_yes": "2/6"}}
TABLES = (
    [[[30, 30], [20, 40]], [[40, 20], [30, 30]]],
    [[[30, 30], [30, 30]], [[30, 30], [30, 30]]],
    [[[195, 5], [5, 195]], [[195, 5], [5, 195]]],
    [[[60, 0], [60, 0]], [[0, 60], [0, 60]]],
    [[[1, 1], [1, 2]], [[2, 1], [1, 1]]],
    [[[0, 0], [9, 9]], [[9, 9], [9, 9]]],
    [[[0, 0], [0, 0]], [[0, 0], [0, 0]]],
    *np.random.default_rng(1).integers(0, 61, (6, 2, 2, 2)).tolist(),
)
"""Usual answers, nobody honest, none that shares explain, one answer in each arm, few people, an empty cell, nobody; and by chance."""
counts = st.sampled_from(TABLES).map(np.array)
numbers = st.none() | st.floats(-2, 2)


def design(subsamples: dict[str, dict[str, str]] = TELLING) -> Design:
    return Design.of(arms=("slides", "face"), control="slides", subsamples=subsamples)


def outcome_of(cells: np.ndarray, made: Design) -> QuestionEstimate | NotYet:
    return _outcome(cells.tobytes(), made)


@cache
def _outcome(counted: bytes, made: Design) -> QuestionEstimate | NotYet:
    cells = np.frombuffer(counted, dtype=int).reshape(2, 2, 2)
    try:
        return QuestionEstimate.of(estimate_outcome(cells, design=made), sequence=sequential_estimate(cells, design=made, planned_n=400))
    except MethodError as error:
        return NotYet(n=int(cells.sum()), not_yet=str(error))


def stored(results: Results) -> object:
    """As a database gives it back: keys in another order."""
    return json.loads(json.dumps(document_of(results), allow_nan=False, sort_keys=True))


def full_results(cells: np.ndarray, means: tuple[float | None, ...], made: Design) -> Results:
    """With every part that a result can have."""
    outcome = outcome_of(cells, made)
    if isinstance(outcome, QuestionEstimate):
        boot = BootstrapSummary(
            standard_error=means[0],
            low=means[1],
            high=means[2],
            level=0.95,
            replicates=5000,
            failed=1,
            seed=7,
            bca=Interval(kind="bca", low=means[1], high=None, level=0.95),
        )
        effects = tuple(replace(one, bootstrap=boot, for_publication=False) for one in outcome.effects)
        test = SpecificationTest(statistic=1.0, df=1, p_value=means[0])
        outcome = replace(outcome, effects=effects, specification_test_with_covariates=test)
    treatment_mean, control_mean, difference = means
    row = Difference(
        treatment="face",
        control="slides",
        variable="year",
        treatment_mean=treatment_mean,
        control_mean=control_mean,
        difference=difference,
    )
    direct = DirectOutcome.of(direct_comparison([[80, 20], [70, 30]], cells, design=made), question="attention")
    return Results(
        n=int(cells.sum()),
        design=made.to_document(),
        outcomes={"attention": outcome, "retention": NotYet(n=0, not_yet="Nobody answered.")},
        balance=Balance(differences=(row,), answered={"year": {"slides": 3, "face": 4}}),
        direct_group=DirectGroup(asked=200, drawn_but_refused=3, ended=True, smallest_cell=5, outcomes=(direct,)),
    )


@given(cells=counts, means=st.tuples(numbers, numbers, numbers), subsamples=st.sampled_from([TELLING, MIRRORED]))
def test_what_is_stored_is_read_back_and_stored_again_alike(
    cells: np.ndarray, means: tuple[float | None, ...], subsamples: dict[str, dict[str, str]]
) -> None:
    results = full_results(cells, means, design(subsamples))
    read = read_results(stored(results))
    assert read == results
    assert stored(read) == stored(results)


def test_a_study_without_a_balance_or_a_direct_group_stores_neither() -> None:
    results = Results(n=0, design={}, outcomes={})
    assert set(document_of(results)) == {"n", "design", "outcomes"}
    assert read_results(stored(results)) == results


def test_a_question_without_estimates_has_none() -> None:
    results = full_results(np.full((2, 2, 2), 30), (0.1, 0.2, None), design())
    assert isinstance(results.estimate("attention"), QuestionEstimate)
    assert (results.estimate("retention"), results.estimate("unknown")) == (None, None)


@pytest.mark.parametrize("damaged", [None, {}, [], "text", {"n": 3}, {"n": 3, "design": {}, "outcomes": {"attention": {"n": 3}}}])
def test_what_does_not_fit_is_not_read(damaged: object) -> None:
    assert read_results(damaged) is None


def test_a_number_that_was_renamed_does_not_fit() -> None:
    document = stored(full_results(np.full((2, 2, 2), 30), (0.1, 0.2, None), design()))
    effect = document["outcomes"]["attention"]["effects"][0]
    effect["estimate"] = effect.pop("value")
    assert read_results(document) is None


def test_another_shape_has_another_version() -> None:
    classes = TypeAdapter(Results).json_schema()["$defs"].items()
    shape = {name: sorted(schema["properties"]) for name, schema in classes}
    assert hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16] == SHAPES[METHOD_VERSION]
