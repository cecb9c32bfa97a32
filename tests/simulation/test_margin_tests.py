"""Size and power of tests against margins, at the sizes of a class; 4,000 trials in every setting, all seeds fixed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from candor.designs.design import FloatArray
from candor.equivalence.margin_tests import contrast_statistic
from candor.estimators.cell_means import efficient_kernel
from tests.designs import DESIGNS, Cells

TRIALS, MARGIN = 4000, 0.2
Z = float(ndtri(0.95))
NAMES = ["mirrored", "three subsamples", "symmetric, cheaters say no", "symmetric, unknown"]


def tables(name: str, cells: Cells, *, n: int, effect: float, prevalence: float = 0.1, treated: int = 1) -> FloatArray:
    """70 % follow the die, and one person in 1 + `treated` is in the control arm."""
    design = replace(DESIGNS[name], arm_probabilities=(Fraction(1, 1 + treated), Fraction(treated, 1 + treated)))
    size = effect if design.identification.effect else effect / 0.7  # of τ, so that the quantity of the test is `effect`
    known = design.cheater_model.yes_rate
    p = cells(design, honest=0.7, prevalence=[prevalence, prevalence + size], cheater_yes_rate=0.5 if known is None else float(known))
    found = np.random.default_rng(n + treated).multinomial(n, p.ravel(), size=TRIALS).reshape(-1, *p.shape).astype(float)
    return found[(found.sum(axis=-1) > 0).all(axis=(-1, -2))]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [100, 500])
@pytest.mark.parametrize("treated", [1, 3])
def test_a_difference_as_large_as_the_margin_is_overlooked_in_one_study_of_twenty(
    name: str, n: int, treated: int, cell_probabilities: Cells
) -> None:
    """The true rate is at most .06 (the answers are whole numbers); the limit is the binomial quantile at 1 − 10⁻⁶ of that."""
    found = tables(name, cell_probabilities, n=n, effect=MARGIN, treated=treated)
    rejected = int((contrast_statistic(found, MARGIN, design=DESIGNS[name]) < -Z).sum())
    assert rejected <= binom.ppf(1 - 1e-6, len(found), 0.06)
    assert rejected >= binom.ppf(1e-6, len(found), 0.04)


def test_the_ratio_of_the_estimates_divided_by_its_standard_error_would_not_keep_the_size(cell_probabilities: Cells) -> None:
    """Negative control: τ̂ and its standard error grow together, so that the ratio never finds an effect above a margin, and too often one
    below; the score test is as often wrong in either direction."""
    found, design = tables("mirrored", cell_probabilities, n=500, effect=MARGIN), DESIGNS["mirrored"]
    joint = efficient_kernel(found, design)
    with np.errstate(invalid="ignore"):
        ratio = (joint.effect - MARGIN) / joint.standard_error
    assert (ratio > Z).sum() < 0.001 * TRIALS
    assert (ratio < -Z).mean() > 0.07
    assert (contrast_statistic(found, MARGIN, design=design) > Z).sum() >= binom.ppf(1e-6, TRIALS, 0.04)


def test_no_difference_is_found_equivalent_as_often_as_the_normal_distribution_says(cell_probabilities: Cells) -> None:
    """Power 2Φ(δ/σ − z) − 1 with σ the standard error of Δ̂ − δx̂ at no effect; .03 for variances that differ between the hypotheses."""
    design, n = DESIGNS["symmetric, unknown"], 2000
    found = tables("symmetric, unknown", cell_probabilities, n=n, effect=0.0, prevalence=0.4)
    both = (contrast_statistic(found, MARGIN, design=design) < -Z) & (contrast_statistic(found, -MARGIN, design=design) > Z)
    spread = float(efficient_kernel(found, design).honest_times_effect.std())
    expected = 2 * float(ndtr(MARGIN / spread - Z)) - 1
    assert 0.5 < expected < 0.999
    assert both.mean() == pytest.approx(expected, abs=0.03 + 5 * np.sqrt(0.25 / TRIALS))
