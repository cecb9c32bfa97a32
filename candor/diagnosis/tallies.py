"""The findings of many simulated studies, as sums that can be added up in any order, and the numbers that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from candor.designs.design import Design, FloatArray
from candor.diagnosis.in_sections import studies_in_sections
from candor.diagnosis.people import Cheating, Expected, Setting, answer_probabilities
from candor.estimators.cell_means import CellFit, maximum_likelihood_fit, null_variances
from candor.estimators.cheaters import constrained_honest_proportion
from candor.estimators.contrasts import p_values
from candor.estimators.effects import shares_of_answers
from candor.estimators.intervals import fieller_limits, normal_quantile
from candor.estimators.joint_estimates import ROUNDING, JointEstimates
from candor.likelihood.maximum import maximise
from candor.likelihood.polytope import Polytope
from candor.likelihood.region import many_at_ends, model_test, quantile, quantile_for_effects


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number with its Monte-Carlo standard error; both None where no study gave one."""

    value: float | None
    error: float | None


NOTHING = Number(value=None, error=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The effect of a setting on one contrast with control; in a survey on the prevalence.

    Attributes
    ----------
    treatment : str
        In a survey its one arm.
    truth : float
        The effect among honest people, before anybody leaves; Δ = xτ where the design does not identify the effect. In a survey their
        prevalence.
    estimated : float
        Share of studies with an estimate at all.
    bias : Number
        Mean estimate minus truth; an estimate beyond −1 or 1 counts as −1 or 1.
    spread : Number
        Standard deviation of these estimates.
    region : Number
        Share of studies whose headline interval holds τ, of those without an empty cell; None where sections are assigned, which have
        no likelihood region.
    coverage : Number
        Share of studies whose interval holds the truth: Fieller's for τ and for the prevalence, Wald's for Δ. With sections it is the
        headline.
    unbounded : Number
        Share of studies whose interval has no end.
    power : Number
        Share of studies that reject "no effect", with Holm's adjustment where there are several contrasts; None in a survey, which
        tests nothing.
    wrong_sign : Number
        Of the studies that reject, the share that has the wrong sign ("type S"); None without an effect.
    contradicted : Number
        Share of studies whose specification test says at 5 % that the model does not fit; None where sections are assigned.
    """

    treatment: str
    truth: float
    estimated: float
    bias: Number
    spread: Number
    region: Number
    coverage: Number
    unbounded: Number
    power: Number
    wrong_sign: Number
    contradicted: Number

    @property
    def headline(self) -> Number:
        """Coverage of the interval that the results show first."""
        return self.coverage if self.region.value is None else self.region


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts and sums over simulated studies, by contrast where they are tuples."""

    studies: int
    contradicted: int
    complete: int
    estimated: tuple[int, ...]
    total: tuple[float, ...]
    squares: tuple[float, ...]
    in_region: tuple[int, ...]
    covered: tuple[int, ...]
    unbounded: tuple[int, ...]
    rejected: tuple[int, ...]
    wrong_sign: tuple[int, ...]

    def __add__(self, other: Tally) -> Tally:
        both = zip(asdict(self).items(), asdict(other).values(), strict=True)
        added: dict[str, Any] = {
            name: tuple(a + b for a, b in zip(mine, theirs, strict=True)) if isinstance(mine, tuple) else mine + theirs
            for (name, mine), theirs in both
        }
        return Tally(**added)

    @classmethod
    def from_document(cls, document: Mapping[str, object]) -> Tally:
        """From what `asdict` and JSON made of one."""
        plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}
        return cls(**plain)

    def found(self, design: Design, expected: Expected, setting: Setting) -> tuple[Found, ...]:
        """The numbers, by contrast."""
        return tuple(
            Found(
                treatment=treatment,
                truth=(truth := truths(design, expected, setting)[index]),
                estimated=self.estimated[index] / self.studies,
                bias=self._bias(index, truth),
                spread=self._spread(index),
                region=share(self.in_region[index], self.complete),
                coverage=share(self.covered[index], self.estimated[index]),
                unbounded=share(self.unbounded[index], self.estimated[index]),
                power=NOTHING if design.is_survey else share(self.rejected[index], self.studies),
                wrong_sign=share(self.wrong_sign[index], self.rejected[index]) if truth and not design.is_survey else NOTHING,
                contradicted=share(self.contradicted, self.studies) if expected.cluster_size == 1 else NOTHING,
            )
            for index, treatment in enumerate(design.treatments or design.arms)
        )

    def _variance(self, index: int) -> float:
        n = self.estimated[index]
        return max(self.squares[index] - self.total[index] ** 2 / n, 0.0) / (n - 1) if n > 1 else nan

    def _bias(self, index: int, truth: float) -> Number:
        n = self.estimated[index]
        if n < 2:
            return NOTHING
        return Number(value=self.total[index] / n - truth, error=sqrt(self._variance(index) / n))

    def _spread(self, index: int) -> Number:
        n = self.estimated[index]
        if n < 2:
            return NOTHING
        deviation = sqrt(self._variance(index))
        return Number(value=deviation, error=deviation / sqrt(2 * (n - 1)))


