"""Effects on every answer of a question with categories, with covariates: right whatever the working models are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.special import chdtrc

from candor.adjustment.adjusted_study import positions_in
from candor.adjustment.covariates import model_matrix, notes_about_balance
from candor.adjustment.doubly_robust import HALF_A_PERSON
from candor.adjustment.held_out import augmented_means
from candor.adjustment.working_models import WorkingModel, choose_working_model
from candor.categories.estimates import adjusted_by_holm
from candor.categories.linear_estimates import effect_on, efficient_weights, joint_estimates_of
from candor.categories.linear_model import CategoryModel, category_model, maximum_likelihood_fit
from candor.categories.region import measures_of
from candor.categories.results import AdjustedCategories, CategoryEffect, NoEffectTest
from candor.designs.design import Design, FloatArray
from candor.errors import DataError
from candor.estimators.contrasts import effects_from_joint_estimates
from candor.estimators.counts import checked_category_counts
from candor.estimators.multiplicity import holm
from candor.results import EFFICIENT_WITH_COVARIATES, SpecificationTest


def adjusted_categories(
    reported: npt.ArrayLike,
    arm: npt.ArrayLike,
    subsample: npt.ArrayLike,
    covariates: Mapping[str, npt.ArrayLike | Sequence[object]],
    *,
    design: Design,
    level: float = 0.95,
) -> AdjustedCategories:
    """Effects on the share of every answer, adjusted for what was known of people before the assignment.

    Parameters
    ----------
    reported : array_like of int, shape (n,)
        Position of the answer in ``design.categories``; people without an answer are left out by the caller, and counted.
    arm, subsample : array_like of int, shape (n,)
        Positions in ``design.arms`` and ``design.subsample_names``.
    covariates : mapping of str to array_like of shape (n,)
        See `candor.adjustment.covariates.model_matrix`; measured before the assignment.
    design : Design
        Of C categories and two arms or more.
    level : float
        Nominal coverage of all intervals.

    Returns
    -------
    AdjustedCategories
        Effects are differences of shares, in [−1, 1], or of mean scores, with Fieller's and Wald's interval.

    Raises
    ------
    DataError
        Answers or positions outside of the design, or arrays of different lengths.
    TooFewResponsesError
        An empty cell.

    Notes
    -----
    The 0/1 indicator of each answer c is an answer to a yes/no question, and its share in each cell is adjusted as there
    (`candor.adjustment.doubly_robust.adjusted_cells`): Γ_isc = μ_sc(X_i) + 1{S_i=s}/π_s·(1{Y_i=c} − μ_sc(X_i)) with logistic working models
    μ, one for each cell and answer. The shares m obey the linear model m = Mβ + o of `candor.categories.linear_model`, so
    β̂ = (MᵀWM)⁻¹MᵀW(m̂ − o) = L(m̂ − o) with W = n/μ̂ from the fit without covariates, and Cov(β̂) = LVLᵀ with V the covariance of the
    contributions over n. An answer that nobody gave in a cell adds the variance of (0 + ½)/(n + C/2). x̂ above 1 becomes 1.
    With two answers these are the estimates of `candor.adjustment.doubly_robust.efficient_estimates`.

    References
    ----------
    Robins, J. M., Rotnitzky, A. & Zhao, L. P. (1994). Estimation of regression coefficients when some regressors are not always observed.
    Journal of the American Statistical Association 89, 846–866.

    Examples
    --------
    A covariate that says nothing leaves the estimates of the counts, here .16/.8 for "often":

    >>> design = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"), subsamples={
    ...     "1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
    >>> counts = [[[148, 84, 168], [228, 84, 88]], [[112, 96, 192], [192, 96, 112]]]
    >>> cells = [(a, s, c) for a in (0, 1) for s in (0, 1) for c in (0, 1, 2) for _ in range(counts[a][s][c])]
    >>> arm, subsample, reported = zip(*cells)
    >>> found = adjusted_categories(reported, arm, subsample, {"same": [1] * len(arm)}, design=design)
    >>> [(one.category, round(one.value, 6)) for one in found.effects]
    [('never', -0.3), ('once', 0.1), ('often', 0.2)]
    """
    answers = positions_in(reported, what="answer", names=design.categories)
    n, answered = len(answers), len(design.categories)
    arms = positions_in(arm, what="arm", names=design.arms, n=n)
    subsamples = positions_in(subsample, what="subsample", names=design.subsample_names, n=n)
    if design.is_survey:
        raise DataError("a survey has no effect that covariates could adjust")
    cell = arms * design.shape[1] + subsamples
    shape = (*design.shape, answered)
    counts = checked_category_counts(np.bincount(cell * answered + answers, minlength=np.prod(shape)).reshape(shape), design=design)
    given = model_matrix(covariates, participants=n)
    cells, notes = range(design.shape[0] * design.shape[1]), [*given.notes, *notes_about_balance(given, cell)]
    contributions = np.empty((n, len(cells), answered))
    for place, name in enumerate(design.categories):
        said = (answers == place).astype(float)
        models = [choose_working_model(given, said, cell == one, group=f"cell {one}") for one in cells]
        contributions[..., place] = augmented_means(said, cell, given, models).contributions
        notes.append(_about_models(name, models))
    means = contributions.reshape(n, -1).mean(axis=0)
    centred = contributions.reshape(n, -1) - means
    covariance = centred.T @ centred / n**2 + _of_answers_that_nobody_gave(counts)
    model = category_model(design)
    unadjusted = maximum_likelihood_fit(counts, model)
    operator = efficient_weights(counts, unadjusted)
    coefficients, spread = operator @ (means - model.offset), operator @ covariance @ operator.T
    effects: list[CategoryEffect] = []
    measures = measures_of(design)
    joint = [joint_estimates_of(model, coefficients, spread, design, weights=one.weights) for one in measures]
    by_measure = [effects_from_joint_estimates(one, design=design, method=EFFICIENT_WITH_COVARIATES, level=level) for one in joint]
    for of_contrast in zip(*by_measure, strict=True):
        effects += [effect_on(effect, one) for effect, one in zip(of_contrast, measures, strict=True)]
    notes += dict.fromkeys(note for of_measure in by_measure for effect in of_measure for note in effect.notes)
    return AdjustedCategories(
        no_effect=_no_effect(model, coefficients, spread, design),
        effects=tuple(adjusted_by_holm(effects, measures)),
        specification_test=_specification_test(model, means, covariance),
        notes=tuple(notes),
    )


def _about_models(answer: str, models: Sequence[WorkingModel]) -> str:
    """The covariates in the working models of one answer, and in how many cells the fit needed help."""
    terms = list(dict.fromkeys(term for model in models for term in model.terms))
    penalised = sum(model.fit.separated for model in models)
    emergency = f"; a ridge penalty keeps {penalised} of {len(models)} finite" if penalised else ""
    return f"working models of “{answer}”: {', '.join(terms) if terms else 'no covariate'}{emergency}"


def _of_answers_that_nobody_gave(counts: FloatArray) -> FloatArray:
    """The chance variation of shares that are zero, which no contribution shows; shape (K·S·C, K·S·C)."""
    people, answers = counts.sum(axis=-1, keepdims=True), counts.shape[-1]
    shares = (counts + HALF_A_PERSON) / (people + HALF_A_PERSON * answers)
    found = np.zeros((counts.size, counts.size))
    for arm, subsample, answer in np.argwhere(counts == 0):
        share = shares[arm, subsample].copy()
        variance = share[answer] * (1 - share[answer]) / people[arm, subsample, 0]
        share /= share[answer] - 1
        share[answer] = 1.0  # one more of this answer is one less of the others, in proportion
        first = (arm * counts.shape[1] + subsample) * answers
        found[first : first + answers, first : first + answers] += variance * np.outer(share, share)
    return found


def _no_effect(model: CategoryModel, coefficients: FloatArray, spread: FloatArray, design: Design) -> tuple[NoEffectTest, ...]:
    """ΔᵀV⁻¹Δ of the shares of all answers but the first, for every contrast."""
    others = np.eye(len(design.categories))[1:]
    found = []
    for arm in design.treatment_indexes:
        rows = model.of_arm(arm, others) - model.of_arm(design.control_index, others)
        delta = rows @ coefficients
        found.append(float(delta @ np.linalg.solve(rows @ spread @ rows.T, delta)))
    p_values = [float(chdtrc(len(others), statistic)) for statistic in found]
    return tuple(
        NoEffectTest(treatment=treatment, control=design.control, statistic=statistic, df=len(others), p_value=p, adjusted_p_value=adjusted)
        for treatment, statistic, p, adjusted in zip(design.treatments, found, p_values, holm(p_values), strict=True)
    )


def _specification_test(model: CategoryModel, means: FloatArray, covariance: FloatArray) -> SpecificationTest | None:
    """Whether the adjusted shares fit the linear model: their part outside of it, over its covariance. None where everything fits."""
    arms, subsamples, answers = model.shape
    sums = np.kron(np.eye(arms * subsamples), np.ones((answers, 1)))  # the shares of a cell, which add up to 1
    outside = linalg.null_space(np.hstack([model.matrix, sums]).T)
    if not (df := outside.shape[1]):
        return None
    residual = (means - model.offset) @ outside
    statistic = float(residual @ np.linalg.solve(outside.T @ covariance @ outside, residual))
    return SpecificationTest(statistic=statistic, df=df, p_value=float(chdtrc(df, statistic)))
