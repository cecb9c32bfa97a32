"""Turns Δ̂ and x̂ into results for people: effect, intervals, p-values, and a sentence wherever a number is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from candor.designs.design import Design, FloatArray
from candor.estimators.intervals import fieller_interval, student_quantile, two_sided_p_value, wald_interval
from candor.estimators.joint_estimates import ROUNDING, JointEstimates
from candor.estimators.multiplicity import holm
from candor.results import Effect, HonestTimesEffect, Interval

NOT_IDENTIFIED = (
    "The effect is not identified by this design under its cheater model: see the bounds and the sign of honest share times effect."
)
NOBODY_HONEST = "The honest share is estimated at zero or less: an effect among honest people is not identified, so none is given."
CUT_TO_ONE = "The honest share was estimated at {raw:.3f}, outside [0, 1]; by likelihood it was set to 1 for the estimate."
NO_VARIATION = "No standard error: the answers within every arm do not vary, so that their chance variation cannot be estimated."
UNBOUNDED = "The interval is unbounded: too few answers to tell the honest share from zero."
EMPTY = "The interval is empty: no effect between -1 and 1 is compatible with the data, so an assumption of the model fails."
OUTSIDE_INTERVAL = (
    "The estimate, at an honest share of 1, lies outside its interval, which rests on the share before it was set: more people than there "
    "are would have to be honest, so an assumption of the model fails."
)
OUTSIDE = (
    "The estimate was {raw:.3g}, outside [-1, 1], where no effect can be: too few answers, or an assumption of the model fails. The "
    "nearest possible effect is given."
)
NO_EFFECT = (
    "No estimate: it would be {raw:.3g}, which is no difference of two shares, because the honest share cannot be told from zero, or an "
    "assumption of the model fails."
)
LIKELIEST = "Without limits the honest share would be {honest:.3f}{effect}, which is impossible: the most likely possible effect is given."
OUTSIDE_REGION = "{what} lies outside its interval, which knows that all shares lie between 0 and 1; the estimate does not."
NOTHING_EXCLUDED = "The interval rules nothing out: the honest share cannot be told from zero."


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """The likelihood region as seen from one effect: its interval, and the most likely possible effect and honest share (effect None where
    nobody is honest, or the answers contradict the model).
    """

    interval: Interval
    likeliest: float | None
    honest_proportion: float


def defined(value: float) -> float | None:
    """A float for the results: NaN and infinity become None.

    Examples
    --------
    >>> defined(float("nan")) is None, defined(0.5)
    (True, 0.5)
    """
    return float(value) if math.isfinite(value) else None


def honest_times_effect(value: float, variance: float, *, test_variance: float, freedom: float | None = None) -> HonestTimesEffect:
    """Δ̂ with its standard error and the test that uses another, larger variance; both None when the answers do not vary.

    Examples
    --------
    >>> result = honest_times_effect(0.2, 0.0096, test_variance=0.01)
    >>> round(result.standard_error, 3), round(result.p_value, 4)
    (0.098, 0.0455)
    """
    error = math.sqrt(max(variance, 0.0)) if math.isfinite(variance) else math.nan
    if not error > 1e-12:
        return HonestTimesEffect(value=defined(value), standard_error=None, p_value=None)
    p_value = two_sided_p_value(value, math.sqrt(test_variance), freedom)
    return HonestTimesEffect(value=defined(value), standard_error=error, p_value=p_value)


def p_values(joint: JointEstimates) -> FloatArray:
    """P-values of Δ = 0 for a batch of data sets, shape (..., K − 1), as `effects_from_joint_estimates` gives them for one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * ndtr(-np.abs(joint.honest_times_effect) / np.sqrt(joint.test_variance)))


