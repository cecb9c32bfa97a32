"""The region's shadows against grids of all parameters, exact enumeration, and cases by hand."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, chi2

from candor.designs.design import Design, FloatArray
from candor.likelihood import region as searched
from candor.likelihood.maximum import Chosen, Maximum, MeansWithin, log_likelihood_of_means, maximise
from candor.likelihood.polytope import Polytope
from candor.likelihood.region import (
    crossings,
    explaining_kappa,
    likelihood_region,
    model_test,
    quantile,
    quantile_at_an_end,
    quantile_for_effects,
)
from tests.designs import DESIGNS, means_of

HAND = np.array([[[130.0, 70.0], [110.0, 90.0]], [[90.0, 110.0], [70.0, 130.0]]])


def all_parameters(design: Design, steps: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every (p_0, p_1), x and the cell means on a grid over all parameters between 0 and 1, in the parametrisation of the theory."""
    shares, stated = np.linspace(0, 1, steps), design.cheater_model.yes_rate
    rates = shares if stated is None else np.array([float(stated)])
    control, treatment, honest, rate = (axis.reshape(-1) for axis in np.meshgrid(shares, shares, shares, rates, indexing="ij"))
    prevalence = np.stack([control, treatment], axis=-1)
    means = honest[:, None, None] * (prevalence[:, :, None] * design.truth + design.forced_yes) + ((1 - honest) * rate)[:, None, None]
    return prevalence, honest, means.reshape(len(honest), -1)


