"""The confidence sequence of the closed-form estimate, as data packages were computed before there was a better one.

Their programs recompute it and are never changed. Everything new uses `candor.sequences.looks`.
"""

from __future__ import annotations

import math

import numpy.typing as npt

from candor.designs.design import Design
from candor.estimators.counts import checked_counts
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.intervals import fieller_interval, wald_interval
from candor.results import AnytimeEffect, Interval
from candor.sequences.boundary import anytime_multiplier, tuned_rho


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
