"""Results of the methods of a robust, private trial: frozen values whose ``asdict`` is the JSON that is stored and served.

A number that is undefined is ``None`` and a sentence in ``notes`` says why; an interval without an end has ``None`` there. Proportions
and effects are numbers in [0, 1] and [-1, 1], not percentages.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DIFFERENCE_IN_MEANS = "difference_in_means"
EFFICIENT = "efficient"
EFFICIENT_WITH_COVARIATES = "efficient_with_covariates"
EFFICIENT_ARM_SPECIFIC = "efficient_arm_specific_cheaters"
CLUSTERED, STRATIFIED = "efficient_clustered", "efficient_stratified"
HEADLINE = EFFICIENT
"""The method of the headline, of Δ and its test, and of the plan's power; its effects come first. Others stand beside it."""
FEW_CLUSTERS = 8
"""With fewer in an arm, intervals rest on the t-distribution more than on the data."""
NOTABLE = 0.1
"""A standardised difference beyond this is usually worth a look (Austin 2009, Statistics in Medicine 28, 3083–3107)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval.

    Parameters
    ----------
    kind : str
        How it was made: ``"likelihood"``, ``"fieller"``, ``"wald"``, ``"bca"``, ``"sequence"`` (holds at every look); ``"unbounded"`` when
        a method of comparison excludes nothing, ``"empty"`` when the answers contradict the model (both ends are then None).
    low, high : float or None
        The ends; None where there is none.
    level : float
        Nominal coverage, such as 0.95.
    """

    kind: str
    low: float | None
    high: float | None
    level: float

    def contains(self, value: float) -> bool:
        """Whether a value lies in the interval (everything lies in an unbounded one, nothing in an empty one)."""
        if self.kind == "empty":
            return False
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheaterProportion:
    """The share λ of people who did not follow the die.

    ``raw`` is the estimate without limits, ``standard_error`` belongs to it. ``value`` is ``raw`` within [0, 1], otherwise the most likely
    share; None where the design leaves λ open or the answers contradict the model. ``interval`` is the shadow of the likelihood region.
    """

    value: float | None
    raw: float | None
    standard_error: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HonestTimesEffect:
    """Δ = x·τ, the share of honest people times their average effect, with the test of Δ = 0, which is the test of τ = 0.

    The test divides by the larger of ``standard_error`` and of the standard error that Δ̂ would have without an effect.
    """

    value: float | None
    standard_error: float | None
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSummary:
    """The bootstrap's summary of one effect.

    ``low`` and ``high`` are the percentile interval, ``bca`` is the bias-corrected and accelerated one. ``failed`` counts the replicates
    without an estimate (nobody honest, or an empty cell); they are never silently dropped.
    """

    standard_error: float | None
    low: float | None
    high: float | None
    level: float
    replicates: int
    failed: int
    seed: int
    bca: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One contrast of a treatment arm with the control arm by one method.

    ``value`` is τ̂, the average effect among honest participants. ``interval`` is the headline: the shadow of the likelihood region, or
    Fieller's where a method uses background answers. ``fieller`` and ``wald`` are there to compare.
    ``p_value`` tests τ = 0 through Δ = 0; ``adjusted_p_value`` is Holm's over all contrasts of the method. ``honest_proportion`` is the
    x̂ by which Δ̂ was divided. ``bounds`` are what the design leaves open of τ, when it is not identified, at the most likely shares of yes;
    ``interval`` then allows for chance as well.
    """

    treatment: str
    control: str
    method: str
    value: float | None
    standard_error: float | None
    interval: Interval | None
    wald: Interval | None
    p_value: float | None
    adjusted_p_value: float | None
    honest_times_effect: HonestTimesEffect
    honest_proportion: float | None
    assumption: str
    bounds: tuple[float, float] | None = None
    fieller: Interval | None = None
    bootstrap: BootstrapSummary | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds when τ is not identified: of λ, and of τ for the first contrast (each effect carries its own; a survey has none)."""

    cheater_proportion: tuple[float, float]
    effect: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecificationTest:
    """The residual J of the linear model of cell means, χ² with ``df`` degrees of freedom when cheating is as assumed."""

    statistic: float
    df: int
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTest:
    """Whether any shares of honest people, cheaters and yes between 0 and 1 explain the answers.

    ``statistic`` is twice what these limits cost the log-likelihood.

    ``p_value`` is an upper limit; a small one says that an assumption of the model fails.
    """

    statistic: float
    df: int
    p_value: float

    def contradicts(self, level: float) -> bool:
        """Whether the answers contradict the model, with an error of at most 1 − level."""
        return self.p_value < 1 - level


