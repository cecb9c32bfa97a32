"""All estimates for one sensitive question from the counts of its answers."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from candor.designs.design import Design, FloatArray
from candor.estimators.bounds import ParameterBounds, confidence_bounds, sharp_bounds
from candor.estimators.cell_means import CellFit, efficient_from_cell_means, efficient_kernel, maximum_likelihood_fit, null_variances
from candor.estimators.cheaters import cheater_proportion_kernel, constrained_honest_proportion
from candor.estimators.contrasts import defined, effects_from_joint_estimates
from candor.estimators.counts import checked_counts
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.intervals import cut_to, fieller_interval, normal_quantile, wald_interval
from candor.estimators.joint_estimates import NOBODY_IS_HONEST, ROUNDING, JointEstimates
from candor.estimators.one_group import PREVALENCE_IMPOSSIBLE, PREVALENCE_OPEN, prevalence_left_open
from candor.results import (
    DIFFERENCE_IN_MEANS,
    EFFICIENT,
    EFFICIENT_ARM_SPECIFIC,
    Bounds,
    CheaterProportion,
    Effect,
    HonestTimesEffect,
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
ARM_SPECIFIC = "Cheaters may answer differently in each arm, but alike in every subsample of an arm."
INFINITE_EPSILON = "Epsilon is infinite: some answers reveal the truth, so these answers were not protected."
NO_CHEATER_PROPORTION = "The cheater proportion is not identified by this design under its cheater model."
FEW_ANSWERS = "{found} said {answer} in arm {arm}, subsample {subsample}: intervals and p-values, which rest on many answers, are rough."
BOUNDARY = "The cheater proportion was estimated at {raw:.3f}, outside [0, 1]; by likelihood it is set to {value:g}."
CONTRADICTION = "No cheater proportion: {raw:.3f} is too far outside of [0, 1] to be chance, so an assumption of the model fails."
INCOMPATIBLE = "No shares of honest people and cheaters give exactly the estimated means: there are no bounds without chance variation."
CONTRADICTED = "No shares of honest people and cheaters give means that chance would explain: an assumption of the model fails."
PREVALENCE_OUTSIDE = "The prevalence in arm {arm!r} is estimated outside [0, 1]: too few answers, or an assumption of the model fails."
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
    come from influence functions and the information matrix, headline intervals from Fieller's theorem.

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
    sharp, allowing_for_chance = _bounds(table, fit, design, level=level)
    few = _notes_about_few_answers(table, design)

    def described(joint: JointEstimates, method: str, notes: tuple[str, ...] = ()) -> tuple[Effect, ...]:
        return effects_from_joint_estimates(
            joint,
            design=design,
            method=method,
            level=level,
            bounds=None if sharp is None else sharp.effects,
            confidence_bounds=None if allowing_for_chance is None else allowing_for_chance.effects,
            notes=notes,
        )

    used = np.asarray(np.nan)
    if fit.model.honest is not None:
        used = constrained_honest_proportion(table, fit.coefficients[fit.model.honest], design)
    settled = () if bool(fit.converged) else (NOT_CONVERGED,)
    efficient = fit.joint_estimates(honest_proportion_used=used, null_variance=null_variances(table, design))
    effects = described(efficient, EFFICIENT, settled) + described(simple, DIFFERENCE_IN_MEANS)
    if identification.arm_specific_cheaters and design.cheater_model.yes_rate is None:
        effects += effects_from_joint_estimates(
            efficient_kernel(table, design, arm_specific_cheaters=True),
            design=design,
            method=EFFICIENT_ARM_SPECIFIC,
            level=level,
            assumption=ARM_SPECIFIC,
        )

    prevalence = _prevalence(fit, used=float(used), design=design, level=level) if identification.prevalence else ()
    cheaters, about_cheaters = _cheater_proportion(fit, used=float(used), level=level)
    notes = [INFINITE_EPSILON] if math.isinf(design.epsilon) else []
    notes += [*about_cheaters, *few]
    if not identification.effect:
        notes += [INCOMPATIBLE] if sharp is None else []
        notes += [CONTRADICTED] if allowing_for_chance is None else []
    if design.is_survey and not identification.prevalence:
        prevalence = (prevalence_left_open(table, design, level=level),)
        notes += [PREVALENCE_OPEN, *([PREVALENCE_IMPOSSIBLE] if prevalence[0].bounds is None else [])]
    notes += [PREVALENCE_OUTSIDE.format(arm=one.arm) for one in prevalence if one.value is not None and not 0 <= one.value <= 1]
    notes += [f"{effect.method}, {effect.treatment}: {note}" for effect in effects for note in effect.notes]
    return OutcomeEstimate(
        n=int(table.sum()),
        epsilon=defined(design.epsilon),
        identified=identification.effect,
        assumption=identification.assumption,
        cheater_proportion=cheaters,
        effects=effects,
        honest_times_effect=effects[0].honest_times_effect if effects else NO_CONTRAST,
        bounds=_of_first_contrast(sharp),
        confidence_bounds=_of_first_contrast(allowing_for_chance),
        specification_test=fit.specification_test() if fit.df else None,
        prevalence=prevalence,
        notes=tuple(notes),
    )


def _bounds(table: FloatArray, fit: CellFit, design: Design, *, level: float) -> tuple[ParameterBounds | None, ParameterBounds | None]:
    """Where the effect is not identified: sharp bounds at the fitted cell means, and bounds that allow for chance variation."""
    if design.identification.effect:
        return None, None
    return sharp_bounds(np.clip(fit.fitted, 0, 1), design), confidence_bounds(table, design, level=level)


def _of_first_contrast(bounds: ParameterBounds | None) -> Bounds | None:
    return (
        None
        if bounds is None
        else Bounds(cheater_proportion=bounds.cheater_proportion, effect=bounds.effects[0] if bounds.effects else None)
    )


def _cheater_proportion(fit: CellFit, *, used: float, level: float) -> tuple[CheaterProportion, list[str]]:
    """λ̂ = 1 − x̂ of the efficient fit, the share that its effects were divided by, with notes."""
    if fit.model.honest is None:
        return CheaterProportion(value=None, raw=None, standard_error=None, interval=None), [NO_CHEATER_PROPORTION]
    raw, value = 1 - float(fit.coefficients[fit.model.honest]), 1 - used
    error = math.sqrt(float(fit.covariance[fit.model.honest, fit.model.honest]))
    boundary = [] if abs(raw - value) <= ROUNDING else [BOUNDARY.format(raw=raw, value=value)]
    interval = cut_to(wald_interval(raw, error, level=level), low=0.0, high=1.0)
    if interval.kind == "empty":
        return CheaterProportion(value=None, raw=raw, standard_error=error, interval=interval), [CONTRADICTION.format(raw=raw)]
    return CheaterProportion(value=value, raw=raw, standard_error=error, interval=interval), boundary


def _prevalence(fit: CellFit, *, used: float, design: Design, level: float) -> tuple[Prevalence, ...]:
    """p_a = Π_a / x of every arm from the efficient fit, with Fieller intervals; x as the boundary rule left it."""
    honest = fit.model.honest
    if honest is None or not used > NOBODY_IS_HONEST:
        return tuple(Prevalence(arm=arm, value=None, standard_error=None, interval=None) for arm in design.arms)
    raw, variance = float(fit.coefficients[honest]), float(fit.covariance[honest, honest])
    arms = np.arange(len(design.arms))
    joint = JointEstimates(
        honest_times_effect=fit.coefficients[arms],
        honest_times_effect_variance=fit.covariance[arms, arms],
        honest_proportion=np.asarray(raw),
        honest_proportion_variance=np.asarray(variance),
        covariance=fit.covariance[arms, honest],
        honest_proportion_used=np.asarray(used),
        numerator_used=fit.coefficients[arms] - fit.covariance[arms, honest] / variance * (raw - used),
    )
    return tuple(
        Prevalence(
            arm=arm,
            value=defined(float(joint.effect[index])),
            standard_error=defined(float(joint.standard_error[index])),
            interval=fieller_interval(
                float(joint.honest_times_effect[index]),
                raw,
                numerator_variance=float(joint.honest_times_effect_variance[index]),
                denominator_variance=variance,
                covariance=float(joint.covariance[index]),
                level=level,
                low=0.0,
                high=1.0,
            ),
        )
        for index, arm in enumerate(design.arms)
    )


def _notes_about_few_answers(table: FloatArray, design: Design) -> list[str]:
    """One note that names the cell with the fewest answers of one kind, when it has too few."""
    arm, subsample, answer = np.unravel_index(int(np.argmin(table)), table.shape)
    found = int(table[arm, subsample, answer])
    if found >= FEW:
        return []
    name = ("no", "yes")[int(answer)]
    where = {"arm": repr(design.arms[arm]), "subsample": repr(design.subsample_names[subsample])}
    return [FEW_ANSWERS.format(found=f"Only {found}" if found else "Nobody", answer=name, **where)]
