"""The largest shift of an effect by cheating that depends on the arm."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy.typing as npt

from candor.designs.design import Design
from candor.errors import MethodError, NotIdentifiedError
from candor.estimators.counts import checked_counts, margins_of
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.intervals import cut_to, fieller_interval
from candor.results import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CheatingSensitivity:
    """Bounds of one contrast when cheaters' yes rates may differ by up to κ between the two arms.

    Parameters
    ----------
    honest_times_effect, effect : (low, high)
        All values of Δ and τ that the estimates then allow; ``effect`` is cut to [−1, 1] and None when nobody seems honest.
    interval : Interval
        The same for τ with chance variation added (Fieller at both ends), kind "unbounded" when it has none.
    breakdown : float or None
        The smallest κ that would explain the whole difference between the arms; None when even κ = 1 would not.
    """

    treatment: str
    control: str
    kappa: float
    honest_times_effect: tuple[float, float]
    effect: tuple[float, float] | None
    interval: Interval
    breakdown: float | None


def sensitivity_to_arm_dependent_cheating(
    counts: npt.ArrayLike, *, design: Design, kappa: float, level: float = 0.95
) -> tuple[CheatingSensitivity, ...]:
    """Bounds of every effect if |q_a − q_0| ≤ κ.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
        People by arm, subsample and reported answer (no, yes).
    design : Design
        Must identify x.
    kappa : float
        Largest difference, in [0, 1], between the yes rates of cheaters in the treatment and in the control arm.
    level : float
        Nominal coverage of ``interval``.

    Returns
    -------
    tuple of CheatingSensitivity
        One per contrast, in the order of ``design.treatments``.

    Raises
    ------
    MethodError
        When κ is outside [0, 1].
    NotIdentifiedError
        When the design does not identify x.

    Notes
    -----
    m(a,·) − m(0,·) = t̄·xτ + (1 − x)(q_a − q_0), so xτ ∈ [D₀ − (1 − x)κ, D₀ + (1 − x)κ]/t̄ with D₀ the arm difference. In mirrored designs
    x is learned within the arms, so it stands whatever the arms' rates; elsewhere q is then the average rate.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16, 175–185, for ``interval``.

    Examples
    --------
    x̂ = .6, D₀ = .2, t̄ = .5: κ = .25 moves Δ = .4 by .4·.25/.5 = .2; κ = .5 would explain it away.

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> table = [[[13, 7], [11, 9]], [[9, 11], [7, 13]]]
    >>> (one,) = sensitivity_to_arm_dependent_cheating(table, design=design, kappa=0.25)
    >>> [round(end, 6) for end in one.honest_times_effect], [round(end, 6) for end in one.effect], round(one.breakdown, 6)
    ([0.2, 0.6], [0.333333, 1.0], 0.5)
    """
    if not 0 <= kappa <= 1:
        raise MethodError(f"kappa must lie in [0, 1], not {kappa!r}")
    if not design.identification.honest_proportion:
        raise NotIdentifiedError(f"the sensitivity bound needs the honest share: {design.identification.assumption}")
    table = checked_counts(counts, design=design)
    joint, margins = difference_in_means_kernel(table, design), margins_of(table)
    mean_truth = float(margins.subsample_sizes / margins.n @ design.truth)
    raw, used = float(joint.honest_proportion), float(joint.honest_proportion_used)
    results = []
    for contrast, treatment in enumerate(design.treatments):
        delta, reach = float(joint.honest_times_effect[contrast]), (1 - used) / mean_truth
        ends = delta - kappa * reach, delta + kappa * reach
        reachable = abs(delta) <= reach and reach > 0
        intervals = [
            _with_chance_variation(
                delta,
                float(joint.test_variance[contrast]),
                raw,
                float(joint.honest_proportion_variance),
                float(joint.covariance[contrast]),
                slope=sign * kappa / mean_truth,
                level=level,
            )
            for sign in (1, -1)
        ]
        whole = Interval(kind=intervals[0].kind, low=intervals[0].low, high=intervals[1].high, level=level)
        results.append(
            CheatingSensitivity(
                treatment=treatment,
                control=design.control,
                kappa=float(kappa),
                honest_times_effect=ends,
                effect=None if used <= 0 else (_cut(ends[0] / used), _cut(ends[1] / used)),
                interval=cut_to(whole, low=-1.0, high=1.0),
                breakdown=abs(delta) / reach if reachable else None,
            )
        )
    return tuple(results)


def _with_chance_variation(
    delta: float, variance: float, honest: float, honest_variance: float, covariance: float, *, slope: float, level: float
) -> Interval:
    """Fieller for (Δ̂ − slope·(1 − x̂))/x̂, whose numerator is linear in the two estimates."""
    return fieller_interval(
        delta - slope * (1 - honest),
        honest,
        numerator_variance=variance + 2 * slope * covariance + slope**2 * honest_variance,
        denominator_variance=honest_variance,
        covariance=covariance + slope * honest_variance,
        level=level,
        low=-math.inf,
        high=math.inf,
    )


def _cut(effect: float) -> float:
    return min(1.0, max(-1.0, effect))