@pytest.mark.parametrize("name", ["mirrored", "symmetric, cheaters say no", "symmetric, unknown", "three subsamples"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_grid_of_all_parameters_gives_the_same_region(name: str, seed: int) -> None:
    """31 values of every share. All that the grid finds lies inside; the region reaches at most two steps of the grid further."""
    design, rng, steps = DESIGNS[name], np.random.default_rng(seed), 31
    stated = design.cheater_model.yes_rate
    truth = means_of(design, 0.9, (0.3, 0.6), 0.5 if stated is None else float(stated))
    yes = rng.binomial(60, truth)
    table = np.stack([60 - yes, yes], axis=-1).astype(float)
    region, polytope = likelihood_region(table, design), Polytope(design=design)
    prevalence, honest, means = all_parameters(design, steps)
    with np.errstate(divide="ignore", invalid="ignore"):
        heights = log_likelihood_of_means(table.reshape(-1, 2), means)
    best = float(maximise(table.reshape(-1, 2), polytope.free()).log_likelihood)
    assert heights.max() <= best + 1e-8
    assert heights.max() > best - 0.25
    for found, values, critical in (
        (region.effects[0], prevalence[:, 1] - prevalence[:, 0], quantile_for_effects(polytope, level=0.95)),
        (region.honest_proportion, honest, quantile_at_an_end(0.95)),
        (region.prevalences[0], prevalence[:, 0], quantile(0.95)),
        (region.prevalences[1], prevalence[:, 1], quantile(0.95)),
    ):
        inside = values[2 * (best - heights) <= critical**2]
        assert found[0] <= inside.min() + 1e-6
        assert inside.max() - 1e-6 <= found[1]
        assert inside.min() - found[0] <= 2 / (steps - 1)
        assert found[1] - inside.max() <= 2 / (steps - 1)


@pytest.fixture(scope="module")
def all_tables_of_twelve() -> FloatArray:
    """Every way in which three people in each of four cells can answer."""
    return np.array([[[[3 - a, a], [3 - b, b]], [[3 - c, c], [3 - d, d]]] for a, b, c, d in product(range(4), repeat=4)], dtype=float)


def test_twelve_people_by_exact_enumeration(mirrored: Design, all_tables_of_twelve: FloatArray) -> None:
    """Every possible table with its exact probability: no simulation, no large-sample theory. The smallest coverage is .967."""
    polytope, tables = Polytope(design=mirrored), all_tables_of_twelve.reshape(256, 4, 2)
    best = maximise(tables, polytope.free()).log_likelihood
    smallest = 1.0
    for honest, control, effect, rate in product((0.3, 0.7, 1.0), (0.0, 0.1, 0.5), (0.0, 0.3, 0.5), (0.0, 0.5, 1.0)):
        means = means_of(mirrored, honest, (control, control + effect), rate).reshape(-1)
        probability = binom.pmf(tables[..., 1], 3, means).prod(axis=-1)
        covered = 2 * (best - maximise(tables, polytope.at_effect(0, effect)).log_likelihood) <= quantile(0.95) ** 2
        assert probability.sum() == pytest.approx(1)
        smallest = min(smallest, float(probability @ covered))
    assert smallest == pytest.approx(0.967, abs=5e-4)


def test_the_interval_holds_an_effect_exactly_when_its_likelihood_ratio_does(mirrored: Design, all_tables_of_twelve: FloatArray) -> None:
    values = np.linspace(-1, 1, 21)
    polytope = Polytope(design=mirrored)
    for table in all_tables_of_twelve[::7]:
        region, flat = likelihood_region(table, mirrored), table.reshape(4, 2)
        ratio = 2 * (maximise(flat, polytope.free()).log_likelihood - maximise(flat, polytope.at_effect(0, values)).log_likelihood)
        inside = ratio <= quantile(0.95) ** 2
        low, high = region.effects[0]
        assert [low - 1e-6 <= value <= high + 1e-6 for value in values] == inside.tolist()


def test_with_many_answers_and_nothing_near_an_end_it_is_the_interval_of_the_delta_method(mirrored: Design) -> None:
    """HAND times 1000: τ̂ = 2/3 ± z·√.025/.6/√1000, from the case by hand."""
    region = likelihood_region(1000 * HAND, mirrored)
    half = 1.959964 * (0.025 / 0.36 / 1000) ** 0.5
    assert region.effects[0] == pytest.approx((2 / 3 - half, 2 / 3 + half), abs=0.05 * half)
    assert region.best.effects[0] == pytest.approx(2 / 3, abs=1e-6)
    assert region.best.honest_proportion == pytest.approx(0.6, abs=1e-6)


def test_the_order_of_the_arms_turns_the_interval_round(mirrored: Design) -> None:
    there, back = likelihood_region(HAND, mirrored), likelihood_region(HAND[::-1], mirrored)
    assert there.effects[0] == pytest.approx((-back.effects[0][1], -back.effects[0][0]), abs=1e-8)
    assert there.honest_proportion == pytest.approx(back.honest_proportion, abs=1e-8)


def test_yes_and_no_turned_round_give_the_mirror_image(mirrored: Design) -> None:
    """The mirrored die forces yes in one subsample as often as no in the other."""
    turned = HAND[:, ::-1, ::-1]
    there, back = likelihood_region(HAND, mirrored), likelihood_region(turned, mirrored)
    assert there.effects[0] == pytest.approx((-back.effects[0][1], -back.effects[0][0]), abs=1e-8)


def test_it_is_never_unbounded_and_never_empty(design: Design) -> None:
    rng = np.random.default_rng(12)
    for _ in range(10):
        yes = rng.integers(0, 9, design.shape)
        region = likelihood_region(np.stack([8 - yes, yes], axis=-1).astype(float), design)
        for low, high in region.effects:
            assert -1 <= low <= high <= 1
        for low, high in (region.honest_proportion, *region.prevalences):
            assert 0 <= low <= high <= 1


def test_every_effect_is_possible_exactly_when_nobody_may_be_honest(mirrored: Design) -> None:
    same, different = np.full((2, 2, 2), 50.0), np.array([[[70.0, 30.0]] * 2, [[30.0, 70.0]] * 2])
    assert likelihood_region(same, mirrored).effects[0] == (-1, 1)
    low, high = likelihood_region(different, mirrored).effects[0]
    assert (low > 0.3, high) == (True, 1)


def test_what_a_design_leaves_open_is_known_by_hand() -> None:
    """Forced shares 1/6 + 1/6 and 1/3 + 1/3, everybody honest, p = (.5, .5): honest people look like cheaters who answer at random."""
    design = DESIGNS["symmetric, unknown"]
    region = likelihood_region(np.full((2, 2, 2), 1e4), design)
    assert region.open_honest_proportion == pytest.approx((0, 1), abs=1e-4)
    assert region.open_effects[0] == (-1, 1)


def test_what_a_design_leaves_open_is_what_linear_programmes_find() -> None:
    """x between its extremes over all parameters with these means, by another solver; τ = Δ/x at both ends."""
    from scipy.optimize import linprog

    design = DESIGNS["symmetric, unknown"]
    means = means_of(design, 0.9, (0.4, 0.6), 0.5)
    region = likelihood_region(1e6 * np.stack([1 - means, means], axis=-1), design)
    free = Polytope(design=design).free()
    ends = []
    for sign in (1, -1):
        found = linprog([0, 0, sign, 0], free.limits, free.ends, free.matrix, means.reshape(-1), bounds=(None, None))
        ends.append(found.x[2])
    assert region.open_honest_proportion == pytest.approx(ends, abs=1e-4)
    assert region.open_effects[0] == pytest.approx((0.18 / ends[1], min(1, 0.18 / ends[0])), abs=1e-4)


def test_an_identified_design_leaves_nothing_open(identified_design: Design) -> None:
    prevalence, rate = tuple(np.linspace(0.3, 0.6, identified_design.shape[0])), identified_design.cheater_model.yes_rate
    means = means_of(identified_design, 0.8, prevalence, 0.5 if rate is None else float(rate))
    region = likelihood_region(1e4 * np.stack([1 - means, means], axis=-1), identified_design)
    assert region.open_honest_proportion == pytest.approx((0.8, 0.8), abs=1e-4)
    assert all(low == pytest.approx(high, abs=1e-6) for low, high in region.open_effects)


def test_the_test_of_the_model_is_silent_inside_and_speaks_outside(mirrored: Design) -> None:
    """x̂ = 6·(.55 − .45) = .6 is possible; 6·(.6 − .4) = 1.2 costs little with 40 people in a cell, and much with 4,000."""
    assert likelihood_region(HAND, mirrored).model_test.statistic == pytest.approx(0, abs=1e-6)
    beyond = np.array([[[24.0, 16.0], [16.0, 24.0]]] * 2)
    assert likelihood_region(beyond, mirrored).model_test.p_value > 0.5
    assert likelihood_region(100 * beyond, mirrored).model_test.p_value < 1e-3


def test_limits_that_cost_nothing_contradict_nothing() -> None:
    """This survey leaves one parameter: (t, f1 − 1) of one subsample is twice that of the other. With 0 degrees of freedom p was NaN."""
    one = Design.of(arms=("a",), control="a", cheater_model="always_yes", subsamples={
        "1": {"forced_no": "1/6", "forced_yes": "4/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}})  # fmt: skip
    table = np.array([[[1.0, 0.0], [1.0, 4.0]]])
    found = likelihood_region(table, one).model_test
    assert (found.statistic, found.df, found.p_value) == (0.0, 1, 0.5)


def test_the_statistic_of_the_model_is_the_likelihood_lost_by_the_limits(mirrored: Design) -> None:
    """All cells fit the linear model exactly, with x̂ = 1.2 and alike arms, so that its best is the saturated likelihood."""
    table = np.array([[400.0, 600.0], [600.0, 400.0]] * 2)[[1, 0, 3, 2]]
    polytope = Polytope(design=mirrored)
    statistic, p_value, df = model_test(table, polytope, maximise(table, polytope.free()))
    saturated = float(log_likelihood_of_means(table, table[:, 1] / 1000))
    inside = float(maximise(table, polytope.free()).log_likelihood)
    assert float(statistic) == pytest.approx(2 * (saturated - inside), abs=1e-6)
    assert (df, float(p_value)) == (3, pytest.approx((chi2.sf(statistic, 2) + chi2.sf(statistic, 3)) / 2))


def test_kappa_explains_an_effect_from_where_the_interval_holds_none(mirrored: Design) -> None:
    kappa = explaining_kappa(10 * HAND, mirrored)
    assert kappa is not None
    assert likelihood_region(10 * HAND, mirrored, kappa=kappa).effects[0][0] == pytest.approx(0, abs=1e-6)
    assert likelihood_region(10 * HAND, mirrored, kappa=kappa - 0.02).effects[0][0] > 0


def test_a_search_is_asked_as_often_as_if_it_were_alone() -> None:
    """A line, a bent line, an end that is reached, and no start: |v − start| times a slope, and a square where it is bent."""
    start, slopes, bends = np.array([0.5, 0.5, 0.5, np.nan]), np.array([10.0, 5.0, 1.0, 9.0]), np.array([0.0, 30.0, 0.0, 0.0])

    def asked(which: list[int]) -> tuple[FloatArray, list[tuple[float, float]]]:
        times = np.zeros((len(which), 2))

        def excess(values: FloatArray, going: Chosen) -> FloatArray:
            times[going] += 1
            away = np.abs(values - np.nan_to_num(start[which])[:, None])
            return np.asarray((slopes[which, None] * away + bends[which, None] * away**2 - 2)[going])

        found = crossings(excess, start=start[which], lowest=np.zeros(len(which)), critical=np.full(len(which), 2.0))
        return times, found

    together, found = asked([0, 1, 2, 3])
    alone = [asked([one]) for one in range(4)]
    assert together.tolist() == [times[0].tolist() for times, _ in alone]
    assert found == [ends[0] for _, ends in alone]
    assert together.tolist() == [[2, 2], [7, 7], [1, 1], [1, 1]], "the step on a line is the last, and needs no look at where it leads"
    bent = (np.sqrt(5**2 + 4 * 30 * 2) - 5) / 60
    assert found == [pytest.approx((0.3, 0.7)), pytest.approx((0.5 - bent, 0.5 + bent), abs=1e-9), (0, 1), (0, 1)]


def test_a_region_maximises_no_likelihood_for_an_end_that_it_has_found(mirrored: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its four shadows have eight ends. Four are ends of what is possible, and are found at once."""
    together = []

    def counted(counts: FloatArray, means: MeansWithin) -> Maximum:
        together.append(means.matrix[..., 0, 0].size)
        return maximise(counts, means)

    monkeypatch.setattr(searched, "maximise", counted)
    likelihood_region(HAND + 1, mirrored)
    free, unlimited, *rounds = together
    assert (free, unlimited, *rounds[:2]) == (1, 1, 8, 4)
    assert rounds == sorted(rounds, reverse=True)


def test_the_larger_quantile_solves_its_equation() -> None:
    for level in (0.8, 0.95, 0.99):
        found = quantile_at_an_end(level) ** 2
        assert 0.75 * chi2.sf(found, 1) + 0.25 * chi2.sf(found, 2) == pytest.approx(1 - level)
        assert found > quantile(level) ** 2
