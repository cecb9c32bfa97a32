"""Every interval that a page, a file or a command shows without background answers, and whether it holds the truth in many trials at once.

A new interval is one function with `@interval("name")`; `benchmarks.coverage` runs all of them on every setting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from candor.designs.design import Design
from candor.estimators.cell_means import efficient_kernel, maximum_likelihood_fit, null_variances
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.joint_estimates import JointEstimates
from candor.likelihood.maximum import Maximum, MeansWithin, maximise
from candor.likelihood.polytope import Polytope
from candor.likelihood.region import model_test, quantile, quantile_at_an_end, quantile_for_effects

Array = NDArray[np.float64]
Covered = NDArray[np.bool_]
LEVEL = 0.95
Z = float(ndtri((1 + LEVEL) / 2))


@dataclass(frozen=True, kw_only=True)
class Trials:
    """Many studies of one truth: counts of shape (trials, K, S, 2) without an empty cell."""

    counts: Array
    design: Design
    honest: float
    effect: float
    prevalence: float
    kappa: float = 0.0

    @cached_property
    def polytope(self) -> Polytope:
        return Polytope(design=self.design, kappa=self.kappa)

    @property
    def arm_specific(self) -> bool:
        """Whether an estimate for cheaters who differ by arm is shown."""
        return self.design.identification.arm_specific_cheaters and self.design.cheater_model.yes_rate is None

    @cached_property
    def table(self) -> Array:
        """Counts of shape (trials, cells, 2)."""
        return self.counts.reshape(len(self.counts), -1, 2)

    @cached_property
    def likeliest(self) -> Maximum:
        return maximise(self.table, self.polytope.free())

    def within(self, means: MeansWithin, critical: float) -> Covered:
        """Whether the likelihood ratio of a restriction is at most the critical value."""
        ratio = 2 * (self.likeliest.log_likelihood - maximise(self.table, means).log_likelihood)
        return np.asarray(ratio <= critical**2)

    def covers_effect(self) -> Covered:
        """Whether the region's interval of the first effect holds the truth."""
        return self.within(self.polytope.at_effect(0, self.effect), quantile_for_effects(self.polytope, level=LEVEL))

    @cached_property
    def efficient(self) -> JointEstimates:
        fit = maximum_likelihood_fit(self.counts, self.design)
        return fit.joint_estimates(null_variance=null_variances(self.counts, self.design))

    @cached_property
    def simple(self) -> JointEstimates:
        return difference_in_means_kernel(self.counts, self.design)


Interval = Callable[[Trials], "Covered | None"]
INTERVALS: dict[str, Interval] = {}


def interval(name: str) -> Callable[[Interval], Interval]:
    """Register an interval: a function of trials that says of each whether it covers; None where the interval does not exist, and
    where a single trial has no interval it is left out.
    """

    def register(function: Interval) -> Interval:
        INTERVALS[name] = function
        return function

    return register


@interval("effect: likelihood region")
def _effect(trials: Trials) -> Covered:
    return trials.covers_effect()


@interval("cheater proportion: likelihood region")
def _cheaters(trials: Trials) -> Covered:
    return trials.within(trials.polytope.at_honest_proportion(trials.honest), quantile_at_an_end(LEVEL))


@interval("prevalence, control: likelihood region")
def _prevalence_of_control(trials: Trials) -> Covered | None:
    if not trials.design.identification.prevalence:
        return None
    return trials.within(trials.polytope.at_prevalence(0, trials.prevalence), quantile(LEVEL))


@interval("prevalence, treatment: likelihood region")
def _prevalence_of_treatment(trials: Trials) -> Covered | None:
    if not trials.design.identification.prevalence:
        return None
    return trials.within(trials.polytope.at_prevalence(1, trials.prevalence + trials.effect), quantile(LEVEL))


@interval("no contradiction: test of the model")
def _no_contradiction(trials: Trials) -> Covered:
    return np.asarray(model_test(trials.table, trials.polytope, trials.likeliest)[1] >= 1 - LEVEL)


def fieller_covers(joint: JointEstimates, effect: float, *, multiplier: float | Array) -> Covered:
    """Whether Fieller's set contains the effect: (Δ̂ − τx̂)² ≤ z²(V_Δ − 2τC + τ²V_x), for the first contrast of a batch."""
    variance = joint.test_variance[..., 0] - 2 * effect * joint.covariance[..., 0] + effect**2 * joint.honest_proportion_variance
    return np.asarray((joint.honest_times_effect[..., 0] - effect * joint.honest_proportion) ** 2 <= multiplier**2 * variance)


def _shown_by_fieller(joint: JointEstimates, effect: float) -> Covered | None:
    """As it is shown: an interval without ends excludes nothing, one with a negative honest share everything."""
    if np.isnan(joint.honest_proportion).all():
        return None
    unbounded = joint.honest_proportion**2 <= Z**2 * joint.honest_proportion_variance
    return np.asarray(unbounded | (fieller_covers(joint, effect, multiplier=Z) & (joint.honest_proportion > 0)))


@interval("effect: Fieller, efficient")
def _fieller_efficient(trials: Trials) -> Covered | None:
    return _shown_by_fieller(trials.efficient, trials.effect)


@interval("effect: Fieller, difference in means")
def _fieller_simple(trials: Trials) -> Covered | None:
    return _shown_by_fieller(trials.simple, trials.effect)


@interval("effect, cheaters differ by arm: likelihood region")
def _effect_arm_specific(trials: Trials) -> Covered | None:
    if not trials.arm_specific:
        return None
    return replace(trials, kappa=1.0).covers_effect()


@interval("effect, cheaters differ by arm: Fieller")
def _fieller_arm_specific(trials: Trials) -> Covered | None:
    return (
        _shown_by_fieller(efficient_kernel(trials.counts, trials.design, arm_specific_cheaters=True), trials.effect)
        if trials.arm_specific
        else None
    )


def _wald(joint: JointEstimates, effect: float) -> Covered | None:
    exists = np.isfinite(joint.effect[..., 0]) & (joint.standard_error[..., 0] > 0)
    covered = np.abs(joint.effect[..., 0] - effect) <= Z * joint.standard_error[..., 0]
    return np.asarray(covered[exists]) if exists.any() else None


@interval("effect: Wald, efficient")
def _wald_efficient(trials: Trials) -> Covered | None:
    return _wald(trials.efficient, trials.effect)


@interval("effect: Wald, difference in means")
def _wald_simple(trials: Trials) -> Covered | None:
    return _wald(trials.simple, trials.effect)
