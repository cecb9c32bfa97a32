"""Where a budget ends: what it allows, to the last digit, and what it refuses."""

from __future__ import annotations

import io
import math

import pytest

from candor.privacy.conversion import rho_within
from candor.privacy.losses import Loss
from candor.queries.budget_file import BudgetFile, Charge


def budget(*spent: Loss) -> BudgetFile:
    charges = [Charge(question={}, sha256="", rho=loss.rho, epsilon=loss.pure_epsilon) for loss in spent]
    return BudgetFile(io.BytesIO(), 1.0, 1e-6, b"", charges=charges)


def test_all_that_is_left_may_be_spent_and_no_digit_more() -> None:
    rho = rho_within(1.0, 1e-6)
    assert budget().fits(Loss.zcdp(rho))
    assert not budget().fits(Loss.zcdp(math.nextafter(rho, 1)))
    assert budget(*[Loss.pure(0.2)] * 4).fits(Loss.pure(0.2))
    assert not budget(*[Loss.pure(0.2)] * 4).fits(Loss.pure(math.nextafter(0.2, 1)))


@pytest.mark.parametrize("order", [1, -1])
def test_a_pure_question_beside_one_with_gaussian_noise_costs_rho(order: int) -> None:
    """ε = 0.2 is ρ = 0.02, and 0.0044 is left of ε = 1 and δ = 10⁻⁶; by ε alone 0.8 would be."""
    for rho, fits in ((0.0043, True), (0.0044, False)):
        before, asked = [Loss.pure(0.2), Loss.zcdp(rho)][::order]
        assert budget(before).fits(asked) is fits
        assert budget(before).left()["epsilon"] == (0.8 if order == 1 else None)
