"""The precision of thousands of designs at once: `candor.planning.information`, by elimination instead of one matrix inverse for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candor.planning.information import Scenario

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ManyPrecisions:
    """√n times standard errors by design, that of Δ also by contrast (last axis); that of τ is the largest of all contrasts."""

    honest_times_effect: Array
    effect: Array
    honest_proportion: Array


def precision_of_many(
    *,
    truth: Array,
    forced_yes: Array,
    chosen: Whole,
    shares: Array,
    arm_shares: Array,
    control: int,
    stated_yes_rate: float | None,
    scenario: Scenario,
    between: Array | float = 0.0,
) -> ManyPrecisions:
    """Precision of designs put together from a few forced responses.

    Parameters
    ----------
    truth, forced_yes : ndarray, shape (N,)
        The forced responses to choose from.
    chosen : ndarray of int, shape (D, S)
        For each design, the forced response of every subsample. All must identify the effect under the cheater model.
    shares : ndarray, shape (H, S)
        Ways to spread people over the subsamples.
    arm_shares : ndarray, shape (K,)
        Allocation to arms; `control` is the position of the control arm.
    stated_yes_rate : float or None
        q where the cheater model states it.
    scenario : Scenario
        What is expected of the participants.
    between : ndarray, shape (K − 1,)
        What sections add to n times the variance of each τ̂ (`candor.planning.sections.between_sections`).

    Returns
    -------
    ManyPrecisions
        Arrays of shape (D, H), that of Δ (D, H, K − 1).

    Notes
    -----
    With weights w of the cells of an arm, Π_a has information A = Σwt² and is eliminated from the equations of x and C; the sum over arms
    of what is left, [[Σwf² − b²/A, Σwf − bc/A], [·, Σw − c²/A]] with b = Σwtf and c = Σwt, is the information of (x, C). The variance of
    Π₁ − Π₀ is 1/A₁ + 1/A₀ plus the quadratic form of (b₁/A₁ − b₀/A₀, c₁/A₁ − c₀/A₀) in its inverse; for τ = (Π₁ − Π₀)/x the first of the
    two has τ added. Where every subsample asks for the truth equally often, or q is stated, there is no C.
    """
    p, x, q = np.array(scenario.prevalence), scenario.honest_proportion, scenario.cheater_yes_rate
    cells = x * (truth[:, None] * p + forced_yes[:, None]) + (1 - x) * q
    weights = arm_shares / scenario.variance_of_reports(cells, truth=truth[:, None])
    on_truth, on_honest = truth[:, None], (forced_yes - (stated_yes_rate or 0.0))[:, None]
    products = (on_truth**2, on_truth * on_honest, on_honest**2, on_truth, on_honest, np.ones_like(on_truth))
    by_response = np.stack([weights * product for product in products], axis=1)
    sums = np.einsum("hs,dspa->pdha", shares, by_response[chosen], optimize=True)
    tt, tf, ff, t, f, one = sums
    slope = tf / tt
    information = (ff - tf * slope).sum(axis=-1)
    treatments = [arm for arm in range(len(p)) if arm != control]
    effect = p[treatments] - p[control]
    eliminated = 1 / tt[..., treatments] + 1 / tt[..., [control]]
    on_x = slope[..., treatments] - slope[..., [control]]
    if stated_yes_rate is None and chosen.shape[1] > 2:
        level = t / tt
        shared, constant = (f - tf * level).sum(axis=-1), (one - t * level).sum(axis=-1)
        determinant = information * constant - shared**2
        inverse = np.stack([constant, -shared, information])[..., None] / determinant[None, ..., None]
        on_constant = level[..., treatments] - level[..., [control]]
    else:
        inverse = np.stack([1 / information, np.zeros_like(information), np.zeros_like(information)])[..., None]
        on_constant = np.zeros_like(on_x)

    def variance(direction: Array) -> Array:
        found: Array = eliminated + direction**2 * inverse[0] + 2 * direction * on_constant * inverse[1] + on_constant**2 * inverse[2]
        return found

    varying = scenario.variance_of_effects(control=control)[treatments] + between
    of_difference = np.sqrt(variance(on_x) + x**2 * varying)
    of_effect = np.sqrt(variance(on_x + effect) / x**2 + varying)
    return ManyPrecisions(
        honest_times_effect=of_difference,
        effect=of_effect.max(axis=-1),
        honest_proportion=np.sqrt(inverse[0][..., 0]),
    )