def effects_from_joint_estimates(
    joint: JointEstimates,
    *,
    design: Design,
    method: str,
    level: float = 0.95,
    freedom: Sequence[float | None] | None = None,
    assumption: str | None = None,
    bounds: Sequence[tuple[float, float]] | None = None,
    shadows: Sequence[Shadow] | None = None,
    notes: tuple[str, ...] = (),
) -> tuple[Effect, ...]:
    """One `Effect` per treatment arm.

    Parameters
    ----------
    joint : JointEstimates
        Of batch shape ().
    design : Design
    method : str
        Name of the estimator.
    level : float
        Nominal coverage of the intervals.
    freedom : sequence of float, optional
        Degrees of freedom of every contrast, for Student's t (default: the normal distribution).
    assumption : str, optional
        What the numbers rest on (default: the design's sentence).
    bounds : sequence of (low, high), optional
        Of every contrast when τ is not identified.
    shadows : sequence of Shadow, optional
        Of every contrast, from the likelihood region of the same answers. Without them Fieller's interval is the headline.
    notes : tuple of str
        Put before the notes about missing numbers.

    Notes
    -----
    Fieller's interval is that of the raw (Δ̂, x̂); the p-value is that of Δ = 0. Both use `JointEstimates.test_variance` for Δ̂, so that this
    interval contains 0 exactly when the test does not reject. With a shadow, an impossible estimate gives way to the most likely possible
    effect. Without one, an estimate outside of [−1, 1] is brought to the nearer end, which is never farther from the truth, and there is no
    estimate where an interval has no end or none of it is possible. The Wald interval stays about the estimate as it was.
    """
    freedom = [None] * len(design.treatments) if freedom is None else freedom
    variances = zip(joint.honest_times_effect, joint.honest_times_effect_variance, joint.test_variance, freedom, strict=True)
    tests = [
        honest_times_effect(float(value), float(variance), test_variance=float(larger), freedom=of_contrast)
        for value, variance, larger, of_contrast in variances
    ]
    adjusted = holm([test.p_value for test in tests])
    return tuple(
        _one_effect(
            joint,
            contrast,
            test=test,
            treatment=treatment,
            control=design.control,
            method=method,
            level=level,
            multiplier=student_quantile(level, freedom[contrast]),
            adjusted_p_value=adjusted[contrast],
            assumption=assumption or design.identification.assumption,
            bounds=None if bounds is None else bounds[contrast],
            shadow=None if shadows is None else shadows[contrast],
            notes=notes,
        )
        for contrast, (treatment, test) in enumerate(zip(design.treatments, tests, strict=True))
    )


