"""With half of 500 people cheating the likelihood has several tops, some of them at infinity: the results say so."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

import candor
from candor.designs.design import CheaterModel, Design
from candor.errors import MethodError
from candor.regression.fitted_model import AT_INFINITY, FittedModel
from candor.regression.likelihood import Data, derivatives
from candor.regression.trait_regression import regress
from candor.results import Interval
from tests.designs import DESIGNS
from tests.unit.candor.regression.simulated import data_of, simulated

DESIGN = DESIGNS["mirrored, cheaters say no"]


def half_cheat(seed):
    return simulated(DESIGN, n=500, seed=seed, honest=0.5)


def answers_of(design, *, prevalence, seed, **others):
    """Answers of 400 people with one covariate; cheaters, if there are any, say no."""
    habits = {"cheater_behaviour": "always_no", "background_effects": {"age": 0.5}}
    return candor.simulate(design, n=400, prevalence=prevalence, seed=seed, **habits, **others)


def as_people(design: Design, said: object) -> dict[str, tuple[object, ...]]:
    """One row for each person, from counts by arm, subsample and answer."""
    rows = [(design.arms[a], design.subsample_names[s], one) for (a, s, one), n in np.ndenumerate(np.array(said)) for _ in range(n)]
    return dict(zip(("arm", "subsample", "attention"), zip(*rows, strict=True), strict=True))


@pytest.mark.parametrize(("seed", "column"), [(18, "intercept"), (22, "arm: treatment"), (0, "intercept")])
def test_a_highest_top_at_infinity_is_refused_and_its_column_named(seed, column):
    """The command used to print the number at which its search gave up, with a standard error of billions."""
    with pytest.raises(MethodError, match=f"'attention': the likelihood has no top: the coefficient of {column} grows without end"):
        regress(half_cheat(seed), DESIGN, covariates=["age"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mirrored, cheaters say no", [[[25, 5], [11, 11]], [[20, 4], [16, 8]]]),
        ("mirrored, cheaters say no", [[[9, 5], [11, 6]], [[10, 5], [8, 6]]]),
        ("three subsamples", [[[11, 6], [6, 8], [10, 6]], [[13, 5], [12, 6], [6, 11]]]),
    ],
)
def test_a_search_that_gives_up_on_its_way_to_infinity_has_found_no_top(name: str, said: list[list[list[int]]]) -> None:
    """Oracle: the likelihood on a grid. Where the way was flat the search ended at log odds of 9 to 15, with errors up to millions."""
    design, counts = DESIGNS[name], np.array(said)
    with pytest.raises(MethodError, match="the likelihood has no top: the coefficient of arm: treatment grows without end"):
        regress(as_people(design, said), design)
    honest, inside = np.linspace(0.01, 1, 100), np.linspace(1e-4, 1 - 1e-4, 201)

    def heights(arm: int, prevalence: np.ndarray, rate: float) -> np.ndarray:
        true = design.truth * prevalence[:, None] + design.forced_yes
        yes = honest[:, None, None] * true + (1 - honest[:, None, None]) * rate
        return (counts[arm, :, 1] * np.log(yes) + counts[arm, :, 0] * np.log(1 - yes)).sum(axis=-1).max(axis=1)

    def highest(of_treatment: np.ndarray) -> float:
        rates = np.linspace(0, 1, 21) if design.cheater_model.yes_rate is None else [0.0]
        return max((heights(0, inside, rate) + heights(1, of_treatment, rate)).max() for rate in rates)

    assert highest(np.array([0.0, 1.0])) >= highest(inside)


def test_a_group_that_hardly_ever_says_yes_has_a_top() -> None:
    """Negative control, exact: means of .9(π/2 + f1) with π of .001 and ½. The error of the log odds is large, and the top is there."""
    said = [[[16991, 3009], [13991, 6009]], [[12500, 7500], [9500, 10500]]]
    intercept, arm = regress(as_people(DESIGN, said), DESIGN)["attention"].coefficients
    assert (intercept.value, arm.value) == pytest.approx((np.log(1 / 999), np.log(999)), abs=1e-3)
    assert intercept.standard_error > 10
    assert (intercept.interval.low, arm.interval.high) == (None, None)


def test_intervals_reach_over_all_tops_that_the_answers_do_not_tell_apart():
    model = FittedModel.of(data_of(half_cheat(6), DESIGN), yes_rate=0.0)
    first, second = model.competing(level=0.95)
    assert 0 < first.log_likelihood - second.log_likelihood < 0.2
    errors = np.sqrt(np.diag(model.covariance()))
    for index in range(3):
        values = sorted((first.beta[index], second.beta[index]))
        found = model.profile(index, error=float(errors[index]), level=0.95)
        assert found.low is None or found.low < values[0]
        assert found.high is None or found.high > values[1]
    share = model.profile(None, error=0.1, level=0.95)
    assert share.low < min(first.x, second.x) < max(first.x, second.x) < share.high


def test_the_second_top_is_one_too():
    """Oracle: the gradient is zero there, and the likelihood falls in every direction."""
    data = data_of(half_cheat(6), DESIGN)
    for top in FittedModel.of(data, yes_rate=0.0).competing(level=0.95):
        gradient, curvature = derivatives(data, top.beta, top.x, top.c)
        assert gradient[:4] == pytest.approx(0, abs=1e-2)
        assert np.linalg.eigvalsh(curvature[:4, :4]).max() < 0


def test_a_lower_top_at_infinity_is_told_and_opens_the_intervals_of_its_coefficients():
    found = regress(half_cheat(19), DESIGN, covariates=["age"])["attention"]
    intercept, arm, age = found.coefficients
    assert max(abs(one.value) for one in (intercept, arm, age)) < AT_INFINITY
    assert (intercept.interval.low, arm.interval.high) == (None, None)
    (note,) = (one for one in found.notes if "tops" in one)
    assert note.startswith(
        "The likelihood has 2 tops that the answers do not tell apart. At the highest 24% of the people cheat; at the next"
    )
    assert "21%, and the coefficient of intercept is infinite: some group would say yes never or always" in note
    assert found.cheater_proportion.interval.low < 0.21 < 0.24 < found.cheater_proportion.interval.high


def test_one_top_needs_no_words():
    frame = simulated(DESIGN, n=2000, seed=4, honest=0.9)
    assert regress(frame, DESIGN, covariates=["age"])["attention"].notes == ()


def test_a_top_where_nobody_cheats_is_found_though_a_smaller_honest_share_sends_a_coefficient_to_infinity():
    """Oracle: the likelihood of each arm on a grid of its prevalence, if everybody follows the die. It was refused as if it had no top."""
    dice = {"1": ("19/100", "1/100"), "2": ("1/100", "19/100"), "3": ("5/100", "5/100")}
    subsamples = {name: {"forced_no": no, "forced_yes": yes} for name, (no, yes) in dice.items()}
    design = Design.of(arms=("a", "b"), control="a", cheater_model="always_no", subsamples=subsamples)
    said = np.array([[[65, 33], [48, 55], [59, 50]], [[32, 64], [10, 91], [13, 80]]])
    found = regress(as_people(design, said), design)["attention"]
    shares = np.linspace(0.001, 0.999, 999)
    yes = design.truth * shares[:, None] + design.forced_yes
    heights = (said[:, None, :, 1] * np.log(yes) + said[:, None, :, 0] * np.log(1 - yes)).sum(axis=-1)
    assert found.log_likelihood == pytest.approx(heights.max(axis=1).sum(), abs=1e-3)
    assert found.cheater_proportion.value == 0
    prevalence = 1 / (1 + np.exp(-np.cumsum([one.value for one in found.coefficients])))
    assert prevalence == pytest.approx(shares[heights.argmax(axis=1)], abs=1e-3)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mirrored, cheaters say no", [[[198, 39], [176, 93]], [[150, 79], [139, 126]]]),
        ("mirrored, cheaters say no", [[[81, 15], [59, 41]], [[67, 34], [54, 49]]]),
        ("mirrored, cheaters say no", [[[83, 15], [63, 37]], [[62, 33], [48, 59]]]),
        ("symmetric, cheaters say no", [[[69, 14], [65, 35]], [[67, 42], [64, 44]]]),
    ],
)
def test_an_interval_without_end_is_told_where_a_higher_top_lies_at_an_edge(name: str, said: list[list[list[int]]]) -> None:
    """Oracle: the likelihood on a grid of prevalence and honest share. The search stopped at a lower top inside."""
    design, counts = DESIGNS[name], np.array(said)
    found = regress(as_people(design, said), design)["attention"]
    odds, honest = np.linspace(-18, 6, 481), np.linspace(0.01, 1, 100)
    for effect in (7.0, 10.0, 14.0):
        prevalence = 1 / (1 + np.exp(-np.stack([odds, odds + effect], axis=1)))
        yes = honest[:, None, None, None] * (design.truth * prevalence[:, :, None] + design.forced_yes)
        heights = (counts[..., 1] * np.log(yes) + counts[..., 0] * np.log(1 - yes)).sum(axis=(-2, -1))
        assert heights.max() > found.log_likelihood - 1.92  # half of the quantile of χ²: the effect is within the interval
    assert found.coefficients[1].interval.high is None


def test_the_share_of_cheaters_is_within_its_interval_at_every_rate() -> None:
    """A die that leaves the rate open: the interval holds those at stated rates. It was that of three of them."""
    people = answers_of(DESIGN, prevalence=0.4, seed=67, effects=0.2, cheater_proportion=0.2)

    def interval(cheaters: CheaterModel) -> Interval:
        return regress(people, replace(DESIGN, cheater_model=cheaters), outcomes=["outcome"], covariates=["age"])[
            "outcome"
        ].cheater_proportion.interval

    whole = interval(CheaterModel(name="any"))
    for rate in (0, 0.3, 1):
        stated = interval(CheaterModel(name="yes_rate", yes_rate=Fraction(str(rate))))
        assert whole.low <= stated.low
        assert stated.high <= whole.high


def test_a_search_that_does_not_settle_leaves_an_end_open() -> None:
    """The whole regression was refused, and only with this arm as the control."""
    design = replace(DESIGNS["symmetric, cheaters say no"], cheater_model=CheaterModel(name="yes_rate", yes_rate=Fraction(1, 4)))
    people = answers_of(design, prevalence=0.1, seed=73)
    both = [
        regress(people, replace(design, control=control), outcomes=["outcome"], covariates=["age"])["outcome"].coefficients[1]
        for control in design.arms
    ]
    assert both[0].value == pytest.approx(-both[1].value, abs=1e-4)
    assert [(one.interval.low, one.interval.high) for one in both] == [(None, None)] * 2


def test_the_ends_of_an_interval_do_not_hang_on_which_arm_is_the_control() -> None:
    """Two tops where the coefficient is held: the search found the lower one alone, and one of the intervals ended too early."""
    design = replace(DESIGNS["symmetric, cheaters say no"], cheater_model=CheaterModel(name="yes_rate", yes_rate=Fraction(1, 4)))
    people = answers_of(design, prevalence=0.1, seed=65, effects=0.2)
    one, other = (
        regress(people, replace(design, control=control), outcomes=["outcome"], covariates=["age"])["outcome"].coefficients[1].interval
        for control in design.arms
    )
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-4)


@pytest.mark.parametrize(
    ("said", "rate"), [([[[24, 5], [18, 16]], [[24, 21], [26, 16]]], 0.5), ([[[26, 10], [22, 15]], [[23, 14], [25, 15]]], 0.4)]
)
def test_the_likelihood_without_a_coefficient_is_found_though_all_tops_lie_at_infinity(said: list[list[list[int]]], rate: float) -> None:
    """Oracle: the likelihood on a grid. No search came back from infinity, and a regression whose yes rate is open was refused."""
    design, counts = DESIGNS["mirrored"], np.array(said)
    arm, subsample, answer = (one.ravel() for one in np.indices(counts.shape))
    model = FittedModel.of(
        Data(
            reported=answer.astype(float),
            truth=design.truth[subsample],
            forced_yes=design.forced_yes[subsample],
            columns=np.column_stack([np.ones(8), arm]),
            people=counts.ravel().astype(float),
            labels=("intercept", "arm: treatment"),
            logistic=True,
        ),
        yes_rate=rate,
    )
    honest, shares = np.linspace(0.001, 1, 1000)[:, None, None], np.linspace(0, 1, 401)[:, None]
    control, treatment = (
        (of_arm[:, 1] * np.log(yes) + of_arm[:, 0] * np.log(1 - yes)).sum(axis=-1).max(axis=1)
        for of_arm, true in zip(counts, (np.full((1, 1), 0.5), shares), strict=True)
        for yes in [honest * (design.truth * true + design.forced_yes) + (1 - honest) * rate]
    )
    statistic = 2 * (model.fit.log_likelihood - (control + treatment).max())
    assert model.likelihood_ratio_p_value(0) == pytest.approx(chi2.sf(statistic, 1), rel=1e-3)


def with_a_score(seed: int, n: int = 150) -> dict[str, np.ndarray]:
    """Answers of people with a score of many values, of whom one in ten answers as a coin says."""
    rng = np.random.default_rng(seed)
    arm, subsample, score = rng.integers(0, 2, n), rng.integers(0, 2, n), np.round(rng.normal(size=n), 3)
    true = rng.random(n) < 1 / (1 + np.exp(0.4 - 0.8 * arm - 1.5 * score))
    die = rng.random(n)
    said = np.where(die < 0.5, true, die - 0.5 < (1 + subsample) / 6)
    said = np.where(rng.random(n) < 0.1, rng.random(n) < 0.5, said)
    names = {"arm": np.array(["control", "treatment"])[arm], "subsample": np.array(["1", "2"])[subsample]}
    return {**names, "answer": np.where(said, "yes", "no"), "score": score}


def log_likelihood_of_the_best_step(people: dict[str, np.ndarray]) -> float:
    """Everybody above one value in each arm would say yes, and nobody else; a share of cheaters says no. By going through all of them."""
    treated, second, yes = (people[name] == value for name, value in (("arm", "treatment"), ("subsample", "2"), ("answer", "yes")))
    honest = np.linspace(0.05, 1, 96)[:, None]
    total = np.zeros(len(honest))
    for arm in (False, True):
        there = treated == arm
        score, forced, said = people["score"][there], np.where(second[there], 2 / 6, 1 / 6), yes[there]
        below, above = (np.where(said, np.log(share), np.log1p(-share)) for share in (honest * forced, honest * (forced + 1 / 2)))
        total += (below.sum(axis=1) + (score > np.sort(score)[:, None]) @ (above - below).T).max(axis=0)
    return float(total.max())


@pytest.mark.parametrize(("seed", "model"), [(4, "always_no"), (10, "always_no"), (4, "any")])
def test_a_step_that_fits_better_than_the_estimates_is_told_and_its_column_named(seed: int, model: str) -> None:
    """The p-value of another coefficient was 1, without a word, because the search for it met the step."""
    people = with_a_score(seed)
    found = candor.regress(people, replace(DESIGN, cheater_model=CheaterModel(name=model)), covariates=["score"])["answer"]
    assert max(one.p_value for one in found.coefficients) > 0.99
    assert any(note.startswith("A step without end in score fits the answers better") for note in found.notes)
    assert log_likelihood_of_the_best_step(people) > found.log_likelihood + 0.1


def test_of_many_answers_no_step_is_told() -> None:
    people = with_a_score(1, n=2000)
    found = candor.regress(people, DESIGN, covariates=["score"])["answer"]
    assert log_likelihood_of_the_best_step(people) < found.log_likelihood - 5
    assert not any("step" in note for note in found.notes)
