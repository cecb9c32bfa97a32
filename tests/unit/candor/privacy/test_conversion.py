"""ρ to (ε, δ) in plain Python, against OpenDP and against a grid of every order."""

import math

import pytest

from candor.errors import MethodError
from candor.privacy.conversion import epsilon_of_rho, rho_within
from candor.privacy.losses import Loss

RHOS = (1e-9, 1e-6, 1e-3, 0.02, 0.5, 5.0, 50.0)
DELTAS = (1e-3, 1e-6, 1e-12)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rho", RHOS)
def test_it_is_what_opendp_says_and_never_less(rho: float, delta: float) -> None:
    exact = Loss.zcdp(rho).epsilon(delta)
    found = epsilon_of_rho(rho, delta)
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert found >= exact * (1 - 1e-15)


def test_no_order_gives_less() -> None:
    rho, delta = 0.02, 1e-6
    orders = [1 + math.exp(place / 100) for place in range(-1500, 1500)]
    least = min(a * rho + (math.log(1 / delta) - math.log(a)) / (a - 1) + math.log1p(-1 / a) for a in orders)
    assert least >= epsilon_of_rho(rho, delta) * (1 - 1e-9)
    assert least == pytest.approx(epsilon_of_rho(rho, delta), rel=1e-4)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 10.0])
def test_a_budget_is_the_largest_rho_within_it(epsilon: float, delta: float) -> None:
    rho = rho_within(epsilon, delta)
    assert epsilon_of_rho(rho, delta) <= epsilon < epsilon_of_rho(rho * (1 + 1e-6), delta)
    assert rho == pytest.approx(Loss.within(epsilon, delta).rho, rel=1e-6)


def test_without_delta_only_pure_losses_fit() -> None:
    assert rho_within(1.0, 0.0) == 0.0
    assert epsilon_of_rho(0.0, 1e-6) == 0.0


@pytest.mark.parametrize(("rho", "delta"), [(-1.0, 1e-6), (math.nan, 1e-6), (math.inf, 1e-6), (1.0, 0.0), (1.0, 1.0), (1.0, math.nan)])
def test_what_is_no_loss_is_refused(rho: float, delta: float) -> None:
    with pytest.raises(MethodError):
        epsilon_of_rho(rho, delta)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_budget_is_refused(epsilon: float) -> None:
    with pytest.raises(MethodError):
        rho_within(epsilon, 1e-6)
