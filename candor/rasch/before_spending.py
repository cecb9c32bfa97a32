"""Before a budget is spent: which budgets are accepted, and how precise the difficulties would be. Nothing here reads an answer."""

from __future__ import annotations

import math

from candor.errors import MethodError
from candor.privacy.losses import Loss, LossError
from candor.privacy.noise import cube_sd
from candor.rasch.answers import check_size
from candor.rasch.pairs.release import all_pairs, of_pairs
from candor.rasch.right_and_answered.release import of_right_and_answered
from candor.rasch.totals_and_scores.release import SHARE_OF_TOTALS, of_totals

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-9, 10.0
PEOPLE_PER_DELTA = 10
"""δ must be below 1/(10n): a δ of 1/n would allow to publish somebody's answers."""
INFORMATION = 0.18
"""The information of one answer about its item, on average over standard normal abilities and difficulties; .25 when both are equal."""
PAIR_SHARE = 0.11
"""Share of the people who solve the one and not the other item of a pair, as a harmonic mean, under the same distributions."""
LARGEST_ERROR = 0.5
"""A standard error above this is noise: the difficulties themselves have a standard deviation of about 1."""

GAUSSIAN, PURE, NOT_GIVEN, PAIRS = "totals_and_scores", "pure_totals_and_scores", "right_and_answered", "pairs"
MECHANISMS = (GAUSSIAN, PURE, NOT_GIVEN, PAIRS)


class NoiseError(MethodError):
    """A release that would be noise. It needs an explicit "all the same"."""


def budget(*, n: int, epsilon: float, delta: float | None = None) -> Loss:
    """The loss that a budget of (ε, δ) allows for a class of n; without δ a pure ε.

    Raises
    ------
    LossError
        For ε below a billionth or above 10, or δ outside (0, 1/(10n)).

    Examples
    --------
    >>> budget(n=200, epsilon=1.0)
    Loss(rho=0.5, pure_epsilon=1.0)
    >>> round(budget(n=200, epsilon=1.0, delta=1e-4).rho, 4)
    0.0406
    """
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise LossError(f"ε must be above 0 and at most {LARGEST_EPSILON:g}, found {epsilon:g}")
    if epsilon < SMALLEST_EPSILON:  # noise that no double holds
        raise LossError(f"ε must be at least {SMALLEST_EPSILON:g}, found {epsilon:g}")
    if delta is None:
        return Loss.pure(epsilon)
    if not 0 < delta < 1 / (PEOPLE_PER_DELTA * n):
        raise LossError(f"δ must be above 0 and below 1/({PEOPLE_PER_DELTA}·{n}) = {1 / (PEOPLE_PER_DELTA * n):.3g}, found {delta:g}")
    return Loss.within(epsilon, delta)


def predicted_error(*, n: int, m: int, loss: Loss, mechanism: str = GAUSSIAN) -> float:
    """The standard error of a difficulty, in logits, before anything is spent.

    Parameters
    ----------
    n, m : int
        People and items.
    loss : Loss
        To be spent; `PURE` needs a pure ε.
    mechanism : str
        One of `MECHANISMS`.

    Notes
    -----
    SE² = 1/(.18n) + (σ/(.18n))², where σ is the standard deviation of the noise on a total. With counts of given answers that is
    σ·√(1 + 1/4). A walk over all pairs with noise σ on each count has noise 2σ²(m − 1)/(m·.11n)², which is rough:
    within a factor of 1.5, as the others are within 1.25 (``tests/simulation``).

    Examples
    --------
    >>> round(predicted_error(n=1000, m=20, loss=budget(n=1000, epsilon=1.0, delta=9e-5)), 2)
    0.12
    """
    check_size(n, m)
    if mechanism not in MECHANISMS:
        raise MethodError(f"expected one of {', '.join(MECHANISMS)}, found {mechanism}")
    if mechanism == PURE:
        noise = cube_sd(m, SHARE_OF_TOTALS * pure_epsilon(loss)) / INFORMATION
    elif mechanism == GAUSSIAN:
        noise = math.sqrt(of_totals(m).l2_squared / (2 * SHARE_OF_TOTALS * loss.rho)) / INFORMATION
    elif mechanism == NOT_GIVEN:
        noise = math.sqrt(of_right_and_answered(m).l2_squared / (2 * loss.rho) * 1.25) / INFORMATION
    else:
        noise = math.sqrt(of_pairs(all_pairs(m)).l2_squared / (2 * loss.rho) * 2 * (m - 1)) / (m * PAIR_SHARE)
    return math.hypot(1 / math.sqrt(INFORMATION * n), noise / n)


def pure_epsilon(loss: Loss) -> float:
    """The pure ε of a loss, which is refused without one."""
    if loss.pure_epsilon is None:
        raise LossError(f"a pure release needs a budget of pure ε, found ρ = {loss.rho:.4g}")
    return loss.pure_epsilon


def warning(*, n: int, m: int, loss: Loss, mechanism: str = GAUSSIAN) -> str | None:
    """The sentences to show before a release that would be noise; None when it would not.

    Examples
    --------
    >>> said = warning(n=62, m=16, loss=budget(n=62, epsilon=1.0, delta=1e-4))
    >>> said[:119]
    'This would be noise. With 62 people and 16 items the standard error of a difficulty would be about 1.36 logits, and dif'
    """
    error = predicted_error(n=n, m=m, loss=loss, mechanism=mechanism)
    if error <= LARGEST_ERROR:
        return None
    return (
        f"This would be noise. With {n} people and {m} items the standard error of a difficulty would be about {error:.2f} logits, and "
        "difficulties differ by about 1. More people, fewer items or a larger budget would help."
    )
