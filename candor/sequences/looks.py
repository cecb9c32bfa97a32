"""All that may be said about a question while its study runs: true at every look with one probability, however often somebody looks.

Fixed-n tests and intervals are for one look. Announced again after every batch, a test of nothing is significant at some look in a
quarter of all studies and more. Everything here is a confidence sequence or an e-process, which holds at all looks at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from candor.designs.design import Design, FloatArray
from candor.estimators.cell_means import CellFit, maximum_likelihood_fit
from candor.estimators.cheaters import constrained_honest_proportion
from candor.estimators.counts import checked_counts
from candor.estimators.joint_estimates import NOBODY_IS_HONEST
from candor.results import (
    EFFICIENT,
    EFFICIENT_ARM_SPECIFIC,
    Interval,
    SequentialEffect,
    SequentialEstimate,
    SequentialPrevalence,
    SequentialTest,
    SequentialValue,
)
from candor.sequences.boundary import anytime_multiplier, log_e_value, log_one_sided_e_values, tuned_rho
from candor.sequences.closed_testing import directions
from candor.sequences.ratio import KIND, interval_of_ratio, interval_of_value

LEAST = 5
"""So many people must have said yes, and so many no, in every arm and subsample before the sequence starts."""
Look = TypeVar("Look", bound=SequentialEstimate)
NO_FITS: Mapping[str, CellFit] = MappingProxyType({})


def has_started(counts: FloatArray) -> bool:
    """Whether there are enough answers of both kinds everywhere for sums of them to be nearly normal."""
    return bool((counts >= LEAST).all())


def sequential_estimate(
    counts: npt.ArrayLike,
    *,
    design: Design,
    planned_n: int,
    level: float = 0.95,
    questions: int = 1,
    adjusted: Mapping[str, CellFit] = NO_FITS,
) -> SequentialEstimate:
    """Sequences of the effects, the cheater proportion and the prevalence, and the e-process of the specification test, at the present
    look.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
        The answers so far: people by arm, subsample and reported answer (no, yes).
    design : Design
    planned_n : int
        Number of participants the study was planned for; it must not be chosen after looking.
    level : float
        Probability with which a statement is true at every look.
    questions : int
        How many questions share the error probability of the effects. Their directions are decided by `decided_together`.
    adjusted : mapping of str to CellFit, optional
        Fits of covariate-adjusted cell means by the names of their methods, for effects beside the efficient one.

    Returns
    -------
    SequentialEstimate
        Effects by the efficient method, by that for cheaters who differ by arm where the design allows it, and by ``adjusted``. A survey
        has none: its sequence is that of the prevalence.

    Raises
    ------
    DataError, TooFewResponsesError
        As `candor.estimators.effects.estimate_outcome`.

    Notes
    -----
    Assumes what the estimates themselves assume. For any τ₀ the efficient estimates give L = Δ̂ − τ₀x̂, whose mean is zero where τ₀ is
    the truth. As people come, L divided by its variance is nearly a Gaussian random walk, since efficient estimates have independent
    increments of information; so |L| ≤ c(n)·SE(L) at all n at once with the stated probability, c from `anytime_multiplier`. The
    interval of τ holds every τ₀ that is not excluded, by L or by the sequence of Δ: |τ| ≥ |Δ|, and both have one sign. Where nobody
    cheats the two may err together with 1.5α, for which the late start makes up (`benchmarks/sequences.py`: .037 at most). It needs no x̂
    away from zero. Intervals of a family of m contrasts are at 1 − α/m and so hold together. The plugged-in variance is that of the fit;
    the sequence starts when every cell has `LEAST` answers of each kind, and the boundary, which begins at n = 0, has enough error
    probability left to make up for what is not yet normal then (`benchmarks/sequences.py`: at most .04 for .05).

    References
    ----------
    See `candor.sequences.boundary.tuned_rho`; Jennison, C. & Turnbull, B. W. (1997). Group-sequential analysis incorporating covariate
    information. Journal of the American Statistical Association 92, 1330–1341, for the independent increments.

    Examples
    --------
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> look = sequential_estimate([[[130, 70], [110, 90]], [[90, 110], [70, 130]]], design=design, planned_n=800)
    >>> (one,) = look.effects
    >>> round(one.honest_times_effect.interval.low, 2), round(one.honest_times_effect.interval.high, 2), one.direction
    (0.19, 0.61, 1)
    """
    table = checked_counts(counts, design=design)
    n, rho, family = int(table.sum()), tuned_rho(planned_n), questions * len(design.treatments)
    look = SequentialEstimate(
        n=n,
        planned_n=planned_n,
        rho=rho,
        level=level,
        family=family,
        assumption=design.identification.assumption,
        waits_for=_waits_for(table, design),
    )
    if not has_started(table):
        return look
    fit = maximum_likelihood_fit(table, design)
    fits = {EFFICIENT: fit}
    if design.identification.arm_specific_cheaters and design.cheater_model.yes_rate is None:
        fits[EFFICIENT_ARM_SPECIFIC] = maximum_likelihood_fit(table, design, arm_specific_cheaters=True)
    found = replace(
        look,
        cheater_proportion=_cheater_proportion(fit, table, design, look),
        effects=tuple(
            effect for method, one in {**fits, **adjusted}.items() for effect in _effects(one, table, design, look, method=method)
        ),
        prevalence=_prevalence(fit, table, design, look) if design.identification.prevalence else (),
        specification=_specification(fit, look),
    )
    return decided_together([found])[0] if questions == 1 else found


def decided_together(looks: Sequence[Look]) -> tuple[Look, ...]:
    """The same looks, with the directions of all their effects decided as one family for every method.

    A question that has not started, or lacks a method that others have, counts with e-values of 1.
    """
    methods = dict.fromkeys(effect.method for look in looks for effect in look.effects)
    decided: dict[tuple[int, str, str], int] = {}
    for method in methods:
        members = [(place, effect) for place, look in enumerate(looks) for effect in look.effects if effect.method == method]
        unknown = max((look.family for look in looks), default=0) - len(members)
        evidence = [(effect.log_e_more, effect.log_e_fewer) for _place, effect in members] + [(0.0, 0.0)] * max(unknown, 0)
        level = min(look.level for look in looks)
        for (place, effect), direction in zip(members, directions(evidence, level=level), strict=False):
            decided[place, method, effect.treatment] = direction
    return tuple(
        replace(
            look,
            effects=tuple(replace(effect, direction=decided[place, effect.method, effect.treatment]) for effect in look.effects),
        )
        for place, look in enumerate(looks)
    )


def family_of(question: str, families: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The questions with which this one shares its error probability, by the families that the protocol names; itself alone in none.

    Examples
    --------
    >>> family_of("sleep", {"main": ["attention", "sleep"]}), family_of("retention", {"main": ["attention", "sleep"]})
    (['attention', 'sleep'], ['retention'])
    """
    return next((members for members in families.values() if question in members), [question])