def share(part: int, whole: int) -> Number:
    """A share with its binomial standard error; where nothing or everything happened, that of half an event more or less.

    Examples
    --------
    >>> share(50, 100), share(0, 0)
    (Number(value=0.5, error=0.05), Number(value=None, error=None))
    """
    if not whole:
        return NOTHING
    inside = min(max(part, 0.5), whole - 0.5) / whole
    return Number(value=part / whole, error=sqrt(inside * (1 - inside) / whole))


def truths(design: Design, expected: Expected, setting: Setting) -> tuple[float, ...]:
    """The value with which estimates are compared: τ, or Δ = xτ where the design does not identify τ; in a survey the prevalence."""
    if design.is_survey:
        return (expected.prevalence,)
    if design.identification.effect:
        return expected.effects
    honest = 1.0 if setting.cheating == Cheating.NONE else 1 - expected.cheater_proportion
    return tuple(honest * effect for effect in expected.effects)


def simulate(design: Design, expected: Expected, setting: Setting, *, studies: int, rng: np.random.Generator, level: float = 0.95) -> Tally:
    """Simulate studies of one setting and analyse each as the platform does, without a Python loop over them.

    Parameters
    ----------
    design : Design
    expected : Expected
    setting : Setting
    studies : int
        How many.
    rng : numpy.random.Generator
        Source of all randomness.
    level : float
        Confidence level of intervals and test.

    Returns
    -------
    Tally

    Notes
    -----
    The data are counts of arm × subsample × report, one multinomial draw per study, or one per section (`studies_in_sections`). A study
    with an empty cell has no estimate and rejects nothing.

    References
    ----------
    Blair, G., Cooper, J., Coppock, A. & Humphreys, M. (2019). Declaring and diagnosing research designs. American Political Science Review
    113, 838–859, for diagnosands; Gelman, A. & Carlin, J. (2014). Beyond power calculations. Perspectives on Psychological Science 9,
    641–651, for the wrong sign.

    Examples
    --------
    >>> from candor.diagnosis.people import DropOut
    >>> design = Design.of(
    ...     arms=("control", "treatment"), control="control",
    ...     subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> expected = Expected(n=945, prevalence=0.4, effects=(0.2,), cheater_proportion=0.1, drop_out=0.0)
    >>> setting = Setting(Cheating.RANDOM, DropOut.NONE)
    >>> (found,) = simulate(design, expected, setting, studies=2000, rng=np.random.default_rng(1)).found(design, expected, setting)
    >>> 0.77 < found.power.value < 0.83, found.coverage.value > 0.93
    (True, True)
    """
    draw = _together if expected.cluster_size > 1 else _one_by_one
    studied = draw(design, expected, setting, studies=studies, rng=rng, level=level)
    joint = studied.joint
    identified = design.is_survey or design.identification.effect
    estimates = np.clip(joint.effect if identified else joint.honest_times_effect, 0 if design.is_survey else -1, 1)
    there = np.isfinite(estimates)
    truth = np.array(truths(design, expected, setting))
    low, high = _limits(joint, identified=identified, multiplier=studied.multiplier)
    ended = np.isfinite(low)
    with np.errstate(invalid="ignore", divide="ignore"):
        rejected = (_holm(np.nan_to_num(studied.p_values, nan=1.0)) < 1 - level) & (not design.is_survey)
        covered = there & (~ended | ((low <= truth + ROUNDING) & (truth - ROUNDING <= high)))
    wrong = rejected & (np.sign(joint.honest_times_effect) != np.sign(truth))
    return Tally(
        studies=studies,
        contradicted=studied.contradicted,
        complete=len(studied.in_region),
        estimated=_counted(there),
        total=_summed(np.where(there, estimates, 0.0)),
        squares=_summed(np.where(there, estimates, 0.0) ** 2),
        in_region=_counted(studied.in_region),
        covered=_counted(covered),
        unbounded=_counted(there & ~ended),
        rejected=_counted(rejected),
        wrong_sign=_counted(wrong),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Studied:
    """Findings of many studies. Sections have neither a test of the model nor a region: nothing is contradicted, and no study complete."""

    joint: JointEstimates
    p_values: FloatArray
    multiplier: FloatArray | float
    contradicted: int
    in_region: npt.NDArray[np.bool_]


def _one_by_one(design: Design, expected: Expected, setting: Setting, *, studies: int, rng: np.random.Generator, level: float) -> _Studied:
    """Everybody is assigned alone: a study is one multinomial draw."""
    cells = answer_probabilities(design, expected, setting).ravel()
    drawn = rng.multinomial(expected.n, [*cells, max(1 - cells.sum(), 0.0)], size=studies)[:, :-1]
    counts = drawn.reshape(studies, *design.shape, 2).astype(float)
    complete = (counts.sum(axis=-1) > 0).all(axis=(1, 2))
    fit = maximum_likelihood_fit(counts, design)
    joint = _prevalence(fit, counts, design) if design.is_survey else _joint(fit, counts, design, null_variances(counts, design))
    with np.errstate(invalid="ignore", divide="ignore"):
        contradicted = (chdtrc(fit.df, np.maximum(fit.statistic, 0)) < 0.05) if fit.df else np.zeros(studies, dtype=bool)
        tested = p_values(joint)
        also = _in_wider_interval(joint, fit, design, expected, level=level)
    return _Studied(
        joint=joint,
        p_values=tested,
        multiplier=normal_quantile(level),
        contradicted=int(np.count_nonzero(contradicted)),
        in_region=_in_region(counts[complete], design, expected, level=level, also=also[complete]),
    )


def _together(design: Design, expected: Expected, setting: Setting, *, studies: int, rng: np.random.Generator, level: float) -> _Studied:
    """Whole sections are assigned."""
    found = studies_in_sections(design, expected, setting, studies=studies, rng=rng)
    joint = _joint(found.fit, found.counts, design)
    return _Studied(
        joint=joint,
        p_values=found.p_values(joint.honest_times_effect, joint.honest_times_effect_variance),
        multiplier=found.multiplier(level),
        contradicted=0,
        in_region=np.zeros((0, len(design.treatments)), dtype=bool),
    )


def _joint(fit: CellFit, counts: FloatArray, design: Design, null_variance: FloatArray | None = None) -> JointEstimates:
    """The headline's Δ̂ and x̂ of every study."""
    if fit.model.honest is None:
        return fit.joint_estimates(null_variance=null_variance)
    used = constrained_honest_proportion(counts, fit.coefficients[..., fit.model.honest], design)
    return fit.joint_estimates(honest_proportion_used=used, null_variance=null_variance)


def _in_region(
    counts: FloatArray, design: Design, expected: Expected, *, level: float, also: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Whether the headline of every study and contrast holds τ, or the prevalence of a survey: the likelihood region, or what the interval
    `also` holds. Where answers contradict the model it is shown empty.
    """
    polytope = Polytope(design=design)
    if design.is_survey:
        held, critical = [polytope.at_prevalence(0, expected.prevalence)], quantile(level)
    else:
        held = [polytope.at_effect(index, effect) for index, effect in enumerate(expected.effects)]
        critical = quantile_for_effects(polytope, level=level)
    if not len(counts):
        return np.zeros((0, len(held)), dtype=bool)
    table = counts.reshape(len(counts), -1, 2)
    top = maximise(table, polytope.free())
    fits = model_test(table, polytope, top)[1] >= 1 - level
    heights = [maximise(table, one).log_likelihood for one in held]
    inside = np.stack([2 * (top.log_likelihood - height) <= critical**2 for height in heights], axis=-1)
    return fits[:, None] & (inside | also)


def _in_wider_interval(joint: JointEstimates, fit: CellFit, design: Design, expected: Expected, *, level: float) -> npt.NDArray[np.bool_]:
    """Whether Fieller's set holds τ (see `fieller_interval`, with one side), where it is part of the headline (`many_at_ends`)."""
    if design.is_survey or not design.identification.effect:
        return np.zeros((len(fit.coefficients), len(design.treatments) or 1), dtype=bool)
    effects, square = np.array(expected.effects), normal_quantile(level) ** 2
    top, x = joint.honest_times_effect, joint.honest_proportion[..., None]
    of_top, of_x = joint.honest_times_effect_variance, joint.honest_proportion_variance[..., None]
    inside = (top - effects * x) ** 2 <= square * (of_top - 2 * effects * joint.covariance + effects**2 * of_x)
    origin = top**2 * of_x - 2 * top * x * joint.covariance + x**2 * of_top <= square * (of_top * of_x - joint.covariance**2)
    # Each line through the origin is nearest to the estimates, as the covariance measures it, at an x with this sign.
    above = effects * (of_x * top - joint.covariance * x) + of_top * x - joint.covariance * top > 0
    return (origin | (inside & above)) & many_at_ends(shares_of_answers(fit, design), fit, design)[..., None]


def _prevalence(fit: CellFit, counts: FloatArray, design: Design) -> JointEstimates:
    """Π̂ and x̂ of every survey, whose ratio is the prevalence."""
    honest = fit.model.honest
    return JointEstimates(
        honest_times_effect=fit.coefficients[..., :1],
        honest_times_effect_variance=fit.covariance[..., 0, :1],
        honest_proportion=fit.coefficients[..., honest],
        honest_proportion_variance=fit.covariance[..., honest, honest],
        covariance=fit.covariance[..., honest, :1],
        honest_proportion_used=constrained_honest_proportion(counts, fit.coefficients[..., honest], design),
    )


def _limits(joint: JointEstimates, *, identified: bool, multiplier: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Fieller's limits of τ, NaN where there is no end; Wald's of Δ where τ is not identified."""
    if identified:
        return fieller_limits(
            joint.honest_times_effect,
            joint.honest_proportion[..., None],
            numerator_variance=joint.test_variance,
            denominator_variance=joint.honest_proportion_variance[..., None],
            covariance=joint.covariance,
            multiplier=multiplier,
        )
    half = multiplier * np.sqrt(joint.honest_times_effect_variance)
    return joint.honest_times_effect - half, joint.honest_times_effect + half


def _holm(found: FloatArray) -> FloatArray:
    """Holm's adjusted p-values along the last axis, for many studies at once; `candor.estimators.multiplicity.holm` is for one."""
    order = np.argsort(found, axis=-1, kind="stable")
    steps = np.arange(found.shape[-1], 0, -1) * np.take_along_axis(found, order, axis=-1)
    adjusted = np.empty_like(found)
    np.put_along_axis(adjusted, order, np.minimum(np.maximum.accumulate(steps, axis=-1), 1.0), axis=-1)
    return adjusted


def _counted(flags: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(count) for count in np.count_nonzero(flags, axis=0))


def _summed(values: FloatArray) -> tuple[float, ...]:
    return tuple(float(total) for total in values.sum(axis=0))
