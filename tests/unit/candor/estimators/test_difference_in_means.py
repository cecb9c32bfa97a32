"""The closed forms against exact enumeration, the exact delta method, and Monte-Carlo moments."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from candor.designs.design import Design, FloatArray
from candor.errors import NotIdentifiedError
from candor.estimators.cheaters import cheater_proportion_kernel, influence_of_honest_proportion, subsample_weights
from candor.estimators.difference_in_means import difference_in_means_kernel, influence_of_honest_times_effect
from candor.estimators.intervals import fieller_limits, normal_quantile

Cells = Callable[..., FloatArray]


def exact(design: Design, truth_about: tuple[float, list[float], float], cells: Cells) -> FloatArray:
    honest, prevalence, rate = truth_about
    return cells(design, honest=honest, prevalence=prevalence, cheater_yes_rate=rate)


def test_exact_probabilities_give_back_the_truth(
    design: Design, truth_about: tuple[float, list[float], float], cell_probabilities: Cells
) -> None:
    honest, prevalence, _ = truth_about
    estimate = difference_in_means_kernel(exact(design, truth_about, cell_probabilities), design)
    effects = np.array([prevalence[arm] for arm in design.treatment_indexes]) - prevalence[design.control_index]
    assert estimate.honest_times_effect == pytest.approx(honest * effects)
    if design.identification.effect:
        assert float(estimate.honest_proportion) == pytest.approx(honest)
        assert estimate.effect == pytest.approx(effects)
    else:
        assert np.isnan(estimate.effect).all()


def test_mirrored_x_is_a_compliance_rate(mirrored: Design) -> None:
    assert subsample_weights(mirrored) == pytest.approx([-6, 6])


@pytest.mark.parametrize("rate", [0, 0.25, 1])
def test_x_follows_equation_2_when_the_rate_is_stated(rate: float) -> None:
    subsamples = {"1": {"forced_no": 0.1, "forced_yes": 0.3}, "2": {"forced_no": 0.25, "forced_yes": 0.1}}
    design = Design.of(arms=("a", "b"), control="a", subsamples=subsamples, cheater_model={"yes_rate": rate})
    (t1, t2), (f1, f2), means = design.truth, design.forced_yes, np.array([0.47, 0.31])
    d, step = f1 * t2 - f2 * t1, t2 - t1
    by_hand = (t2 * means[0] - t1 * means[1] - rate * step) / (d - rate * step)
    assert (means - rate) @ subsample_weights(design) == pytest.approx(by_hand)


def test_no_weights_where_x_is_not_identified(symmetric_unknown: Design) -> None:
    with pytest.raises(NotIdentifiedError, match="not identified"):
        subsample_weights(symmetric_unknown)


def every_table(n: int, cells: int) -> FloatArray:
    """All ways to put n people into so many cells."""
    bars = np.array(list(itertools.combinations(range(n + cells - 1), cells - 1)))
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + cells - 1)])
    return (np.diff(edges, axis=1) - 1).astype(float)


def test_enumerating_every_table_of_six_people_shows_no_bias(mirrored: Design, cell_probabilities: Cells) -> None:
    """Given that no subsample is empty x̂ has exactly the right mean and variance Σw²m(1−m)/N; given that no arm is empty Δ̂ is unbiased."""
    probabilities = cell_probabilities(mirrored, honest=0.8, prevalence=(0.3, 0.7), cheater_yes_rate=0.6)
    flat = every_table(6, 8)
    tables = flat.reshape(-1, 2, 2, 2)
    chance = stats.multinomial.pmf(flat, 6, probabilities.ravel())
    assert chance.sum() == pytest.approx(1)
    estimate = difference_in_means_kernel(tables, mirrored)

    filled = (tables.sum(axis=(2, 3)) > 0).all(axis=1)
    assert chance[filled] @ estimate.honest_times_effect[filled, 0] / chance[filled].sum() == pytest.approx(0.8 * 0.4)

    filled = (tables.sum(axis=(1, 3)) > 0).all(axis=1)
    weight, honest = chance[filled] / chance[filled].sum(), estimate.honest_proportion[filled]
    assert weight @ honest == pytest.approx(0.8)
    sizes = tables.sum(axis=(1, 3))[filled]
    means = probabilities[..., 1].sum(axis=0) / probabilities.sum(axis=(0, 2))
    assert weight @ honest**2 - 0.8**2 == pytest.approx(weight @ (36 * means * (1 - means) / sizes).sum(axis=1))


def test_tables_with_an_empty_arm_or_subsample_have_no_estimate(mirrored: Design) -> None:
    tables = np.array([[[[3.0, 2], [1, 4]], [[0, 0], [0, 0]]], [[[3.0, 2], [0, 0]], [[1, 2], [0, 0]]]])
    estimate = difference_in_means_kernel(tables, mirrored)
    assert np.isnan(estimate.effect).all()
    assert np.isnan(estimate.honest_proportion[1])


def gradient(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    """Central differences of a vector function of the cells, shape (outputs, cells)."""
    steps = np.eye(at.size).reshape(-1, *at.shape) * 1e-6
    return np.array([(function(at + step) - function(at - step)) / 2e-6 for step in steps]).T


def test_the_variances_are_the_exact_delta_method_of_the_multinomial(
    design: Design, truth_about: tuple[float, list[float], float], cell_probabilities: Cells
) -> None:
    p = exact(design, truth_about, cell_probabilities)
    n, known = 1000.0, design.identification.effect
    multinomial = (np.diag(p.ravel()) - np.outer(p.ravel(), p.ravel())) / n

    def point(cells: FloatArray) -> FloatArray:
        estimate = difference_in_means_kernel(cells, design)
        return np.concatenate(
            [estimate.honest_times_effect, [estimate.honest_proportion] if known else [], estimate.effect if known else []]
        )

    slopes = gradient(point, p)
    covariance = slopes @ multinomial @ slopes.T
    contrasts = len(design.treatments)
    estimate = difference_in_means_kernel(n * p, design)
    assert estimate.honest_times_effect_variance == pytest.approx(np.diag(covariance)[:contrasts], rel=1e-5)
    if known:
        assert float(estimate.honest_proportion_variance) == pytest.approx(covariance[contrasts, contrasts], rel=1e-5)
        assert estimate.covariance == pytest.approx(covariance[:contrasts, contrasts], rel=1e-4, abs=1e-9)
        assert estimate.standard_error == pytest.approx(np.sqrt(np.diag(covariance)[contrasts + 1 :]), rel=1e-5)


def test_influences_have_mean_zero(design: Design) -> None:
    counts = np.random.default_rng(3).integers(1, 50, size=(*design.shape, 2)).astype(float)
    assert (influence_of_honest_times_effect(counts, design) * counts).sum(axis=(1, 2, 3)) == pytest.approx(0, abs=1e-8)
    if design.identification.effect:
        assert (influence_of_honest_proportion(counts, design) * counts).sum() == pytest.approx(0, abs=1e-8)


def test_the_spread_of_many_trials_is_the_standard_error(identified_design: Design, cell_probabilities: Cells) -> None:
    """The standard deviation of 20,000 estimates has a relative error of 1/√40000 = .5 %; four of those, and 1 % for curvature."""
    known = identified_design.cheater_model.yes_rate
    p = cell_probabilities(
        identified_design,
        honest=0.85,
        prevalence=[0.4, 0.6, 0.5][: len(identified_design.arms)],
        cheater_yes_rate=0.5 if known is None else float(known),
    )
    tables = np.random.default_rng(11).multinomial(20_000, p.ravel(), size=20_000).reshape(-1, *p.shape).astype(float)
    estimate, expected = difference_in_means_kernel(tables, identified_design), difference_in_means_kernel(20_000 * p, identified_design)
    assert estimate.honest_times_effect.std(axis=0) == pytest.approx(np.sqrt(expected.honest_times_effect_variance), rel=0.03)
    assert estimate.honest_proportion.std() == pytest.approx(np.sqrt(expected.honest_proportion_variance), rel=0.03)
    uncut = estimate.honest_times_effect / estimate.honest_proportion[:, None]
    assert uncut.std(axis=0) == pytest.approx(expected.standard_error, rel=0.03)


@pytest.mark.parametrize("n", [200, 1000, 5000])
def test_fieller_covers_at_its_level(mirrored: Design, cell_probabilities: Cells, n: int) -> None:
    """40,000 trials: the Monte-Carlo error of a coverage near .95 is .0011, so [.935, .955] is reached with room for the asymptotics."""
    p = cell_probabilities(mirrored, honest=0.85, prevalence=(0.4, 0.6), cheater_yes_rate=0.5)
    tables = np.random.default_rng(5).multinomial(n, p.ravel(), size=40_000).reshape(-1, *p.shape).astype(float)
    estimate = difference_in_means_kernel(tables, mirrored)
    low, high = fieller_limits(
        estimate.honest_times_effect[:, 0],
        estimate.honest_proportion,
        numerator_variance=estimate.honest_times_effect_variance[:, 0],
        denominator_variance=estimate.honest_proportion_variance,
        covariance=estimate.covariance[:, 0],
        multiplier=normal_quantile(0.95),
    )
    # Where the set is not an interval, ask its definition whether it holds the truth.
    gap = estimate.honest_times_effect[:, 0] - 0.2 * estimate.honest_proportion
    variance = estimate.honest_times_effect_variance[:, 0] - 0.4 * estimate.covariance[:, 0] + 0.04 * estimate.honest_proportion_variance
    inside = np.where(np.isnan(low), np.abs(gap) <= normal_quantile(0.95) * np.sqrt(variance), (low <= 0.2) & (high >= 0.2))
    assert 0.935 <= inside.mean() <= 0.955


def test_the_cheater_proportion_kernel_agrees_with_the_joint_one(identified_design: Design) -> None:
    counts = np.random.default_rng(8).integers(1, 40, size=(200, *identified_design.shape, 2)).astype(float)
    alone, joint = cheater_proportion_kernel(counts, identified_design), difference_in_means_kernel(counts, identified_design)
    assert 1 - alone.raw == pytest.approx(joint.honest_proportion)
    assert alone.variance == pytest.approx(joint.honest_proportion_variance)
    assert 1 - alone.constrained == pytest.approx(joint.honest_proportion_used)


def test_a_batch_gives_what_its_tables_give_one_by_one(design: Design) -> None:
    counts = np.random.default_rng(2).integers(1, 60, size=(5, 3, *design.shape, 2)).astype(float)
    batch = difference_in_means_kernel(counts, design)
    for index in np.ndindex(5, 3):
        alone = difference_in_means_kernel(counts[index], design)
        assert batch.effect[index] == pytest.approx(alone.effect, nan_ok=True)
        assert batch.standard_error[index] == pytest.approx(alone.standard_error, nan_ok=True)


@pytest.mark.parametrize(
    ("kind", "rate", "n", "cheater_error", "effect_error"),
    [("mirrored", 0.5, 1000, 0.19, 0.087), ("mirrored", 0.5, 5000, 0.084, 0.039), ("symmetric", 0.0, 1000, 0.10, 0.077)],
)
def test_the_reference_standard_errors_of_the_specification(
    kind: str, rate: float, n: int, cheater_error: float, effect_error: float, cell_probabilities: Cells, request: pytest.FixtureRequest
) -> None:
    """Figures from 400 simulations, so known to about 4 %; p₀ = .4, τ = .2, λ = .15."""
    design = request.getfixturevalue(kind)
    estimate = difference_in_means_kernel(n * cell_probabilities(design, honest=0.85, prevalence=(0.4, 0.6), cheater_yes_rate=rate), design)
    assert np.sqrt(estimate.honest_proportion_variance) == pytest.approx(cheater_error, rel=0.04)
    assert estimate.standard_error == pytest.approx([effect_error], rel=0.04)
