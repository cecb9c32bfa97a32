"""ρ to (ε, δ) and back without OpenDP, for processes that must stay small: web pages show what a ledger has spent."""

from __future__ import annotations

import math
from functools import lru_cache

from candor.errors import MethodError

# The search divides ln(α − 1), from nearly 0 to what no budget reaches, so often by 3/2: to the last digit.
SMALLEST, LARGEST, STEPS = -20.0, 45.0, 120
# Rounding moves the last digits; the bound is stated this much higher.
A_HAIR = 1 + 1e-12


@lru_cache(maxsize=1024)
def epsilon_of_rho(rho: float, delta: float) -> float:
    r"""ε of the (ε, δ) equivalent of ρ-zCDP.

    Parameters
    ----------
    rho : float
        Zero-concentrated differential privacy, at least 0.
    delta : float
        0 < δ < 1.

    Returns
    -------
    float
        An upper bound: equal to OpenDP's conversion but for a hair above it.

    Raises
    ------
    MethodError
        A number is out of its range.

    Notes
    -----
    .. math:: ε = \inf_{α > 1}\; αρ + \frac{\ln(1/δ) - \ln α}{α - 1} + \ln(1 - 1/α)

    Every α gives a valid bound, so a search that stops early is safe. Source: Canonne, Kamath and Steinke 2020, proposition 12.

    Examples
    --------
    >>> round(epsilon_of_rho(0.5, 1e-6), 4)
    5.2215
    """
    if not (math.isfinite(rho) and rho >= 0):
        raise MethodError(f"ρ is a finite number of at least 0: got {rho!r}")
    if not 0 < delta < 1:
        raise MethodError(f"δ is above 0 and below 1: got {delta!r}")
    if not rho:
        return 0.0

    def bound(log_order: float) -> float:
        order = 1 + math.exp(log_order)
        return order * rho - (math.log(delta) + math.log(order)) / (order - 1) + math.log1p(-1 / order)

    low, high = SMALLEST, LARGEST
    for _ in range(STEPS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if bound(left) < bound(right) else (left, high)
    return max(bound((low + high) / 2), 0.0) * A_HAIR


@lru_cache(maxsize=1024)
def rho_within(epsilon: float, delta: float) -> float:
    """The largest ρ whose (ε, δ) equivalent is at most this ε: what a budget of (ε, δ) allows. 0 for δ = 0, which only pure ε keeps.

    Parameters
    ----------
    epsilon : float
        Above 0.
    delta : float
        0 ≤ δ < 1.

    Returns
    -------
    float
        A lower bound of the largest ρ, exact to the last digits.

    Raises
    ------
    MethodError
        A number is out of its range.

    Examples
    --------
    >>> round(rho_within(1.0, 1e-6), 5)
    0.02436
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise MethodError(f"a budget is a finite ε above 0: got {epsilon!r}")
    if delta == 0:
        return 0.0
    low, high = 0.0, epsilon
    while epsilon_of_rho(high, delta) <= epsilon:
        low, high = high, high * 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of_rho(middle, delta) <= epsilon else (low, middle)
    return low
