"""The efficient fit against statsmodels' binomial GLM with identity link."""

import numpy as np
import pytest
import statsmodels.api as sm

from candor.designs.design import Design, FloatArray
from candor.errors import DataError, NotIdentifiedError
from candor.estimators.cell_means import cell_model, efficient_from_cell_means, efficient_kernel, maximum_likelihood_fit
from candor.estimators.difference_in_means import difference_in_means_kernel
from tests.designs import Cells, some_tables


@pytest.mark.filterwarnings("ignore:The identity link function does not respect the domain")
@pytest.mark.parametrize("arm_specific", [False, True])
def test_the_fit_is_that_of_statsmodels(design: Design, cell_probabilities: Cells, arm_specific: bool) -> None:
    if arm_specific and not design.identification.arm_specific_cheaters:
        with pytest.raises(NotIdentifiedError, match="three subsamples"):
            cell_model(design, arm_specific_cheaters=True)
        return
    for table in some_tables(design, cell_probabilities, n=4000, trials=3):
        fit = maximum_likelihood_fit(table, design, arm_specific_cheaters=arm_specific)
        assert fit.converged
        answers = table.reshape(-1, 2)[:, ::-1]
        family = sm.families.Binomial(link=sm.families.links.Identity())
        model = sm.GLM(answers, fit.model.matrix, family=family, offset=np.full(len(answers), fit.model.offset))
        other = model.fit(start_params=fit.coefficients + 0.01, maxiter=200, tol=1e-14)
        assert fit.coefficients == pytest.approx(other.params, abs=1e-7)
        assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(other.bse, rel=1e-5)
        assert float(fit.statistic) == pytest.approx(other.pearson_chi2, rel=1e-5, abs=1e-6)
        assert fit.df == other.df_resid


def test_exact_probabilities_give_back_the_truth(
    design: Design, truth_about: tuple[float, list[float], float], cell_probabilities: Cells
) -> None:
    honest, prevalence, rate = truth_about
    p = cell_probabilities(design, honest=honest, prevalence=prevalence, cheater_yes_rate=rate)
    fit = maximum_likelihood_fit(1e6 * p, design)
    joint = fit.joint_estimates()
    effects = np.array([prevalence[arm] for arm in design.treatment_indexes]) - prevalence[design.control_index]
    assert joint.honest_times_effect == pytest.approx(honest * effects, abs=1e-9)
    assert float(fit.statistic) == pytest.approx(0, abs=1e-9)
    if design.identification.effect:
        assert joint.effect == pytest.approx(effects)
    if design.identification.prevalence:
        assert fit.coefficients[: len(prevalence)] == pytest.approx(honest * np.array(prevalence))


def test_least_squares_with_the_fitted_variances_repeats_the_fit(design: Design, cell_probabilities: Cells) -> None:
    (table,) = some_tables(design, cell_probabilities, n=3000, trials=1)
    fit, size = maximum_likelihood_fit(table, design), table.sum(axis=-1)
    variances = (fit.fitted * (1 - fit.fitted) / size).ravel()
    again = efficient_from_cell_means(table[..., 1] / size, np.diag(variances), design)
    assert again.coefficients == pytest.approx(fit.coefficients)
    assert again.covariance == pytest.approx(fit.covariance)
    assert float(again.statistic) == pytest.approx(float(fit.statistic))


def test_least_squares_is_invariant_to_correlated_errors_common_to_all_cells(mirrored: Design) -> None:
    """Adding c·11ᵀ to the covariance of a model that contains a constant leaves the coefficients' contrasts as they are."""
    means = np.array([[0.4, 0.52], [0.45, 0.66]])
    plain = efficient_from_cell_means(means, np.diag([1.0, 2, 3, 4]) / 100, mirrored)
    shifted = efficient_from_cell_means(means, np.diag([1.0, 2, 3, 4]) / 100 + 0.05, mirrored)
    assert shifted.joint_estimates().honest_times_effect == pytest.approx(plain.joint_estimates().honest_times_effect)
    assert float(shifted.statistic) == pytest.approx(float(plain.statistic))


def test_wrong_shapes_and_singular_covariances_are_refused(mirrored: Design) -> None:
    with pytest.raises(DataError, match="expected means"):
        efficient_from_cell_means(np.ones((2, 3)), np.eye(6), mirrored)
    with pytest.raises(DataError, match="positive definite"):
        efficient_from_cell_means(np.full((2, 2), 0.5), np.diag([1.0, 0, 1, 1]), mirrored)