def _one_effect(
    joint: JointEstimates,
    contrast: int,
    *,
    test: HonestTimesEffect,
    treatment: str,
    control: str,
    method: str,
    level: float,
    multiplier: float,
    adjusted_p_value: float | None,
    assumption: str,
    bounds: tuple[float, float] | None,
    shadow: Shadow | None,
    notes: tuple[str, ...],
) -> Effect:
    raw, missing = float(joint.honest_proportion), [NO_VARIATION] if test.standard_error is None else []
    fieller = None if math.isnan(raw) or missing else _fieller(joint, contrast, level=level, multiplier=multiplier)
    estimate = _estimate(joint, contrast, test=test, level=level, multiplier=multiplier)
    estimate = estimate.saying(*notes, *([NOT_IDENTIFIED] if math.isnan(raw) else missing))
    if shadow is None:
        shown = _in_range(estimate, raw=raw, fieller=fieller)
    else:
        shown = _in_region(estimate, shadow, raw=raw, unlimited=float(joint.raw_effect[contrast]))
    return Effect(
        treatment=treatment,
        control=control,
        method=method,
        value=shown.value,
        standard_error=shown.standard_error,
        interval=fieller if shadow is None else shadow.interval,
        wald=shown.wald,
        p_value=test.p_value,
        adjusted_p_value=adjusted_p_value,
        honest_times_effect=test,
        honest_proportion=defined(shown.honest_proportion),
        assumption=assumption,
        bounds=bounds,
        fieller=fieller,
        notes=shown.notes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Estimate:
    """One effect, the honest share that it rests on, and what has to be said about them."""

    value: float | None
    standard_error: float | None
    wald: Interval | None
    honest_proportion: float
    notes: tuple[str, ...] = ()

    def saying(self, *notes: str) -> _Estimate:
        return replace(self, notes=(*self.notes, *notes))

    def without_effect(self) -> _Estimate:
        return replace(self, value=None, standard_error=None, wald=None)


def _estimate(joint: JointEstimates, contrast: int, *, test: HonestTimesEffect, level: float, multiplier: float) -> _Estimate:
    value, used = defined(float(joint.effect[contrast])), float(joint.honest_proportion_used)
    if value is None or test.standard_error is None:
        return _Estimate(value=value, standard_error=None, wald=None, honest_proportion=used)
    error = defined(float(joint.standard_error[contrast]))
    wald = wald_interval(value, error or math.nan, level=level, multiplier=multiplier)
    return _Estimate(value=value, standard_error=error, wald=wald, honest_proportion=used)


def _fieller(joint: JointEstimates, contrast: int, *, level: float, multiplier: float) -> Interval:
    return fieller_interval(
        float(joint.honest_times_effect[contrast]),
        float(joint.honest_proportion),
        numerator_variance=float(joint.test_variance[contrast]),
        denominator_variance=float(joint.honest_proportion_variance),
        covariance=float(joint.covariance[contrast]),
        level=level,
        multiplier=multiplier,
    )


def _in_range(estimate: _Estimate, *, raw: float, fieller: Interval | None) -> _Estimate:
    """Bring an impossible estimate to the nearest possible effect where its intervals allow that; otherwise give none."""
    kind = "" if fieller is None else fieller.kind
    estimate = estimate.saying(*{"unbounded": [UNBOUNDED], "empty": [EMPTY]}.get(kind, []))
    value = estimate.value
    if value is None:
        return estimate if math.isnan(raw) else estimate.saying(NOBODY_HONEST)
    if abs(estimate.honest_proportion - raw) > ROUNDING:
        estimate = estimate.saying(CUT_TO_ONE.format(raw=raw))
        if abs(value) <= 1 and fieller is not None and not fieller.contains(value):
            estimate = estimate.saying(OUTSIDE_INTERVAL)
    if abs(value) <= 1 + ROUNDING:
        return estimate
    nearest = math.copysign(1.0, value)
    if kind == "fieller" and estimate.wald is not None and estimate.wald.contains(nearest):
        return replace(estimate.saying(OUTSIDE.format(raw=value)), value=nearest)
    return estimate.saying(NO_EFFECT.format(raw=value)).without_effect()


def _in_region(estimate: _Estimate, shadow: Shadow, *, raw: float, unlimited: float) -> _Estimate:
    """Let an impossible estimate, or an impossible honest share, give way to the most likely possible ones."""
    if math.isnan(raw):
        return estimate
    if (shadow.interval.low, shadow.interval.high) == (-1, 1):
        estimate = estimate.saying(NOTHING_EXCLUDED)
    value, possible_share = estimate.value, -ROUNDING <= raw <= 1 + ROUNDING
    if value is not None and abs(value) <= 1 + ROUNDING and possible_share and shadow.likeliest is not None:
        return estimate if shadow.interval.contains(min(max(value, -1), 1)) else estimate.saying(OUTSIDE_REGION.format(what="The effect"))
    likeliest = replace(estimate, value=shadow.likeliest, honest_proportion=shadow.honest_proportion)
    if shadow.likeliest is not None:
        effect = "" if math.isnan(unlimited) else f" and the effect {unlimited:.3f}"
        return likeliest.saying(LIKELIEST.format(honest=raw, effect=effect))
    return likeliest.without_effect().saying(*([] if shadow.interval.kind == "empty" else [NOBODY_HONEST]))
