"""R² of covariates in a plan, against the variances that follow from the influence functions, person by person."""

import numpy as np
import pytest

from candor.designs.design import Design
from candor.planning.information import Scenario, precision
from tests.designs import DESIGNS

MIRRORED = DESIGNS["mirrored"]
THREE = Design.of(
    arms=("control", "treatment"),
    control="control",
    subsamples={
        name: {"forced_no": no, "forced_yes": yes}
        for name, no, yes in (("1", "3/20", "8/20"), ("2", "4/20", "4/20"), ("3", "10/20", "3/20"))
    },
    arm_probabilities=["1/4", "3/4"],
    subsample_probabilities=["1/5", "1/2", "3/10"],
)


@pytest.mark.parametrize("design", [MIRRORED, THREE], ids=["mirrored", "three subsamples"])
@pytest.mark.parametrize(("prevalence", "r_squared"), [((0.4, 0.6), 0.4), ((0.1, 0.3), 0.1)])
def test_the_variance_is_that_of_adjusted_cell_means(design: Design, prevalence: tuple[float, float], r_squared: float) -> None:
    """A covariate that half of the people have. Each cell's mean, adjusted with the true model, varies by what the covariate leaves open
    inside the cell and by the model over all people; the linear model of the cells is then fitted by generalised least squares.
    """
    x, q = 0.85, 0.3
    p = np.array(prevalence)
    shift = np.sqrt(r_squared * p * (1 - p))
    by_covariate = np.stack([p - shift, p + shift])
    means = x * (design.truth * by_covariate[..., None] + design.forced_yes) + (1 - x) * q
    within = (means * (1 - means)).mean(axis=0).ravel() / np.outer(design.arm_shares, design.subsample_shares).ravel()
    between = (means - means.mean(axis=0)).reshape(2, -1)
    covariance = np.diag(within) + between.T @ between / 2
    arms = np.kron(np.eye(2), design.truth[:, None])
    rows = np.hstack([arms, np.tile(design.forced_yes, 2)[:, None]])
    if design is THREE:
        rows = np.hstack([rows, np.ones((len(rows), 1))])
    fitted = np.linalg.inv(rows.T @ np.linalg.inv(covariance) @ rows)
    found = precision(design, Scenario(prevalence=prevalence, honest_proportion=x, cheater_yes_rate=q, covariate_r_squared=r_squared))
    contrast = np.zeros(rows.shape[1])
    contrast[:2] = -1, 1
    assert found.unit_honest_times_effect_error[0] ** 2 == pytest.approx(contrast @ fitted @ contrast)
    assert found.unit_honest_proportion_error**2 == pytest.approx(fitted[2, 2])
    contrast[2] = -(p[1] - p[0])
    assert found.unit_effect_error[0] ** 2 == pytest.approx(contrast @ fitted @ contrast / x**2)
    ordinary = (1 - r_squared) * (p * (1 - p) / design.arm_shares).sum() + (shift[1] - shift[0]) ** 2
    assert found.unit_ordinary_error[0] ** 2 == pytest.approx(ordinary)


def test_the_die_dilutes_what_covariates_explain() -> None:
    """An ordinary trial saves a third of its people with R² = 1/3, the default die less than a tenth."""
    without, with_covariates = (
        precision(MIRRORED, Scenario(prevalence=(0.4, 0.6), honest_proportion=0.9, cheater_yes_rate=0.5, covariate_r_squared=r_squared))
        for r_squared in (0.0, 1 / 3)
    )
    assert (with_covariates.unit_ordinary_error[0] / without.unit_ordinary_error[0]) ** 2 == pytest.approx(2 / 3)
    saved = 1 - (with_covariates.unit_honest_times_effect_error[0] / without.unit_honest_times_effect_error[0]) ** 2
    assert 0.05 < saved < 0.1
