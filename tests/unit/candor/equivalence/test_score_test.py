"""The score test of a linear hypothesis, against Farrington and Manning's, statsmodels, and a likelihood maximised blindly."""

import numpy as np
import pytest
from scipy.optimize import minimize
from statsmodels.stats.proportion import test_proportions_2indep as proportions_test
from statsmodels.stats.proportion import tost_proportions_2indep as tost

from candor.equivalence.margin_tests import contrast_statistic
from candor.equivalence.score_test import score_statistic
from candor.estimators.cell_means import cell_model
from tests.designs import DESIGNS

ARMS = np.eye(2)
CONTRAST = np.array([-1.0, 1.0])
TABLES = [[[60, 40], [50, 50]], [[9, 3], [5, 20]], [[150, 8], [40, 3]]]


def plain(table, difference):
    """Two arms whose true answers are seen; arms in the order control, treatment."""
    inside = np.array([0.5 - difference / 2, 0.5 + difference / 2])
    return float(score_statistic(np.array([table], dtype=float), ARMS, offset=0.0, hypothesis=CONTRAST, inside=inside)[0])


def farrington_manning(table, difference):
    """The constrained maximum as a root of a cubic equation, in the words of Miettinen and Nurminen (1985)."""
    (no, yes), (treated_no, treated_yes) = table
    control, treated = no + yes, treated_no + treated_yes
    n, count = control + treated, yes + treated_yes
    third, second = n, (treated + 2 * control) * difference - n - count
    first = (control * difference - n - 2 * yes) * difference + count
    roots = np.roots([third, second, first, yes * difference * (1 - difference)]).real
    (share,) = [root for root in roots if max(0, -difference) < root < min(1, 1 - difference)]
    variance = share * (1 - share) / control + (share + difference) * (1 - share - difference) / treated
    return (treated_yes / treated - yes / control - difference) / np.sqrt(variance)


@pytest.mark.parametrize("difference", [-0.3, -0.05, 0.1, 0.4])
@pytest.mark.parametrize("table", TABLES)
def test_of_true_answers_it_is_the_test_of_farrington_and_manning(table, difference):
    assert plain(table, difference) == pytest.approx(farrington_manning(table, difference), abs=1e-6)


@pytest.mark.parametrize("table", TABLES)
def test_of_no_difference_it_is_the_score_test_of_statsmodels(table):
    """Their test of other differences is not at the maximum of the likelihood: a count stands there for a number of people."""
    (no, yes), (treated_no, treated_yes) = table
    theirs = proportions_test(treated_yes, treated_yes + treated_no, yes, yes + no, method="score", correction=False)
    assert plain(table, 0.0) == pytest.approx(theirs.statistic, abs=1e-6)


def test_two_one_sided_tests_are_those_of_statsmodels_when_answers_are_many():
    """Theirs with the variance of the estimate; the variances of the hypotheses differ from it by less than 1 % here."""
    table = [[11_000, 9_000], [10_700, 9_300]]
    theirs = tost(9_300, 20_000, 9_000, 20_000, low=-0.025, upp=0.025, method="wald")
    assert plain(table, -0.025) == pytest.approx(theirs.results_larger.statistic, rel=0.01)
    assert plain(table, 0.025) == pytest.approx(theirs.results_smaller.statistic, rel=0.01)


@pytest.mark.parametrize("name", ["mirrored", "three subsamples", "symmetric, stated rate", "symmetric, unknown", "three arms"])
def test_it_is_the_slope_of_the_likelihood_at_its_constrained_maximum(name):
    """The constrained maximum by another program, and the score statistic by its definition Uᵀ I⁻¹ U."""
    design = DESIGNS[name]
    rng = np.random.default_rng(5)
    yes = rng.integers(60, 140, size=design.shape)
    table = np.stack([200 - yes, yes], axis=-1).astype(float)
    effect = 0.12
    model = cell_model(design)
    matrix, cells = model.matrix, table.reshape(-1, 2)
    hypothesis = model.contrasts[0].copy()
    right = effect
    if model.honest is not None:
        hypothesis[model.honest], right = -effect, 0.0

    def minus(beta):
        mean = np.clip(matrix @ beta + model.offset, 1e-9, 1 - 1e-9)
        return -(cells[:, 1] @ np.log(mean) + cells[:, 0] @ np.log(1 - mean)) / 100

    start = np.linalg.lstsq(matrix, np.full(len(matrix), 0.5) - model.offset)[0]
    found = minimize(
        minus,
        start,
        constraints={"type": "eq", "fun": lambda beta: hypothesis @ beta - right},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    ).x
    mean = matrix @ found + model.offset
    score = matrix.T @ (cells[:, 1] / mean - cells[:, 0] / (1 - mean))
    information = matrix.T @ np.diag(200 / (mean * (1 - mean))) @ matrix
    assert contrast_statistic(table, effect, design=design) ** 2 == pytest.approx(score @ np.linalg.solve(information, score), rel=1e-3)
