"""Questions with two to six answers: two answers are the yes/no question exactly; more agree with independent optimisers and by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

from candor.categories.estimates import estimate_categories
from candor.categories.likelihood import highest, possible_shares
from candor.categories.linear_model import category_model, maximum_likelihood_fit, moment_fit
from candor.categories.region import category_region
from candor.designs.design import Design
from candor.errors import DataError, TooFewResponsesError
from candor.estimators.effects import NO_CHEATER_PROPORTION, estimate_outcome
from candor.fitting import identity_link

MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
THREE = MIRRORED | {"3": {"forced_no": "1/6", "forced_yes": "1/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
NAMES = ("never", "once", "often")


def yes_no(subsamples, cheaters):
    return Design.of(arms=("a", "b", "c"), control="a", subsamples=subsamples, cheater_model=cheaters)


def three(cheaters="any", *, forced=((1, 1, 3), (3, 1, 1)), arms=("slides", "face"), names=NAMES, sides=8, **more):
    subsamples = {str(s): {name: f"{faces}/{sides}" for name, faces in zip(names, rule, strict=True)} for s, rule in enumerate(forced)}
    return Design.of(arms=arms, control=arms[0], subsamples=subsamples, cheater_model=cheaters, categories=names, **more)


def expected_counts(design, prevalence, *, honest=0.8, cheaters, n=1000):
    """The answers of n people in every cell if there were no chance."""
    p = np.array(prevalence)[:, None]
    return n * (honest * (design.truth[:, None] * p + design.forced_answers) + (1 - honest) * np.array(cheaters))


@pytest.mark.parametrize("subsamples", [MIRRORED, THREE, SYMMETRIC], ids=["mirrored", "three", "symmetric"])
@pytest.mark.parametrize("cheaters", ["any", "always_no", {"yes_rate": 0.3}], ids=["any", "always no", "stated"])
@pytest.mark.parametrize("n", [40, 400])
def test_two_answers_are_the_question_that_there_was(subsamples, cheaters, n, monkeypatch):
    monkeypatch.setattr(identity_link, "LAST_STEP", 1e-9)  # which leaves an error of its square; the fit of today stops at 1e-10
    design = yes_no(subsamples, cheaters)
    rng = np.random.default_rng(n)
    means = 0.8 * (design.truth * np.array([[0.3], [0.5], [0.4]]) + design.forced_yes) + 0.2 * 0.3
    for _ in range(4):
        yes = rng.binomial(n, means)
        counts = np.stack([n - yes, yes], axis=-1)
        new, old = estimate_categories(counts, design=design), estimate_outcome(counts, design=design)
        assert new.epsilon == old.epsilon
        assert (new.assumption, new.identified) == (old.assumption, old.identified)
        effects = [one for one in new.effects if one.category == "yes"]
        for one, other in zip(effects, old.headline, strict=True):
            same(one.value, other.value, 1e-8)  # where it is the most likely possible one; without limits 1e-12, below
            same(one.standard_error, other.standard_error, 1e-10)
            same(one.p_value, other.p_value, 1e-10)
            same(one.adjusted_p_value, other.adjusted_p_value, 1e-10)
            same(one.honest_times_effect.value, other.honest_times_effect.value, 1e-12)
            if other.interval is not None:
                same(one.interval.low, other.interval.low, 1e-6)
                same(one.interval.high, other.interval.high, 1e-6)
        for one, other in zip([one for one in new.prevalence if one.category == "yes"], old.prevalence, strict=True):
            same(one.value, other.value, 1e-6)
            same(one.standard_error, other.standard_error, 1e-9)
            same(one.interval.low, other.interval.low, 1e-6)
        same(new.cheater_proportion.raw, old.cheater_proportion.raw, 1e-12)
        same(new.cheater_proportion.interval.high, old.cheater_proportion.interval.high, 1e-6)
        same(new.model_test.statistic, old.model_test.statistic, 1e-6)
        assert new.model_test.df == old.model_test.df
        same(new.specification_test.statistic, old.specification_test.statistic, 1e-9)
        for test, other in zip(new.no_effect, old.headline, strict=True):
            same(test.p_value, other.p_value, 1e-10)


def same(one, other, tolerance):
    assert (one is None) == (other is None)
    if one is not None:
        assert one == pytest.approx(other, abs=tolerance, rel=tolerance)


def test_two_answers_with_other_names_mirror_each_other():
    named = three({"always": "never"}, forced=((1, 3), (3, 1)), names=("never", "ever"))
    subsamples = {"1": {"forced_no": "1/8", "forced_yes": "3/8"}, "2": {"forced_no": "3/8", "forced_yes": "1/8"}}
    plain = Design.of(arms=("a", "b"), control="a", subsamples=subsamples, cheater_model="always_no")
    counts = np.random.default_rng(1).multinomial(200, expected_counts(named, [[0.6, 0.4], [0.4, 0.6]], cheaters=(1, 0), n=1))
    found, old = estimate_categories(counts, design=named), estimate_outcome(counts, design=plain).headline[0]
    never, ever = found.effects
    assert ever.value == pytest.approx(old.value, abs=1e-7)
    assert never.value == pytest.approx(-old.value, abs=1e-7)
    assert ever.adjusted_p_value == ever.p_value == never.p_value, "one test, not two"


@pytest.mark.parametrize(
    ("design", "cheaters"),
    [
        (three(ordered=True, scores=(2, 3, 5)), (0.5, 0.3, 0.2)),
        (three({"always": "never"}), (1.0, 0.0, 0.0)),
        (three({"distribution": {"never": "1/2", "often": "1/2"}}), (0.5, 0.0, 0.5)),
        (three(forced=((1, 1, 3), (3, 1, 1), (1, 2, 1))), (0.1, 0.3, 0.6)),
    ],
    ids=["any", "always", "distribution", "three subsamples"],
)
@pytest.mark.parametrize("honest", [0.8, 1.0])
def test_without_chance_the_truth_comes_back(design, cheaters, honest):
    p = np.array([[0.5, 0.3, 0.2], [0.35, 0.3, 0.35]])
    found = estimate_categories(expected_counts(design, p, cheaters=cheaters, n=8 * 10**6, honest=honest).round(), design=design)
    assert found.cheater_proportion.value == pytest.approx(1 - honest, abs=1e-5)
    assert found.notes == (), "not even where everybody is honest"
    by_category = [one.value for one in found.effects if one.measure == "category"]
    assert by_category == pytest.approx(p[1] - p[0], abs=1e-5)
    if design.scores:
        cuts = [one.value for one in found.effects if one.measure == "at_least"]
        (mean,) = [one for one in found.effects if one.measure == "mean_score"]
        assert cuts == pytest.approx([0.15, 0.15], abs=1e-5)
        assert mean.value == pytest.approx(0.45, abs=1e-5)
        assert (mean.interval.low, mean.interval.high) == pytest.approx((0.45, 0.45), abs=0.01)
    shares = [one.value for one in found.prevalence if one.measure == "category"]
    assert shares == (pytest.approx(p.reshape(-1), abs=1e-5) if design.identification.prevalence else [])


def test_where_nobody_seems_honest_every_effect_is_possible():
    found = category_region(np.tile([100.0, 100.0, 300.0], (2, 2, 1)), three(ordered=True))
    assert (found.best_honest_proportion, found.honest_proportion[0]) == (0, 0), "the die moves no answer"
    assert np.isnan(found.best_effects).all()
    assert found.effects == (((-1, 1),) * 5 + ((-2, 2),),)


def loss(counts, design, cheaters):
    """−log-likelihood of (p of both arms without the last category, x, q), written down independently."""
    C = counts.shape[-1]

    def value(theta):
        p = theta[: 2 * (C - 1)].reshape(2, C - 1)
        p = np.column_stack([p, 1 - p.sum(axis=1)])
        x = theta[2 * (C - 1)]
        q = np.array(cheaters) if cheaters is not None else np.append(theta[2 * C - 1 :], 1 - theta[2 * C - 1 :].sum())
        total = 0.0
        for a, s, c in product(range(2), range(counts.shape[1]), range(C)):
            share = x * (design.truth[s] * p[a, c] + design.forced_answers[s, c]) + (1 - x) * q[c]
            total -= counts[a, s, c] * np.log(max(share, 1e-12))
        return total

    return value


@pytest.mark.parametrize("cheaters", [None, (1.0, 0.0, 0.0)], ids=["any", "always the first"])
def test_the_most_likely_shares_are_those_of_another_optimiser(cheaters):
    design = three("any" if cheaters is None else {"always": "never"}, forced=((1, 1, 3), (3, 1, 1), (1, 2, 1)))
    counts = np.random.default_rng(5).multinomial(60, expected_counts(design, [[0.7, 0.3, 0.0], [0.2, 0.1, 0.7]], cheaters=(1, 0, 0), n=1))
    best = highest(counts.astype(float).reshape(-1), possible_shares(design))
    parameters = 5 + (2 if cheaters is None else 0)
    start = np.array([0.3, 0.3, 0.3, 0.3, 0.6, *([0.3, 0.3] if cheaters is None else [])])
    sums = [(0, 2), (2, 4), *([(5, 7)] if cheaters is None else [])]
    constraints = [{"type": "ineq", "fun": lambda theta, one=one: 1 - theta[slice(*one)].sum()} for one in sums]
    other = minimize(
        loss(counts, design, cheaters),
        start,
        bounds=[(0, 1)] * parameters,
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 500},
    )
    assert best.settled.all()
    assert best.log_likelihood[0] == pytest.approx(-other.fun, abs=1e-4)
    assert best.log_likelihood[0] >= -other.fun - 1e-7


def test_the_fit_without_limits_is_weighted_regression_at_its_own_weights():
    """A multinomial with identity link is Poisson with fixed totals: weighted least squares of statsmodels end at the same place."""
    design = three(forced=((1, 1, 3), (3, 1, 1), (1, 2, 1)))
    counts = np.random.default_rng(6).multinomial(
        500, expected_counts(design, [[0.4, 0.4, 0.2], [0.3, 0.3, 0.4]], cheaters=(0.4, 0.3, 0.3), n=1)
    )
    model = category_model(design)
    fit = maximum_likelihood_fit(counts.astype(float), model)
    weights = (500 / fit.fitted).reshape(-1)
    again = sm.WLS((counts / 500).reshape(-1) - model.offset, model.matrix, weights=weights).fit()
    assert again.params == pytest.approx(fit.coefficients, abs=1e-9)
    assert again.normalized_cov_params == pytest.approx(fit.covariance, abs=1e-12)


def test_the_moments_are_without_bias_and_their_covariance_is_right():
    """All tables of two people in one cell, the others fixed: mean and variance of β̂ by counting, not by formula."""
    design = three({"always": "never"}, arms=("everybody",))
    shares = expected_counts(design, [[0.5, 0.3, 0.2]], cheaters=(1, 0, 0), n=1)[0]
    tables, chances = [], []
    for first, second in product(product(range(3), repeat=2), repeat=2):
        table = np.stack([np.bincount(answers, minlength=3) for answers in (first, second)])[None]
        tables.append(moment_fit(table, design=design))
        chances.append(np.prod([shares[s, c] for s, answers in enumerate((first, second)) for c in answers]))
    betas, chances = np.array([one.coefficients for one in tables]), np.array(chances)
    mean = chances @ betas
    assert mean == pytest.approx([0.8 * 0.3, 0.8 * 0.2, 0.8], abs=1e-12)
    variance = (betas - mean).T @ (chances[:, None] * (betas - mean))
    # (diag(m̂) − m̂m̂ᵀ)/n has the mean (1 − 1/n) of the true covariance; n = 2.
    assert np.tensordot(chances, [one.covariance for one in tables], 1) == pytest.approx(variance / 2, abs=1e-12)


def test_the_ends_of_an_interval_lose_as_much_as_the_quantile_says():
    design = three({"always": "never"})
    counts = np.random.default_rng(7).multinomial(400, expected_counts(design, [[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]], cheaters=(1, 0, 0), n=1))
    region = category_region(counts.astype(float), design)
    low, high = region.effects[0][2]
    largest = -minimize_with(counts, design, None)
    for end in (low, high):
        assert 2 * (largest + minimize_with(counts, design, end)) == pytest.approx(3.841459, abs=1e-3)


def minimize_with(counts, design, effect):
    """The smallest loss with the effect on the last category fixed, by SLSQP."""
    sums = [{"type": "ineq", "fun": lambda theta, at=at: 1 - theta[at : at + 2].sum()} for at in (0, 2)]
    fixed = [] if effect is None else [{"type": "eq", "fun": lambda theta: theta[:2].sum() - theta[2:4].sum() - effect}]
    start = [0.5, 0.3, 0.3, 0.3, 0.8]
    found = minimize(
        loss(counts, design, (1, 0, 0)),
        start,
        bounds=[(1e-9, 1)] * 5,
        constraints=[*sums, *fixed],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    return found.fun


def test_where_the_design_leaves_the_effect_open_the_test_stands_and_values_do_not():
    design = three("any", forced=((1, 1, 1), (2, 2, 2)))
    counts = expected_counts(design, [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]], cheaters=(0.4, 0.3, 0.3)).round()
    found = estimate_categories(counts, design=design)
    assert not found.identified
    assert "how often they give each answer is unknown" in found.assumption
    assert found.notes[:1] == (NO_CHEATER_PROPORTION,)
    assert {one.value for one in found.effects} == {None}
    assert found.no_effect[0].p_value < 1e-6
    often = found.effects[2]
    assert often.interval.low > 0, "the sign is certain"
    assert often.interval.high > 0.4 > often.interval.low
    assert often.honest_times_effect.value == pytest.approx(0.8 * 0.4, abs=0.01)


BELOW_NOTHING = [[0.5, 0.56, -0.06], [0.5, 0.4, 0.1]]


@pytest.mark.parametrize(
    ("cheaters", "p", "honest", "n", "said"),
    [
        ("any", [[0.5, 0.3, 0.2], [0.35, 0.3, 0.35]], 1.1, 200, "Without limits the honest share or an effect would leave"),
        ("any", [[1.1, 0, -0.1], [-0.05, 0.5, 0.55]], 0.5, 200, "Without limits the honest share or an effect would leave"),
        ({"always": "never"}, BELOW_NOTHING, 0.8, 200, "Without limits prevalences would leave"),
        ({"always": "never"}, BELOW_NOTHING, 0.8, 20_000, "The answers contradict the model"),
    ],
)
def test_what_lies_outside_of_the_possible_is_told_once_and_the_most_likely_possible_given(cheaters, p, honest, n, said):
    design = three(cheaters)
    counts = expected_counts(design, p, honest=honest, cheaters=(1, 0, 0), n=n).round()
    found, region = estimate_categories(counts, design=design), category_region(counts, design)
    (note,) = found.notes
    assert note.startswith(said)
    values = [one.value for one in found.effects]
    if "effect would" in said:
        assert found.cheater_proportion.value == 1 - region.best_honest_proportion
        assert values == pytest.approx(region.best_effects[0])
    else:
        assert values == ([None] * 3 if "contradict" in said else pytest.approx(np.subtract(*p[::-1]), abs=0.01))


def test_answers_that_no_shares_explain_are_said_to_contradict_the_model():
    counts = [[[10, 10, 180], [180, 10, 10]], [[10, 10, 180], [180, 10, 10]]]
    found = estimate_categories(counts, design=three({"always": "never"}))
    assert found.model_test.p_value < 0.001
    assert found.effects[0].value is None
    assert found.effects[0].interval.kind == "empty"
    assert "contradict" in found.notes[0]


def test_six_categories_with_few_people_give_intervals_that_hold_their_estimates():
    design = three({"always": "a"}, forced=((1, 1, 1, 1, 1, 4), (4, 1, 1, 1, 1, 1)), names=tuple("abcdef"), sides=20, ordered=True)
    rng = np.random.default_rng(8)
    for _ in range(3):
        found = estimate_categories(rng.multinomial(12, np.full(6, 1 / 6), size=design.shape), design=design)
        for one in (*found.effects, *found.prevalence):
            assert one.interval.low - 1e-6 <= one.value <= one.interval.high + 1e-6
        assert "rough" in found.notes[-1]


@pytest.mark.parametrize(
    ("counts", "error", "words"),
    [
        (np.ones((2, 2, 2)), DataError, r"shape \(arms, subsamples, categories\) = \(2, 2, 3\)"),
        (np.full((2, 2, 3), -1), DataError, "whole numbers of at least 0, found -1"),
        (np.full((2, 2, 3), 0.5), DataError, "found 0.5"),
        ([[[0, 0, 0], [1, 1, 1]], [[1, 1, 1], [1, 1, 1]]], TooFewResponsesError, "arm 'slides', subsample '0'"),
        ("many", DataError, "whole numbers"),
    ],
)
def test_bad_counts_are_refused(counts, error, words):
    with pytest.raises(error, match=words):
        estimate_categories(counts, design=three())


def test_shares_are_covered_where_nobody_gives_most_of_the_answers():
    """Everybody would say the first of six answers. The region alone held that in 7 of these 12 surveys, and the cheaters in 10."""
    design = three({"always": "a"}, forced=((5, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 5)), arms=("students",), names=tuple("abcdef"), sides=20)
    (means,) = expected_counts(design, np.eye(6)[:1], honest=0.85, cheaters=np.eye(6)[0], n=1)
    found = [estimate_categories(counts, design=design) for counts in np.random.default_rng(2).multinomial(200, means, size=(12, 1, 2))]
    assert sum(one.prevalence[0].interval.contains(1.0) for one in found) >= 11
    assert sum(one.cheater_proportion.interval.contains(0.15) for one in found) >= 11


def test_effects_are_covered_where_each_arm_gives_one_answer():
    """One arm says the first of six answers, the other the last. The region alone held that in 9 and 8 of these 12 trials."""
    design = three({"always": "a"}, forced=((5, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 5)), names=tuple("abcdef"), sides=20)
    means = expected_counts(design, np.eye(6)[[0, 5]], honest=0.85, cheaters=np.eye(6)[0], n=1)
    found = [estimate_categories(counts, design=design) for counts in np.random.default_rng(0).multinomial(200, means, size=(12, 2, 2))]
    for place, truth in ((0, -1.0), (5, 1.0)):
        assert sum(one.effects[place].interval.contains(truth) for one in found) >= 11
