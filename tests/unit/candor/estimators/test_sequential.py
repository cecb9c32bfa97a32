import math

import numpy as np
import pytest
from scipy import optimize

from candor.designs.design import Design
from candor.errors import MethodError, TooFewResponsesError
from candor.estimators.effects import estimate_outcome
from candor.estimators.sequential import anytime_effects, anytime_multiplier, tuned_rho

TABLE = np.array([[[520, 280], [440, 360]], [[360, 440], [280, 520]]])


def test_the_half_width_is_that_of_the_published_formula() -> None:
    n, rho, alpha, sigma = 750.0, 0.07, 0.1, 2.3
    published = sigma * math.sqrt(2 * (n * rho**2 + 1) / (n**2 * rho**2) * math.log(math.sqrt(n * rho**2 + 1) / alpha))
    assert anytime_multiplier(n, rho=rho, level=1 - alpha) * sigma / math.sqrt(n) == pytest.approx(published)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_rho_makes_the_sequence_nearly_narrowest_at_the_planned_number(level: float) -> None:
    best = optimize.minimize_scalar(lambda log: anytime_multiplier(2000, rho=math.exp(log), level=level), bounds=(-8, 0), method="bounded")
    assert anytime_multiplier(2000, rho=tuned_rho(2000, level=level), level=level) <= 1.01 * best.fun


def test_it_is_wider_than_the_interval_of_one_look_and_agrees_about_the_sign(mirrored: Design) -> None:
    (anytime,) = anytime_effects(TABLE, design=mirrored, planned_n=3200)
    once = estimate_outcome(TABLE, design=mirrored).effects[1]
    assert anytime.value == pytest.approx(once.value)
    assert anytime.wald is not None
    assert once.wald is not None
    assert anytime.wald.low is not None
    assert once.wald.low is not None
    assert anytime.wald.low < once.wald.low
    assert anytime.interval.contains(0) == anytime.honest_times_effect.contains(0)


def test_with_too_few_answers_it_is_unbounded_rather_than_made_up(mirrored: Design) -> None:
    (one,) = anytime_effects(np.ones((2, 2, 2), int), design=mirrored, planned_n=1000)
    assert one.interval.kind == "unbounded"


def test_answers_that_do_not_vary_give_no_interval(mirrored: Design) -> None:
    (one,) = anytime_effects([[[0, 5], [0, 5]], [[0, 5], [0, 5]]], design=mirrored, planned_n=1000)
    assert (one.value, one.wald, one.interval.kind, one.honest_times_effect.low) == (None, None, "unbounded", None)


def test_where_the_effect_is_not_identified_its_sign_still_is(symmetric_unknown: Design) -> None:
    (one,) = anytime_effects(TABLE, design=symmetric_unknown, planned_n=3200)
    assert one.value is None
    assert one.interval.kind == "unbounded"
    assert one.honest_times_effect.low is not None
    assert one.honest_times_effect.low > 0


def test_an_empty_cell_is_an_error(mirrored: Design) -> None:
    with pytest.raises(TooFewResponsesError):
        anytime_effects([[[1, 1], [0, 0]], [[1, 1], [1, 1]]], design=mirrored, planned_n=10)


@pytest.mark.parametrize("planned", [0, -5, float("inf"), float("nan")])
def test_the_planned_number_must_be_a_number_of_people(planned: float) -> None:
    with pytest.raises(MethodError, match="planned number"):
        tuned_rho(planned)


@pytest.mark.parametrize(("n", "rho"), [(0, 0.1), (10, 0)])
def test_a_sequence_needs_people_and_a_positive_rho(n: float, rho: float) -> None:
    with pytest.raises(MethodError, match="rho"):
        anytime_multiplier(n, rho=rho)
