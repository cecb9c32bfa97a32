"""All estimates for one sensitive question from the counts of its answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from candor.designs.assumptions import ARM_SPECIFIC
from candor.designs.design import Design, FloatArray
from candor.estimators.cell_means import CellFit, efficient_from_cell_means, efficient_kernel, maximum_likelihood_fit, null_variances
from candor.estimators.cheaters import cheater_proportion_kernel
from candor.estimators.contrasts import OUTSIDE_REGION, Shadow, defined, effects_from_joint_estimates
from candor.estimators.counts import checked_counts
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.intervals import cut_to, fieller_interval, normal_quantile, wald_interval
from candor.estimators.joint_estimates import ROUNDING, JointEstimates
from candor.estimators.one_group import PREVALENCE_OPEN
from candor.likelihood.region import LikelihoodRegion, also_without_limits, likelihood_region, many_at_ends
from candor.results import (
    DIFFERENCE_IN_MEANS,
    EFFICIENT,
    EFFICIENT_ARM_SPECIFIC,
    Bounds,
    CheaterProportion,
    Effect,
    HonestTimesEffect,
    Interval,
    ModelTest,
    OutcomeEstimate,
    Prevalence,
)

__all__ = [
    "cheater_proportion_kernel",
    "difference_in_means_kernel",
    "effects_from_joint_estimates",
    "efficient_from_cell_means",
    "efficient_kernel",
    "estimate_outcome",
]

FEW = 5
INFINITE_EPSILON = "Epsilon is infinite: some answers reveal the truth, so these answers were not protected."
NO_CHEATER_PROPORTION = "The cheater proportion is not identified by this design under its cheater model."
FEW_ANSWERS = "{found} said {answer} in arm {arm}, subsample {subsample}: intervals and p-values, which rest on many answers, are rough."
NO_VARIATION = "No standard error of the cheater proportion: the answers within every subsample do not vary."
BOUNDARY = (
    "Without limits the cheater proportion would be {raw:.3f}, which leaves shares outside [0, 1]: the most likely possible one is given."
)
CONTRADICTED = (
    "The answers contradict the model: no shares of honest people, cheaters and yes between 0 and 1 explain them (likelihood ratio "
    "{test.statistic:.2f}, p ≤ {p_value}). So an assumption fails, or the die was not the stated one; no cheater proportion, effect or "
    "prevalence is given."
)
CONTRADICTED_BY_ARM = (
    "No effect is given: even if cheaters differ by arm, no shares between 0 and 1 explain the answers (likelihood ratio "
    "{test.statistic:.2f}, p ≤ {p_value}). So an assumption fails, or the die was not the stated one."
)
PREVALENCE_OUTSIDE = "The prevalence in arm {arm!r} was estimated at {raw:.3f}, outside [0, 1]: the most likely possible one is given."
NOT_CONVERGED = "The efficient fit did not settle: its numbers are approximate."

NO_CONTRAST = HonestTimesEffect(value=None, standard_error=None, p_value=None)


def estimate_outcome(counts: npt.ArrayLike, *, design: Design, level: float = 0.95) -> OutcomeEstimate:
    """Cheater proportion, effects, bounds and tests of one sensitive yes/no question.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
        ``[a, s, 0]`` people in arm a and subsample s who answered no, ``[a, s, 1]`` who answered yes; arms and subsamples in the design's
        order.
    design : Design
    level : float
        Nominal coverage of all intervals, strictly between 0 and 1.

    Returns
    -------
    OutcomeEstimate
        With one effect per treatment arm and method: ``efficient`` (`candor.results.HEADLINE`), ``difference_in_means``, and with three
        subsamples that identify it ``efficient_arm_specific_cheaters``. Undefined values are None, with a sentence in the notes.

    Raises
    ------
    DataError
        Counts of the wrong shape, negative or fractional.
    TooFewResponsesError
        When a cell of arm × subsample is empty.

    Notes
    -----
    Assumes independent participants, random allocation, and about cheaters what ``assumption`` says. Under it m(a,s) = x(t_s·p_a + f1_s) +
    (1 − x)q; the formulas are in `difference_in_means_kernel`, `cheater_proportion_kernel` and `maximum_likelihood_fit`. Standard errors
    come from influence functions and the information matrix, headline intervals from one likelihood region for all parameters
    (`candor.likelihood.region`), with Wald's or Fieller's where `many_at_ends` says so; Fieller's and Wald's stand beside them.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data.

    Examples
    --------
    Reported means .4 and .6, truth asked half of the time: Δ̂ = .2/.5; subsample means .45 and .55: x̂ = .1·6; τ̂ = .4/.6:

    >>> design = Design.of(arms=("slides", "face"), control="slides", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> estimate = estimate_outcome([[[130, 70], [110, 90]], [[90, 110], [70, 130]]], design=design)
    >>> round(estimate.cheater_proportion.value, 6), round(estimate.effects[0].value, 6), estimate.effects[0].method
    (0.4, 0.666667, 'efficient')
    """
    normal_quantile(level)
    table = checked_counts(counts, design=design)
    identification = design.identification
    fit = maximum_likelihood_fit(table, design)
    simple = difference_in_means_kernel(table, design)
    region = likelihood_region(table, design, level=level)
    contradicted = region.model_test.contradicts(level)
    few = about_few_answers(table, design)

    def described(joint: JointEstimates, method: str, notes: tuple[str, ...] = ()) -> tuple[Effect, ...]:
        return effects_from_joint_estimates(
            joint,
            design=design,
            method=method,
            level=level,
            bounds=None if identification.effect or contradicted else region.open_effects,
            shadows=_shadows(region, ends, level=level),
            notes=notes,
        )

    settled = () if bool(fit.converged) else (NOT_CONVERGED,)
    efficient = fit.joint_estimates(null_variance=null_variances(table, design))
    ends = region.effects
    if identification.effect and many_at_ends(shares_of_answers(fit, design), fit, design):
        ends = tuple(also_without_limits(one, _fieller(efficient, at, level=level), lowest=-1.0) for at, one in enumerate(ends))
    effects = described(efficient, EFFICIENT, settled) + described(simple, DIFFERENCE_IN_MEANS)
    if design.treatments and identification.arm_specific_cheaters and design.cheater_model.yes_rate is None:
        by_arm = likelihood_region(table, design, level=level, kappa=1.0)
        effects += effects_from_joint_estimates(
            efficient_kernel(table, design, arm_specific_cheaters=True),
            design=design,
            method=EFFICIENT_ARM_SPECIFIC,
            level=level,
            assumption=ARM_SPECIFIC,
            shadows=_shadows(by_arm, by_arm.effects, level=level),
            notes=(contradiction(by_arm.model_test, CONTRADICTED_BY_ARM),) if by_arm.model_test.contradicts(level) else (),
        )

    prevalence, about_prevalence = _prevalence(fit, region, design, level=level) if identification.prevalence else ((), [])
    cheaters, about_cheaters = _cheater_proportion(
        fit, region, design, possible=_is_possible(efficient), no_variation=_is_constant(table), level=level
    )
    notes = [INFINITE_EPSILON] if math.isinf(design.epsilon) else []
    if design.is_survey and not identification.prevalence:
        prevalence, about_prevalence = (_prevalence_left_open(region, design, level=level),), [PREVALENCE_OPEN]
    notes += [contradiction(region.model_test)] if contradicted else [*about_cheaters, *about_prevalence]
    notes += few
    notes += [f"{effect.method}, {effect.treatment}: {note}" for effect in effects for note in effect.notes]
    is_open = not identification.effect and not contradicted
    return OutcomeEstimate(
        n=int(table.sum()),
        epsilon=defined(design.epsilon),
        identified=identification.effect,
        assumption=identification.assumption,
        cheater_proportion=cheaters,
        effects=effects,
        honest_times_effect=effects[0].honest_times_effect if effects else NO_CONTRAST,
        bounds=_bounds(region) if is_open else None,
        model_test=region.model_test,
        specification_test=fit.specification_test() if fit.df else None,
        prevalence=prevalence,
        notes=tuple(notes),
    )


def _bounds(region: LikelihoodRegion) -> Bounds:
    """The values of the first contrast that the design leaves open."""
    effect = region.open_effects[0] if region.open_effects else None
    return Bounds(cheater_proportion=_cheaters(region.open_honest_proportion), effect=effect)


def contradiction(test: ModelTest, sentence: str = CONTRADICTED) -> str:
    """The sentence that the answers contradict the model, with its test."""
    return sentence.format(test=test, p_value=f"{test.p_value:.3f}" if test.p_value >= 0.0005 else "0.0005")


def _shadows(region: LikelihoodRegion, effects: Sequence[tuple[float, float]], *, level: float) -> list[Shadow]:
    """The region as seen from every effect, with the ends of the intervals."""
    if region.model_test.contradicts(level):
        return [Shadow(interval=_empty(level), likeliest=None, honest_proportion=region.best.honest_proportion) for _ in region.effects]
    return [
        Shadow(interval=_interval(ends, level=level), likeliest=defined(best), honest_proportion=region.best.honest_proportion)
        for ends, best in zip(effects, region.best.effects, strict=True)
    ]


def _fieller(joint: JointEstimates, contrast: int, *, level: float) -> Interval:
    """All effects that the fit without limits leaves."""
    return fieller_interval(
        float(joint.honest_times_effect[contrast]),
        float(joint.honest_proportion),
        numerator_variance=float(joint.honest_times_effect_variance[contrast]),
        denominator_variance=float(joint.honest_proportion_variance),
        covariance=float(joint.covariance[contrast]),
        level=level,
        one_sided=True,
    )


def _interval(ends: tuple[float, float], *, level: float) -> Interval:
    return Interval(kind="likelihood", low=ends[0], high=ends[1], level=level)


def _empty(level: float) -> Interval:
    return Interval(kind="empty", low=None, high=None, level=level)


def _cheaters(honest: tuple[float, float]) -> tuple[float, float]:
    """The ends of λ = 1 − x."""
    return 1 - honest[1], 1 - honest[0]


def _is_possible(joint: JointEstimates) -> bool:
    """Whether 0 ≤ x̂ ≤ 1 and no effect is larger than 1."""
    honest, largest = float(joint.honest_proportion), float(np.abs(joint.honest_times_effect).max(initial=0.0))
    return largest - ROUNDING <= honest <= 1 + ROUNDING


def _is_constant(table: FloatArray) -> bool:
    """Whether everybody in a subsample answers alike, in every subsample."""
    return bool((table.sum(axis=0).min(axis=-1) == 0).all())


def _cheater_proportion(
    fit: CellFit, region: LikelihoodRegion, design: Design, *, possible: bool, no_variation: bool, level: float
) -> tuple[CheaterProportion, list[str]]:
    """λ̂ = 1 − x̂ of the efficient fit, or the most likely λ where that is impossible, with notes."""
    contradicted, ends = region.model_test.contradicts(level), _cheaters(region.honest_proportion)
    interval = _empty(level) if contradicted else _interval(ends, level=level)
    if fit.model.honest is None:
        return CheaterProportion(value=None, raw=None, standard_error=None, interval=interval), [NO_CHEATER_PROPORTION]
    raw = 1 - float(fit.coefficients[fit.model.honest])
    error = None if no_variation else math.sqrt(float(fit.covariance[fit.model.honest, fit.model.honest]))
    if error is not None and not contradicted and many_at_ends(shares_of_answers(fit, design), fit, design):
        ends = also_without_limits(ends, cut_to(wald_interval(raw, error, level=level), low=0.0, high=1.0))
        interval = _interval(ends, level=level)
    value = None if contradicted else min(max(raw, 0.0), 1.0) if possible else 1 - region.best.honest_proportion
    notes = [NO_VARIATION] if no_variation else []
    notes += [] if possible else [BOUNDARY.format(raw=raw)]
    notes += [] if value is None or interval.contains(value) else [OUTSIDE_REGION.format(what="The cheater proportion")]
    return CheaterProportion(value=value, raw=raw, standard_error=error, interval=interval), notes


def shares_of_answers(fit: CellFit, design: Design) -> FloatArray:
    """Rows that give x·p and x·(1 − p) of every arm from the coefficients of one data set or of many.

    Parameters
    ----------
    fit : CellFit
        Its coefficients are x·p by arm, then x, then others; with a model that has x.
    design : Design

    Returns
    -------
    ndarray, shape (K, 2, P)

    Examples
    --------
    >>> mirrored = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
    >>> design = Design.of(arms=("slides", "face"), control="slides", subsamples=mirrored)
    >>> counts = np.array([[[98, 82], [82, 98]], [[80, 100], [64, 116]]], dtype=float)
    >>> fit = maximum_likelihood_fit(counts, design)
    >>> np.allclose((shares_of_answers(fit, design) @ fit.coefficients).sum(axis=1), fit.coefficients[fit.model.honest])
    True
    """
    unit = np.eye(fit.coefficients.shape[-1])
    yes = unit[: len(design.arms)]
    return np.stack([yes, unit[fit.model.honest] - yes], axis=1)


def _prevalence(fit: CellFit, region: LikelihoodRegion, design: Design, *, level: float) -> tuple[tuple[Prevalence, ...], list[str]]:
    """p_a = Π_a / x of every arm from the efficient fit, or the most likely p_a where that is impossible, with notes."""
    arms, honest = np.arange(len(design.arms)), fit.model.honest
    joint = JointEstimates(
        honest_times_effect=fit.coefficients[arms],
        honest_times_effect_variance=fit.covariance[arms, arms],
        honest_proportion=fit.coefficients[honest],
        honest_proportion_variance=fit.covariance[honest, honest],
        covariance=fit.covariance[arms, honest],
        honest_proportion_used=fit.coefficients[honest],
    )
    contradicted, found, notes = region.model_test.contradicts(level), [], []
    limited = many_at_ends(shares_of_answers(fit, design), fit, design)
    for index, arm in enumerate(design.arms):
        raw, value = float(joint.effect[index]), defined(region.best.prevalences[index])
        possible = 0 <= raw <= 1 and float(joint.honest_proportion) <= 1
        fieller = fieller_interval(
            float(fit.coefficients[index]),
            float(fit.coefficients[honest]),
            numerator_variance=float(fit.covariance[index, index]),
            denominator_variance=float(fit.covariance[honest, honest]),
            covariance=float(fit.covariance[index, honest]),
            level=level,
            low=0.0,
            one_sided=True,
        )
        ends = also_without_limits(region.prevalences[index], fieller) if limited else region.prevalences[index]
        interval = _empty(level) if contradicted else _interval(ends, level=level)
        if math.isfinite(raw) and not 0 <= raw <= 1:
            notes.append(PREVALENCE_OUTSIDE.format(arm=arm, raw=raw))
        elif possible and not contradicted and not interval.contains(raw):
            notes.append(OUTSIDE_REGION.format(what=f"The prevalence in arm {arm!r}"))
        found.append(
            Prevalence(
                arm=arm,
                value=None if contradicted else raw if possible else value,
                standard_error=None if contradicted else defined(float(joint.standard_error[index])),
                interval=interval,
            )
        )
    return tuple(found), notes


def _prevalence_left_open(region: LikelihoodRegion, design: Design, *, level: float) -> Prevalence:
    """The prevalence in a survey whose design leaves it open."""
    contradicted = region.model_test.contradicts(level)
    return Prevalence(
        arm=design.arms[0],
        value=None,
        standard_error=None,
        interval=_empty(level) if contradicted else _interval(region.prevalences[0], level=level),
        bounds=None if contradicted else region.open_prevalences[0],
    )


def about_few_answers(table: FloatArray, design: Design) -> list[str]:
    """One note that names the cell with the fewest answers of one kind, when it has too few."""
    arm, subsample, answer = np.unravel_index(int(np.argmin(table)), table.shape)
    found = int(table[arm, subsample, answer])
    if found >= FEW:
        return []
    name = ("no", "yes")[int(answer)]
    where = {"arm": repr(design.arms[arm]), "subsample": repr(design.subsample_names[subsample])}
    return [FEW_ANSWERS.format(found=f"Only {found}" if found else "Nobody", answer=name, **where)]