def decided_in_families(looks: Mapping[str, Look], families: Mapping[str, Sequence[str]]) -> dict[str, Look]:
    """The looks at the questions, by their names, with the directions decided together in every family.

    A question of a family that is not among the looks counts with e-values of 1.
    """
    found = dict(looks)
    for members in families.values():
        there = [name for name in members if name in looks]
        found |= zip(there, decided_together([looks[name] for name in there]), strict=True)
    return found


def _waits_for(table: FloatArray, design: Design) -> str | None:
    """A sentence about the cell and the answer of which there are fewest, while that is too few."""
    arm, subsample, answer = (int(index) for index in np.unravel_index(int(np.argmin(table)), table.shape))
    found = int(table[arm, subsample, answer])
    if found >= LEAST:
        return None
    said, where = ("no", "yes")[answer], f"arm {design.arms[arm]!r}, subsample {design.subsample_names[subsample]!r}"
    return f"too early: {found} said {said} in {where}, and at least {LEAST} have to say yes and {LEAST} no everywhere"


def _effects(fit: CellFit, table: FloatArray, design: Design, look: SequentialEstimate, *, method: str) -> list[SequentialEffect]:
    used = _used(fit, table, design, arm_specific=method == EFFICIENT_ARM_SPECIFIC)
    joint = fit.joint_estimates(honest_proportion_used=used)
    level = 1 - (1 - look.level) / max(look.family, 1)  # a survey has no contrasts
    multiplier = anytime_multiplier(look.n, rho=look.rho, level=level)
    found = []
    for contrast, treatment in enumerate(design.treatments):
        delta, variance = float(joint.honest_times_effect[contrast]), float(joint.honest_times_effect_variance[contrast])
        more, fewer = log_one_sided_e_values(delta / math.sqrt(variance), n=look.n, rho=look.rho)
        sequence = interval_of_value(delta, variance, multiplier=multiplier, level=look.level, low=-1.0, high=1.0)
        value, possible = float(joint.effect[contrast]), _at_least(sequence)
        found.append(
            SequentialEffect(
                treatment=treatment,
                control=design.control,
                method=method,
                value=min(max(value, -1.0), 1.0) if math.isfinite(value) else None,
                interval=possible
                if fit.model.honest is None or possible.low is None or possible.high is None
                else interval_of_ratio(
                    delta,
                    float(joint.honest_proportion),
                    numerator_variance=variance,
                    denominator_variance=float(joint.honest_proportion_variance),
                    covariance=float(joint.covariance[contrast]),
                    multiplier=multiplier,
                    level=look.level,
                    low=possible.low,
                    high=possible.high,
                ),
                honest_times_effect=SequentialValue(value=delta, interval=sequence),
                log_e_more=float(more),
                log_e_fewer=float(fewer),
                direction=0,
            )
        )
    return found


