"""Evidence against a hypothesis: equal to its integral, to the published boundary, and honest under optional stopping."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.stats import multivariate_normal, norm

from candor.errors import MethodError
from candor.sequences.boundary import anytime_multiplier, log_e_value, log_one_sided_e_values, tuned_rho


@pytest.mark.parametrize(("n", "rho", "z"), [(40, 0.2, 1.3), (1000, 0.05, -2.8), (200, 0.1, 0.0)])
def test_the_e_value_is_the_likelihood_ratio_averaged_over_drifts(n: int, rho: float, z: float) -> None:
    """A sum of n standard normal steps equals z√n; the drift of a step is drawn from N(0, ρ²)."""
    total = z * math.sqrt(n)

    def weighted(drift: float) -> float:
        return math.exp(drift * total - n * drift**2 / 2) * norm.pdf(drift, scale=rho)

    up, down = (integrate.quad(weighted, *ends, epsabs=1e-12)[0] for ends in ((0, 40 * rho), (-40 * rho, 0)))
    assert math.exp(log_e_value(z**2, n=n, rho=rho)) == pytest.approx(up + down, rel=1e-6)
    assert np.exp(log_one_sided_e_values(z, n=n, rho=rho)) == pytest.approx([2 * up, 2 * down], rel=1e-6)


def test_in_two_dimensions_it_is_the_ratio_of_two_normal_densities() -> None:
    """The sum is N(0, n) without drift and N(0, n + n²ρ²) with it, in each dimension."""
    n, rho, total = 50, 0.15, np.array([6.0, -11.0])
    ratio = multivariate_normal([0, 0], np.eye(2) * (n + n**2 * rho**2)).pdf(total) / multivariate_normal([0, 0], np.eye(2) * n).pdf(total)
    assert math.exp(log_e_value(total @ total / n, n=n, rho=rho, df=2)) == pytest.approx(ratio)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_boundary_is_where_the_evidence_reaches_its_limit(level: float) -> None:
    z = anytime_multiplier(300, rho=0.08, level=level)
    assert math.exp(log_e_value(z**2, n=300, rho=0.08)) == pytest.approx(1 / (1 - level))


def test_no_way_of_stopping_makes_evidence_out_of_nothing() -> None:
    """4,000 random walks of 400 steps. Whenever somebody stops, the mean evidence is 1 at most; the first time at 20 comes in 5 % at most.

    Evidence at a stopping time that ends at e = 3 has a standard deviation below 2: four standard errors are .13. The negative control
    believes a z of 1.96.
    """
    walks = np.random.default_rng(1).normal(size=(4000, 400)).cumsum(axis=1)
    n, rho = np.arange(1, 401), tuned_rho(400)
    z = walks / np.sqrt(n)
    evidence = np.exp(log_e_value(z**2, n=n, rho=rho))
    for reason_to_stop in (evidence >= 3, np.abs(z) > 1.96, z > 1):
        last = np.where(reason_to_stop.any(axis=1), reason_to_stop.argmax(axis=1), len(n) - 1)
        assert evidence[np.arange(4000), last].mean() <= 1 + 0.13
    assert (evidence >= 20).any(axis=1).mean() <= 0.05
    assert (np.abs(z) > 1.96).any(axis=1).mean() > 0.4


def test_the_half_width_is_that_of_the_published_formula() -> None:
    n, rho, alpha, sigma = 750.0, 0.07, 0.1, 2.3
    published = sigma * math.sqrt(2 * (n * rho**2 + 1) / (n**2 * rho**2) * math.log(math.sqrt(n * rho**2 + 1) / alpha))
    assert anytime_multiplier(n, rho=rho, level=1 - alpha) * sigma / math.sqrt(n) == pytest.approx(published)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_rho_makes_the_sequence_nearly_narrowest_at_the_planned_number(level: float) -> None:
    best = optimize.minimize_scalar(lambda log: anytime_multiplier(2000, rho=math.exp(log), level=level), bounds=(-8, 0), method="bounded")
    assert anytime_multiplier(2000, rho=tuned_rho(2000, level=level), level=level) <= 1.01 * best.fun


@pytest.mark.parametrize("planned", [0, -5, float("inf"), float("nan")])
def test_the_planned_number_must_be_a_number_of_people(planned: float) -> None:
    with pytest.raises(MethodError, match="planned number"):
        tuned_rho(planned)


@pytest.mark.parametrize(("n", "rho"), [(0, 0.1), (10, 0)])
def test_a_sequence_needs_people_and_a_positive_rho(n: float, rho: float) -> None:
    with pytest.raises(MethodError, match="rho"):
        anytime_multiplier(n, rho=rho)
