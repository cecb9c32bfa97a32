"""Looking while the study runs: intervals that hold at every time at once."""

from __future__ import annotations

import math

import numpy.typing as npt

from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.counts import checked_counts
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.intervals import fieller_interval, normal_quantile, wald_interval
from candor.results import AnytimeEffect, Interval


def tuned_rho(planned_n: float, *, level: float = 0.95) -> float:
    """The ρ that makes a confidence sequence narrowest at the planned number of participants.

    Parameters
    ----------
    planned_n : float
        Number of participants at which most will be decided, at least 1.
    level : float
        Coverage of the sequence.

    Notes
    -----
    ρ = sqrt( (−2 ln α + ln(1 − 2 ln α)) / n ), an approximation of the exact minimum whose width differs by less than 1 %.

    References
    ----------
    Waudby-Smith, I., Arbour, D., Sinha, R., Kennedy, E. H. & Ramdas, A. (2024). Time-uniform central limit theory and asymptotic confidence
    sequences. Annals of Statistics 52, 2613–2640 (first version 2021).

    Examples
    --------
    -2 ln .05 = 5.991 and ln 6.991 = 1.945, so ρ² = 7.936/1000:

    >>> round(tuned_rho(1000), 4)
    0.0891
    """
    normal_quantile(level)
    if not (math.isfinite(planned_n) and planned_n >= 1):
        raise MethodError(f"the planned number of participants must be at least 1, not {planned_n!r}")
    logarithm = -2 * math.log(1 - level)
    return math.sqrt((logarithm + math.log(1 + logarithm)) / planned_n)


def anytime_multiplier(n: float, *, rho: float, level: float = 0.95) -> float:
    """Half-width of a confidence sequence in standard errors σ̂/√n, in place of 1.96.

    Notes
    -----
    half-width = σ̂·sqrt( 2(nρ² + 1)/(n²ρ²) · ln( sqrt(nρ² + 1)/α ) ), so the multiple of σ̂/√n is that with n² replaced by n.

    Examples
    --------
    With nρ² = 1 and α = .05: sqrt(4·ln(√2/.05)) = 3.656.

    >>> round(anytime_multiplier(100, rho=0.1), 3)
    3.656
    """
    normal_quantile(level)
    if not (n >= 1 and rho > 0):
        raise MethodError(f"a confidence sequence needs n of at least 1 and rho above 0, not n = {n!r} and rho = {rho!r}")
    scaled = n * rho**2
    return math.sqrt(2 * (scaled + 1) / scaled * math.log(math.sqrt(scaled + 1) / (1 - level)))


def anytime_effects(counts: npt.ArrayLike, *, design: Design, planned_n: int, level: float = 0.95) -> tuple[AnytimeEffect, ...]:
    """Asymptotic confidence sequences of every effect at the present number of answers.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
        The answers so far: people by arm, subsample and reported answer (no, yes).
    design : Design
        Arms and forced responses.
    planned_n : int
        Number of participants the study was planned for; it must not be chosen after looking, since ρ depends on it.
    level : float
        Probability with which, over the whole course of the study, every interval contains the truth.

    Returns
    -------
    tuple of AnytimeEffect
        One per contrast, in the order of ``design.treatments``.

    Raises
    ------
    DataError, TooFewResponsesError
        As `candor.estimators.effects.estimate_outcome`.

    Notes
    -----
    Assumes what the effect itself assumes, and independent participants. At the true τ the estimate Δ̂ − τx̂ is asymptotically a mean of
    independent influences with mean zero, to which the sequence applies directly; the headline interval collects all τ for which it covers
    zero (Fieller's argument with `anytime_multiplier` in place of 1.96). It needs no x̂ away from zero, unlike τ̂ ± half-width, which is
    given beside it. Intervals of several contrasts are each valid; jointly they are not adjusted.

    References
    ----------
    See `tuned_rho`.

    Examples
    --------
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> (one,) = anytime_effects([[[130, 70], [110, 90]], [[90, 110], [70, 130]]], design=design, planned_n=800)
    >>> round(one.honest_times_effect.low, 3), round(one.honest_times_effect.high, 3), one.interval.kind
    (0.19, 0.61, 'unbounded')
    """
    table = checked_counts(counts, design=design)
    joint, n, rho = difference_in_means_kernel(table, design), int(table.sum()), tuned_rho(planned_n, level=level)
    multiplier = anytime_multiplier(n, rho=rho, level=level)
    unbounded = Interval(kind="unbounded", low=None, high=None, level=level)
    results = []
    for contrast, treatment in enumerate(design.treatments):
        delta, variance = float(joint.honest_times_effect[contrast]), float(joint.honest_times_effect_variance[contrast])
        honest, value = float(joint.honest_proportion), float(joint.effect[contrast])
        varies = variance > 1e-24
        interval, wald = unbounded, None
        if varies and math.isfinite(honest):
            interval = fieller_interval(
                delta,
                honest,
                numerator_variance=variance,
                denominator_variance=float(joint.honest_proportion_variance),
                covariance=float(joint.covariance[contrast]),
                level=level,
                multiplier=multiplier,
            )
        if varies and math.isfinite(value):
            wald = wald_interval(value, float(joint.standard_error[contrast]), level=level, multiplier=multiplier)
        results.append(
            AnytimeEffect(
                treatment=treatment,
                control=design.control,
                n=n,
                planned_n=planned_n,
                rho=rho,
                value=value if math.isfinite(value) else None,
                interval=interval,
                wald=wald,
                honest_times_effect=wald_interval(delta, math.sqrt(variance), level=level, multiplier=multiplier) if varies else unbounded,
            )
        )
    return tuple(results)