def _at_least(delta: Interval) -> Interval:
    """The effects that are at least as large as some Δ of its sequence: |τ| ≥ |Δ|, and of the same sign."""
    low, high = delta.low, delta.high
    if low is None or high is None:
        return delta
    return Interval(kind=KIND, low=low if low > 0 else -1.0, high=high if high < 0 else 1.0, level=delta.level)


def _used(fit: CellFit, table: FloatArray, design: Design, *, arm_specific: bool = False) -> FloatArray | None:
    """The honest share after the boundary rule; None where there is none."""
    if fit.model.honest is None:
        return None
    return constrained_honest_proportion(table, fit.coefficients[fit.model.honest], design, arm_specific_cheaters=arm_specific)


def _cheater_proportion(fit: CellFit, table: FloatArray, design: Design, look: SequentialEstimate) -> SequentialValue | None:
    if fit.model.honest is None:
        return None
    raw, variance = float(fit.coefficients[fit.model.honest]), float(fit.covariance[fit.model.honest, fit.model.honest])
    multiplier = anytime_multiplier(look.n, rho=look.rho, level=look.level)
    interval = interval_of_value(1 - raw, variance, multiplier=multiplier, level=look.level, low=0.0, high=1.0)
    used = _used(fit, table, design)
    return SequentialValue(value=None if used is None or interval.kind == "empty" else 1 - float(used), interval=interval)


def _prevalence(fit: CellFit, table: FloatArray, design: Design, look: SequentialEstimate) -> tuple[SequentialPrevalence, ...]:
    honest, used = fit.model.honest, _used(fit, table, design)
    if honest is None or used is None:
        return ()
    multiplier, share = anytime_multiplier(look.n, rho=look.rho, level=look.level), float(used)
    found = []
    for index, arm in enumerate(design.arms):
        interval = interval_of_ratio(
            float(fit.coefficients[index]),
            float(fit.coefficients[honest]),
            numerator_variance=float(fit.covariance[index, index]),
            denominator_variance=float(fit.covariance[honest, honest]),
            covariance=float(fit.covariance[index, honest]),
            multiplier=multiplier,
            level=look.level,
            low=0.0,
            high=1.0,
        )
        value = float(fit.coefficients[index]) / share if share > NOBODY_IS_HONEST else None
        found.append(SequentialPrevalence(arm=arm, value=None if value is None else min(max(value, 0.0), 1.0), interval=interval))
    return tuple(found)


def _specification(fit: CellFit, look: SequentialEstimate) -> SequentialTest | None:
    if fit.df == 0:
        return None
    evidence = float(log_e_value(float(fit.statistic), n=look.n, rho=look.rho, df=fit.df))
    return SequentialTest(
        statistic=float(fit.statistic), df=fit.df, log_e_value=evidence, contradicted=evidence >= math.log(1 / (1 - look.level))
    )