def test_a_batch_gives_what_its_tables_give_one_by_one(design: Design, cell_probabilities: Cells) -> None:
    tables = some_tables(design, cell_probabilities, n=300, trials=6)
    batch = efficient_kernel(tables.reshape(2, 3, *tables.shape[1:]), design)
    for index, table in zip(np.ndindex(2, 3), tables, strict=True):
        assert batch.honest_times_effect[index] == pytest.approx(efficient_kernel(table, design).honest_times_effect, abs=1e-8)
        assert batch.effect[index] == pytest.approx(efficient_kernel(table, design).effect, rel=1e-6, nan_ok=True)


def test_a_table_with_an_empty_cell_has_no_efficient_estimate_but_leaves_the_others_alone(mirrored: Design) -> None:
    whole = np.array([[[13.0, 7], [11, 9]], [[9, 11], [7, 13]]])
    empty = whole.copy()
    empty[1, 1] = 0
    both = efficient_kernel(np.array([empty, whole]), mirrored)
    assert np.isnan(both.effect[0]).all()
    assert both.effect[1] == pytest.approx([2 / 3])


def test_the_gain_is_half_a_percent_when_mirrored_and_a_tenth_when_truth_shares_differ(
    mirrored: Design, symmetric: Design, cell_probabilities: Cells
) -> None:
    def variance_ratio(design: Design, cheater_yes_rate: float) -> float:
        p = cell_probabilities(design, honest=0.85, prevalence=(0.4, 0.6), cheater_yes_rate=cheater_yes_rate)
        simple, efficient = difference_in_means_kernel(1e6 * p, design), efficient_kernel(1e6 * p, design)
        return float((simple.standard_error[0] / efficient.standard_error[0]) ** 2)

    assert 1 < np.sqrt(variance_ratio(mirrored, 0.5)) < 1.005
    assert 1.08 <= variance_ratio(symmetric, 0) <= 1.15


def test_fixing_the_honest_share_gives_the_constrained_least_squares_fit(symmetric: Design) -> None:
    """x̂ > 1: the effect equals that of the regression of m − f1 on t alone."""
    means, variances = np.array([[0.45, 0.6], [0.62, 0.7]]), np.array([1.0, 2, 1.5, 1]) / 1000
    fit = efficient_from_cell_means(means, np.diag(variances), symmetric)
    joint = fit.joint_estimates()
    assert float(joint.honest_proportion) > 1
    rest = means.ravel() - np.tile(symmetric.forced_yes, 2)
    slopes = [
        (symmetric.truth * rest[arm] / variances[arm]).sum() / (symmetric.truth**2 / variances[arm]).sum()
        for arm in (slice(0, 2), slice(2, 4))
    ]
    assert joint.effect == pytest.approx([slopes[1] - slopes[0]])


def test_the_search_settles_on_any_table_at_a_maximum_of_the_likelihood(design: Design) -> None:
    """Tables far from the model, with zeros: the score vanishes and no small step along a coefficient is better."""
    tables = np.random.default_rng(9).integers(0, 12, size=(500, *design.shape, 2)).astype(float)
    tables[..., 0] += tables.sum(axis=-1) == 0
    fit = maximum_likelihood_fit(tables, design)
    assert fit.converged.all()
    no, yes = (np.where(tables[..., answer] > 0, tables[..., answer], 0.5) for answer in (0, 1))

    def height(coefficients: FloatArray) -> FloatArray:
        mu = (coefficients @ fit.model.matrix.T + fit.model.offset).reshape(yes.shape)
        return np.where((mu > 0) & (mu < 1), yes * np.log(np.abs(mu)) + no * np.log(np.abs(1 - mu)), -np.inf).sum(axis=(1, 2))

    best = height(fit.coefficients)
    for step in 1e-3 * np.vstack([np.eye(fit.coefficients.shape[1]), -np.eye(fit.coefficients.shape[1])]):
        assert np.all(height(fit.coefficients + step) < best)


def test_a_billion_answers_settle_as_ten_do(mirrored: Design) -> None:
    table = np.array([[[13.0, 7], [11, 9]], [[9, 11], [6, 14]]])
    small, large = maximum_likelihood_fit(table, mirrored), maximum_likelihood_fit(1e8 * table, mirrored)
    assert large.converged
    assert large.coefficients == pytest.approx(small.coefficients)


def test_rare_answers_keep_their_small_variances(symmetric: Design) -> None:
    """Cell means near .05: the covariance is (MᵀWM)⁻¹ with the fitted variances, nothing cut."""
    table = np.array([[[950.0, 50], [930, 70]], [[945, 55], [935, 65]]])
    fit = maximum_likelihood_fit(table, symmetric)
    assert fit.fitted.max() < 0.1
    weights = np.diag((1000 / (fit.fitted * (1 - fit.fitted))).ravel())
    assert fit.covariance == pytest.approx(np.linalg.inv(fit.model.matrix.T @ weights @ fit.model.matrix))
