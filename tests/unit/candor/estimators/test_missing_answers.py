"""Missing answers: the test against SciPy, the bounds against every possible completion and every possible trimming."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from candor.designs.design import Design
from candor.errors import DataError
from candor.estimators.missing_answers import missing_answers
from tests.designs import DESIGNS

DESIGN = Design.of(
    arms=("slides", "face"),
    control="slides",
    subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
)
TRUTH = 0.5

tables = st.lists(st.integers(1, 9), min_size=8, max_size=8).map(lambda cells: np.array(cells).reshape(2, 2, 2))
absences = st.lists(st.integers(0, 4), min_size=4, max_size=4).map(lambda cells: np.array(cells).reshape(2, 2))


@settings(max_examples=50)
@given(tables, absences)
def test_the_test_is_that_of_scipy(counts, absent):
    found = missing_answers(counts, absent, design=DESIGN)
    if not absent.any():
        assert found is None
        return
    table = np.stack([counts.sum(axis=-1), absent], axis=-1).reshape(-1, 2)
    expected = chi2_contingency(table, correction=False)
    assert (found.statistic, found.df, found.p_value) == (pytest.approx(expected.statistic), expected.dof, pytest.approx(expected.pvalue))


@settings(max_examples=50)
@given(tables, absences)
def test_the_worst_case_is_that_of_all_completions(counts, absent):
    found = missing_answers(counts, absent, design=DESIGN)
    if found is None:
        return
    yes, n, gone = counts[..., 1].sum(axis=1), counts.sum(axis=(1, 2)), absent.sum(axis=1)
    shares = [[(yes[arm] + more) / (n[arm] + gone[arm]) for more in range(gone[arm] + 1)] for arm in (0, 1)]
    possible = [(treated - untreated) / TRUTH for untreated, treated in product(*shares)]
    (one,) = found.contrasts
    assert one.worst_case == pytest.approx((min(possible), max(possible)))
    assert one.worst_case[0] - 1e-9 <= one.observed <= one.worst_case[1] + 1e-9


def test_lees_bounds_are_those_of_all_trimmings():
    """Everybody in control answers, three quarters in treatment: a quarter of the 40 control answers is left out, in every possible way."""
    counts = np.array([[[14, 6], [10, 10]], [[6, 9], [5, 10]]])
    found = missing_answers(counts, [[0, 0], [5, 5]], design=DESIGN)
    trimmed = [(16 - yes) / 30 for yes in range(11)]  # of 16 yes among 40, the 10 that leave may hold 0 to 10
    assert found.contrasts[0].lee == pytest.approx(((19 / 30 - max(trimmed)) / TRUTH, (19 / 30 - min(trimmed)) / TRUTH))


def trimmed(yes: float, n: float, kept: float) -> tuple[float, float]:
    """The mean of the lowest and of the highest answers, of which `kept` stay, and of the last one as much as is needed."""
    answers = np.sort(np.repeat([0.0, 1.0], [int(n - yes), int(yes)]))
    low, high = (np.interp(kept, np.arange(n + 1), np.cumsum([0.0, *order])) for order in (answers, answers[::-1]))
    return low / kept, high / kept


@settings(max_examples=100)
@given(
    st.sampled_from(["three arms", "symmetric, unknown", "three arms, three subsamples"]).map(DESIGNS.__getitem__),
    st.integers(0, 2**32 - 1),
)
def test_lees_bounds_are_means_of_sorted_answers(design: Design, seed: int) -> None:
    """In several arms, with one person in a cell, with one answer of everybody, and where dice ask unlike shares for the truth."""
    rng = np.random.default_rng(seed)
    n, absent = rng.integers(1, 9, design.shape), rng.integers(0, 9, design.shape)
    yes = rng.integers(0, n + 1) * rng.integers(0, 2, (len(design.arms), 1))
    absent[0, 0] += 1
    found = missing_answers(np.stack([n - yes, yes], axis=-1), absent, design=design)
    assert found is not None
    in_trial = n + absent
    truth = (in_trial * design.truth).sum() / in_trial.sum()
    answered = dict(zip(design.arms, n.sum(axis=1) / in_trial.sum(axis=1), strict=True))
    said = dict(zip(design.arms, zip(yes.sum(axis=1), n.sum(axis=1), strict=True), strict=True))
    for one in found.contrasts:
        least = min(answered[one.treatment], answered[one.control])
        treated, untreated = (trimmed(*said[arm], said[arm][1] * least / answered[arm]) for arm in (one.treatment, one.control))
        assert one.lee == pytest.approx(((treated[0] - untreated[1]) / truth, (treated[1] - untreated[0]) / truth), abs=1e-9)


def test_lees_bounds_hold_the_truth_when_the_arm_makes_people_answer_and_the_observed_difference_does_not():
    """People who would answer only in treatment say yes more often. Negative control: the plain difference is far from the truth."""
    rng = np.random.default_rng(1)
    n = 200_000
    arm, subsample = rng.integers(0, 2, n), rng.integers(0, 2, n)
    wavers = rng.random(n) < 0.3
    true = rng.random(n) < np.where(wavers, 0.8, 0.3)
    roll = rng.random(n)
    said = np.where(roll < TRUTH, true, roll < (TRUTH + DESIGN.forced_yes)[subsample])
    answers = ~wavers | (arm == 1)
    counts, absent = np.zeros((2, 2, 2), dtype=int), np.zeros((2, 2), dtype=int)
    np.add.at(counts, (arm[answers], subsample[answers], said[answers].astype(int)), 1)
    np.add.at(absent, (arm[~answers], subsample[~answers]), 1)
    found = missing_answers(counts, absent, design=DESIGN)
    (one,) = found.contrasts
    assert found.p_value < 1e-6
    assert one.observed > 0.1
    assert one.lee[0] < 0 < one.lee[1]
    assert one.worst_case[0] < 0 < one.worst_case[1]


def test_missing_answers_of_another_design_are_refused():
    with pytest.raises(DataError, match=r"shape \(2, 2\)"):
        missing_answers(np.ones((2, 2, 2)), [1, 2], design=DESIGN)
    with pytest.raises(DataError, match="must be counts"):
        missing_answers(np.ones((2, 2, 2)), [[0, -1], [0, 0]], design=DESIGN)


def test_every_category_has_the_bounds_of_yes_for_it_and_no_for_the_others():
    faces = {"1": {"never": "1/8", "once": "1/8", "often": "2/8"}, "2": {"never": "2/8", "once": "1/8", "often": "1/8"}}
    named = Design.of(arms=DESIGN.arms, control="slides", categories=("never", "once", "often"), subsamples=faces)
    counts = np.random.default_rng(5).integers(1, 30, (2, 2, 3))
    absent = np.array([[3, 0], [7, 9]])
    found = missing_answers(counts, absent, design=named)
    assert [one.category for one in found.contrasts] == ["never", "once", "often"]
    for place, one in enumerate(found.contrasts):
        yes = counts[..., place]
        old = missing_answers(np.stack([counts.sum(axis=-1) - yes, yes], axis=-1), absent, design=DESIGN)
        assert (found.statistic, found.df, found.p_value) == (old.statistic, old.df, old.p_value)
        assert one == replace(old.contrasts[0], category=one.category)
    assert "face − slides, often" in found.sentence
    survey = Design.of(arms=("slides",), control="slides", categories=("never", "once", "often"), subsamples=faces)
    assert missing_answers(counts[:1], absent[:1], design=survey).sentence.endswith(").")


def test_one_missing_answer_is_one():
    said = missing_answers(np.full((2, 2, 2), 5), [[1, 0], [0, 0]], design=DESIGN).sentence
    assert said.startswith("1 answer (2.4%) is missing, alike in all groups")
    assert "Whatever it is, honest share × effect" in said