@dataclass(frozen=True, slots=True, kw_only=True)
class Prevalence:
    """p_a, the share of honest participants of one arm whose true answer is yes; ``bounds`` where a survey's design leaves it open."""

    arm: str
    value: float | None
    standard_error: float | None
    interval: Interval | None
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeEstimate:
    """Everything that is said about one sensitive question.

    ``epsilon`` is the privacy loss of one answer (None, with a note, when it is infinite). ``identified`` says whether λ and τ can be
    learned from this design under its cheater model, ``assumption`` on what that rests. ``bounds`` are what the design
    leaves open at the most likely shares of yes. ``model_test`` says whether any parameters between 0 and 1 explain the answers; when
    none do, λ, effects and prevalences are None and their intervals ``"empty"``. ``honest_times_effect`` and ``bounds`` belong to the first
    contrast; every effect carries its own. ``effects`` begin with those of the method `HEADLINE`. A survey, a study of one arm, has none:
    its result is ``prevalence``.
    """

    n: int
    epsilon: float | None
    identified: bool
    assumption: str
    cheater_proportion: CheaterProportion
    effects: tuple[Effect, ...]
    honest_times_effect: HonestTimesEffect
    bounds: Bounds | None
    model_test: ModelTest | None
    specification_test: SpecificationTest | None
    prevalence: tuple[Prevalence, ...]
    notes: tuple[str, ...]

    @property
    def headline(self) -> tuple[Effect, ...]:
        """The effects by the first method, one for each treatment arm: `HEADLINE`, or one that knows who was assigned together."""
        return tuple(effect for effect in self.effects if effect.method == self.effects[0].method)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialValue:
    """A number and its interval, which holds at every look at once."""

    value: float | None
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialPrevalence:
    """p_a of one arm, and its interval, which holds at every look at once."""

    arm: str
    value: float | None
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialEffect:
    """One contrast by one method, true whenever somebody looks.

    ``interval`` is for τ; where the design does not identify τ it follows from |τ| ≥ |Δ|, and ``value`` is None. ``direction`` is 1 or
    −1 where the sign of τ is certain enough among all contrasts of the family, else 0. ``log_e_more`` is the logarithm of the e-value
    against τ ≤ 0, ``log_e_fewer`` of that against τ ≥ 0.
    """

    treatment: str
    control: str
    method: str
    value: float | None
    interval: Interval
    honest_times_effect: SequentialValue
    log_e_more: float
    log_e_fewer: float
    direction: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialTest:
    """The evidence that cheating depends on arm or subsample: J, its e-value, and whether that has ever to be believed (1/α or more)."""

    statistic: float
    df: int
    log_e_value: float
    contradicted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialEstimate:
    """Everything that may be said about one question while the study runs, at any look.

    ``waits_for`` is a sentence while there are too few answers; then there is nothing else. ``family`` is the number of contrasts among
    which directions are certain together and intervals hold together.
    """

    n: int
    planned_n: int
    rho: float
    level: float
    family: int
    assumption: str
    waits_for: str | None = None
    cheater_proportion: SequentialValue | None = None
    effects: tuple[SequentialEffect, ...] = ()
    prevalence: tuple[SequentialPrevalence, ...] = ()
    specification: SequentialTest | None = None

    @property
    def headline(self) -> tuple[SequentialEffect, ...]:
        """The effects by the method `HEADLINE`, one for each treatment arm."""
        return tuple(effect for effect in self.effects if effect.method == HEADLINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectPrevalence:
    """The share of yes in one arm among people who answered directly. Everything is None where a cell is too small to be shown."""

    arm: str
    n: int | None
    yes: int | None
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectDifference:
    """The direct share of yes in a treatment arm minus that in the control arm."""

    treatment: str
    control: str
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderReporting:
    """The prevalence by the die's estimate minus the share who say yes directly, in one arm; positive when people deny a yes."""

    arm: str
    with_die: float | None
    with_die_standard_error: float | None
    value: float | None
    standard_error: float | None
    interval: Interval | None
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectComparison:
    """One question asked both ways. ``assumption`` is the basis of the estimates with the die."""

    prevalence: tuple[DirectPrevalence, ...]
    differences: tuple[DirectDifference, ...]
    under_reporting: tuple[UnderReporting, ...]
    assumption: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One covariate, or one level of it, in a treatment arm and in the control arm."""

    treatment: str
    control: str
    variable: str
    treatment_mean: float | None
    control_mean: float | None
    difference: float | None

    @property
    def is_notable(self) -> bool:
        return self.difference is not None and abs(self.difference) > NOTABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentInference:
    """The uncertainty that comes from how people were assigned.

    Attributes
    ----------
    clusters : int
        How many; everybody is one where people were assigned one by one.
    strata : int
    degrees_of_freedom : tuple of float
        Of every contrast.
    randomisation_p_values : tuple of float or None
        Of every contrast; None where clusters do not differ.
    intraclass_correlation : float or None
        Of the reported answers, by analysis of variance within the cells; None without clusters.
    clusters_per_arm : tuple of float
        How many clusters of one size the clusters of each arm are worth.
    design_effect : tuple of float
        Of every contrast: the variance of Δ̂ divided by that of as many people who were assigned one by one.
    """

    clusters: int
    strata: int
    degrees_of_freedom: tuple[float, ...]
    randomisation_p_values: tuple[float | None, ...]
    intraclass_correlation: float | None
    clusters_per_arm: tuple[float, ...]
    design_effect: tuple[float, ...]


def to_json(result: DataclassInstance) -> str:
    """The JSON document of a result; refuses NaN and infinity, which are never an answer."""
    return json.dumps(asdict(result), allow_nan=False)
