"""Losses add up, refuse what is no loss, and convert as OpenDP and the literature say."""

import math

import pytest

from candor.privacy.losses import NO_LOSS, Loss, LossError


@pytest.mark.parametrize("wrong", [math.nan, -1e-9, math.inf, -math.inf])
def test_what_is_no_loss_is_refused(wrong: float) -> None:
    for make in (Loss, Loss.pure, Loss.zcdp, lambda number: Loss(0.1, number), lambda number: Loss.within(number, 1e-6)):
        with pytest.raises(LossError, match="finite"):
            make(wrong)


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan])
def test_a_delta_outside_is_refused(delta: float) -> None:
    with pytest.raises(LossError, match="δ"):
        Loss.zcdp(0.1).epsilon(delta)


def test_sums_and_disjoint_parts() -> None:
    parts = [Loss.pure(1.0), Loss.pure(0.5)]
    assert sum(parts, NO_LOSS) == Loss(0.625, 1.5)
    assert Loss.of_parts(parts) == Loss.pure(1.0)
    assert Loss.of_parts([Loss.pure(1.0), Loss.zcdp(0.7)]) == Loss(0.7, None)
    assert Loss.of_parts([]) == NO_LOSS


@pytest.mark.parametrize(("rho", "delta"), [(0.01, 1e-6), (0.1, 1e-5), (0.5, 1e-6), (2.0, 1e-9)])
def test_the_conversion_lies_between_the_gaussians_exact_epsilon_and_the_simple_bound(rho: float, delta: float) -> None:
    """Never below what a Gaussian of this ρ truly costs (Balle and Wang 2018), never above ρ + 2√(ρ ln 1/δ) (Bun and Steinke 2016)."""
    epsilon = Loss.zcdp(rho).epsilon(delta)
    assert epsilon <= rho + 2 * math.sqrt(rho * math.log(1 / delta))
    mu = math.sqrt(2 * rho)

    def normal(value: float) -> float:
        return math.erfc(-value / math.sqrt(2)) / 2

    assert normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu) <= delta


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-5), (10.0, 1e-9)])
def test_a_budget_is_used_up_and_never_exceeded(epsilon: float, delta: float) -> None:
    allowed = Loss.within(epsilon, delta)
    assert 0.999 * epsilon < allowed.epsilon(delta) <= epsilon


def test_a_pure_loss_keeps_its_epsilon_where_the_conversion_gives_more() -> None:
    assert Loss.pure(0.1).epsilon(1e-12) == 0.1
    assert Loss.zcdp(0.1).epsilon(0) == math.inf
