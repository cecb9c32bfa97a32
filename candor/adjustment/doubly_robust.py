"""Covariate-adjusted estimators that stay right whatever the working models are, because the assignment is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

from candor.adjustment.adjusted_study import AdjustedStudy, adjusted_study
from candor.adjustment.covariates import FloatArray, IntArray
from candor.adjustment.held_out import augmented_outcomes
from candor.adjustment.working_models import WorkingModel
from candor.designs.design import Design
from candor.estimators.cell_means import CellFit, maximum_likelihood_fit
from candor.estimators.cheaters import constrained_honest_proportion, influence_of_honest_proportion, subsample_weights
from candor.estimators.contrasts import effects_from_joint_estimates
from candor.estimators.counts import YES, margins_of
from candor.estimators.joint_estimates import JointEstimates
from candor.results import EFFICIENT_WITH_COVARIATES, Effect, SpecificationTest

DOUBLY_ROBUST = "doubly_robust"
HALF_A_PERSON = 0.5


def augmented_difference(outcome: FloatArray, treated: IntArray, predictions: FloatArray) -> tuple[float, float]:
    """Return the augmented difference of means of an ordinary randomised trial with two arms, and its standard error.

    Parameters
    ----------
    outcome : ndarray of shape (n,)
    treated : ndarray of int, shape (n,)
        0 for control, 1 for treatment.
    predictions : ndarray of shape (n, 2)
        Predicted outcome in control and treatment.

    Returns
    -------
    value, standard_error : float

    Notes
    -----
    The mean of φ of the statistics page, and sqrt(mean (φ − mean)²/n).

    Examples
    --------
    >>> value, error = augmented_difference(np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), np.full((4, 2), 0.5))
    >>> value, round(error, 4)
    (0.5, 0.433)
    """
    contributions = np.diff(augmented_outcomes(outcome, treated, predictions), axis=1)[:, 0]
    return float(contributions.mean()), float(contributions.std() / np.sqrt(len(contributions)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdjustedEstimates:
    """Estimates of one method with each participant's contribution to them.

    Attributes
    ----------
    method : str
    joint : JointEstimates
        Of batch shape ().
    influence : ndarray of shape (n, K − 1)
        ψ, the influence function of Δ̂/x̂ before the boundary rule; NaN when x is not identified or x̂ is not above 0.
    notes : tuple of str
        What was done to the covariates and which working models were chosen.
    specification_test : SpecificationTest or None
        For methods that fit all cells at once.
    """

    method: str
    joint: JointEstimates
    influence: FloatArray
    notes: tuple[str, ...]
    specification_test: SpecificationTest | None = None

    def effects(self, *, design: Design, level: float = 0.95) -> tuple[Effect, ...]:
        """Return one `Effect` per treatment arm, with Fieller and Wald intervals."""
        return effects_from_joint_estimates(self.joint, design=design, method=self.method, level=level, notes=self.notes)


def doubly_robust_estimates(study: AdjustedStudy) -> AdjustedEstimates:
    """Estimate every contrast with one working model an arm; x̂ comes from the shares of yes in the subsamples, without covariates.

    Parameters
    ----------
    study : AdjustedStudy

    Returns
    -------
    AdjustedEstimates

    Notes
    -----
    τ̂ = mean(φ)/(x̂ t̄) with φ = Γ_a − Γ_0 of `augmented_outcomes`, t̄ over the realised subsample shares, x̂ after the boundary rule; per
    participant ψ_Δ = [φ − mean(φ) − Δ̂(t_S − t̄)]/t̄ and ψ = (ψ_Δ − τ̂ξ)/x̂, with residuals as of people whom the model has not seen
    (`candor.adjustment.held_out.augmented_means`). Assumes that cheaters answer alike in every arm (and subsample,
    for x̂); consistent whatever the working models are, because arm and subsample were drawn with known probabilities.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data, equation (7).
    """
    design = study.design
    outcomes = study.arm_means.contributions
    differences = outcomes[:, list(design.treatment_indexes)] - outcomes[:, [design.control_index]]
    truth, people = design.truth[study.subsample], study.matrix.frequencies
    mean_truth, mean_difference = float(np.average(truth, weights=people)), np.average(differences, axis=0, weights=people)
    delta = mean_difference / mean_truth
    by_delta = (differences - mean_difference - delta * (truth - mean_truth)[:, None]) / mean_truth
    by_honest = np.full(len(truth), np.nan)
    honest = used = np.asarray(np.nan)
    if design.identification.honest_proportion:
        by_honest = influence_of_honest_proportion(study.counts, design)[study.arm, study.subsample, study.reported.astype(np.intp)]
        shares = margins_of(study.counts).subsample_means
        honest = np.asarray((shares - float(design.cheater_model.yes_rate or 0)) @ subsample_weights(design))
        used = constrained_honest_proportion(study.counts, honest, design)
    n = int(people.sum())
    joint = JointEstimates(
        honest_times_effect=delta,
        honest_times_effect_variance=people @ by_delta**2 / n**2,
        honest_proportion=honest,
        honest_proportion_variance=np.asarray(people @ by_honest**2 / n**2),
        covariance=(people * by_honest) @ by_delta / n**2,
        honest_proportion_used=used,
    )
    return AdjustedEstimates(
        method=DOUBLY_ROBUST,
        joint=joint,
        influence=effect_influence(joint, by_delta, by_honest),
        notes=_notes(study, study.arm_models, groups=[f"arm {arm!r}" for arm in design.arms]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdjustedCells:
    """The linear model of the cell means, fitted to covariate-adjusted means.

    Attributes
    ----------
    fit : CellFit
        Of batch shape ().
    operator : ndarray of shape (P, K·S)
        L with β̂ = L(m − q), m the cell means in the order (arm, subsample).
    contributions : ndarray of shape (n, K·S)
        What every participant contributes to every cell mean, centred.
    """

    fit: CellFit
    operator: FloatArray
    contributions: FloatArray


def adjusted_cells(study: AdjustedStudy) -> AdjustedCells:
    """Adjust every cell mean by its own working model and fit the linear model of the cell means.

    Notes
    -----
    With M the matrix of the model, m the adjusted means and W the binomial variances at the means that fit best without covariates, β̂ =
    (MᵀW⁻¹M)⁻¹MᵀW⁻¹(m − q) = L(m − q), Cov(β̂) = LVLᵀ, J = (Nᵀ(m − q))ᵀ(NᵀVN)⁻¹Nᵀ(m − q) with NᵀM = 0. V is the covariance of the means:
    that of their contributions over n. Weights from V itself would follow chance in cells of ten people (with n = 60 and one control to
    three treated the estimate then varied a tenth more, and its interval covered .88); W asks for a share in each cell and no more, and
    without covariates gives the maximum of the likelihood. Where everybody in a cell answers alike, the variance of that cell's mean is not
    zero: that of a share of (yes + ½)/(n + 1) is added.
    """
    outcomes = study.cell_means.contributions
    people = study.matrix.frequencies
    means = np.average(outcomes, axis=0, weights=people)
    contributions = outcomes - means
    sizes = study.counts.sum(axis=-1).reshape(-1)
    shares = (study.counts[..., YES].reshape(-1) + HALF_A_PERSON) / (sizes + 1)
    alike = study.counts.min(axis=-1).reshape(-1) == 0
    covariance = (contributions.T * people) @ contributions / people.sum() ** 2 + np.diag(
        np.where(alike, shares * (1 - shares) / sizes, 0.0)
    )
    unadjusted = maximum_likelihood_fit(study.counts, study.design)
    floor = HALF_A_PERSON / (sizes + 1)
    expected = np.clip(unadjusted.fitted.reshape(-1), floor, 1 - floor)
    model = unadjusted.model
    weighted = model.matrix * (sizes / (expected * (1 - expected)))[:, None]
    operator = np.linalg.solve(weighted.T @ model.matrix, weighted.T)
    coefficients = operator @ (means - model.offset)
    off_the_model = linalg.null_space(model.matrix.T)
    residual = (means - model.offset) @ off_the_model
    fit = CellFit(
        model=model,
        coefficients=coefficients,
        covariance=operator @ covariance @ operator.T,
        fitted=(model.matrix @ coefficients + model.offset).reshape(study.design.shape),
        statistic=np.asarray(residual @ np.linalg.solve(off_the_model.T @ covariance @ off_the_model, residual)),
        df=off_the_model.shape[1],
        converged=unadjusted.converged,
    )
    return AdjustedCells(fit=fit, operator=operator, contributions=contributions)


def efficient_estimates(study: AdjustedStudy, cells: AdjustedCells | None = None) -> AdjustedEstimates:
    """Estimate every contrast from the linear model of the cell means, each mean adjusted by its own working model.

    Parameters
    ----------
    study : AdjustedStudy
    cells : AdjustedCells, optional
        Of this study, when they are there already.

    Returns
    -------
    AdjustedEstimates
        With the specification test: a small p-value says that cheating depends on the arm or the subsample.

    Notes
    -----
    Weighted least squares on augmented cell means, see `adjusted_cells`. x̂ after the boundary
    rule; where the rule applies, the effect comes from the fit constrained to that x. Same assumption as the other estimators: cheaters
    answer alike in every arm and subsample.
    """
    cells = cells or adjusted_cells(study)
    joint = joint_of_cells(cells.fit, study.counts, study.design)
    by_parameter = cells.contributions @ cells.operator.T
    by_delta = by_parameter @ cells.fit.model.contrasts.T
    honest = cells.fit.model.honest
    by_honest = np.full(len(by_delta), np.nan) if honest is None else by_parameter[:, honest]
    names = [f"arm {arm!r}, subsample {subsample!r}" for arm in study.design.arms for subsample in study.design.subsample_names]
    return AdjustedEstimates(
        method=EFFICIENT_WITH_COVARIATES,
        joint=joint,
        influence=effect_influence(joint, by_delta, by_honest),
        notes=_notes(study, study.cell_models, groups=names),
        specification_test=cells.fit.specification_test(),
    )


def joint_of_cells(fit: CellFit, counts: FloatArray, design: Design) -> JointEstimates:
    """Return Δ̂ and x̂ of one fit or a batch, with the boundary rule applied by the likelihood of the count tables (..., K, S, 2)."""
    if fit.model.honest is None:
        return fit.joint_estimates()
    return fit.joint_estimates(
        honest_proportion_used=constrained_honest_proportion(counts, fit.coefficients[..., fit.model.honest], design)
    )


def effect_influence(joint: JointEstimates, by_delta: FloatArray, by_honest: FloatArray) -> FloatArray:
    """Return the influence of Δ̂/x̂ before the boundary rule, (ψ_Δ − (Δ̂/x̂)ξ)/x̂, from those of Δ̂, shape (n, K − 1), and of x̂, shape
    (n,).
    """
    return (by_delta - joint.raw_effect * by_honest[:, None]) / joint.honest_proportion


def estimate_doubly_robust(
    reported: npt.ArrayLike,
    arm: npt.ArrayLike,
    subsample: npt.ArrayLike,
    covariates: Mapping[str, npt.ArrayLike | Sequence[object]],
    *,
    design: Design,
    level: float = 0.95,
) -> tuple[Effect, ...]:
    """Estimate the effect of every treatment arm, doubly robust, with Fieller and Wald intervals.

    Parameters
    ----------
    reported : array_like of shape (n,)
        Ỹ, 0 or 1.
    arm, subsample : array_like of int, shape (n,)
        Positions in ``design.arms`` and ``design.subsample_names``.
    covariates : mapping of str to array_like of shape (n,)
        Strings or numbers; missing answers are allowed and nobody is dropped.
    design : Design
    level : float
        Nominal coverage.

    Returns
    -------
    tuple of Effect
        In the order of ``design.treatments``.

    Raises
    ------
    DataError, TooFewResponsesError, MethodError
        See `candor.adjustment.adjusted_study.adjusted_study`.

    Notes
    -----
    See `doubly_robust_estimates`. To bootstrap it as well, keep the `AdjustedStudy` and use `effects_with_covariates` and
    `candor.resampling.resampled_people.ResampledPeople`.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data, equation (7).

    Examples
    --------
    A covariate that says nothing leaves the difference in means, here (.6 − .4)/(.5·.6):

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> counts = [[[13, 7], [11, 9]], [[9, 11], [7, 13]]]
    >>> rows = [(a, s, y) for a in (0, 1) for s in (0, 1) for y in (0, 1) for _ in range(counts[a][s][y])]
    >>> arm, subsample, reported = zip(*rows)
    >>> effect, = estimate_doubly_robust(reported, arm, subsample, {"same": [1] * 80}, design=design)
    >>> round(effect.value, 6), effect.notes[0]
    (0.666667, 'same: the same for everyone, left out')
    """
    return doubly_robust_estimates(adjusted_study(reported, arm, subsample, covariates, design=design)).effects(design=design, level=level)


def effects_with_covariates(study: AdjustedStudy, *, level: float = 0.95) -> tuple[Effect, ...]:
    """Return the effects of both methods that use covariates.

    Parameters
    ----------
    study : AdjustedStudy
        From `candor.adjustment.adjusted_study.adjusted_study`.
    level : float
        Nominal coverage of the intervals, strictly between 0 and 1.

    Returns
    -------
    tuple of Effect
        ``doubly_robust`` first, then ``efficient_with_covariates``, each in the order of ``design.treatments``; differences of proportions.

    Raises
    ------
    MethodError
        When the level is not between 0 and 1.

    References
    ----------
    See `doubly_robust_estimates` and `efficient_estimates`.

    Examples
    --------
    >>> from candor.adjustment.adjusted_study import adjusted_study
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> counts = [[[13, 7], [11, 9]], [[9, 11], [7, 13]]]
    >>> rows = [(a, s, y) for a in (0, 1) for s in (0, 1) for y in (0, 1) for _ in range(counts[a][s][y])]
    >>> arm, subsample, reported = zip(*rows)
    >>> study = adjusted_study(reported, arm, subsample, {"same": [1] * 80}, design=design)
    >>> [(effect.method, round(effect.value, 3)) for effect in effects_with_covariates(study)]
    [('doubly_robust', 0.667), ('efficient_with_covariates', 0.667)]
    """
    both = (doubly_robust_estimates(study), efficient_estimates(study))
    return tuple(effect for estimates in both for effect in estimates.effects(design=study.design, level=level))


def _notes(study: AdjustedStudy, models: Sequence[WorkingModel], *, groups: Sequence[str]) -> tuple[str, ...]:
    chosen = [
        f"working model of {group}: {', '.join(model.terms) if model.terms else 'no covariate'}"
        for group, model in zip(groups, models, strict=True)
    ]
    return (*study.matrix.notes, *chosen, *(note for model in models for note in model.notes))
