"""Estimates of a question with categories for people who were assigned in clusters or within strata."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import fdtrc

from candor.categories.estimates import adjusted_by_holm, few_answers
from candor.categories.linear_estimates import effect_on, efficient_weights, joint_estimates_of
from candor.categories.linear_model import CategoryFit, category_model, maximum_likelihood_fit
from candor.categories.region import measures_of
from candor.categories.results import CategoryEffect, CategoryOutcome, NoEffectTest
from candor.clusters.cell_covariance import ClusteredCells, clustered_cells
from candor.clusters.clustered_effects import (
    NO_TEST,
    NOTHING,
    about_the_study,
    clustered_cheaters,
    degrees_of_freedom,
    intraclass_correlation,
    without_rounding,
)
from candor.clusters.people import AssignedTogether
from candor.clusters.randomisation import randomisation_p_values
from candor.designs.design import Design, FloatArray
from candor.errors import DataError, MethodError
from candor.estimators.contrasts import defined, effects_from_joint_estimates
from candor.estimators.counts import checked_category_counts
from candor.estimators.multiplicity import holm
from candor.results import CLUSTERED, AssignmentInference

TOO_FEW_FOR_ALL = (
    "{treatment} − {control}: so few clusters that the test of no effect on any category can never reject; read the randomisation test and "
    "the tests of each answer."
)


def estimate_categories_assigned_together(people: AssignedTogether, *, rng: np.random.Generator, level: float = 0.95) -> CategoryOutcome:
    """Cheater proportion, effects and the test of no effect of one question for people assigned in clusters or within strata.

    Parameters
    ----------
    people : AssignedTogether
        Of a design with 2 ≤ C ≤ 6 categories.
    rng : numpy.random.Generator
        For the randomisation test of many clusters.
    level : float
        Nominal coverage of all intervals, strictly between 0 and 1.

    Returns
    -------
    CategoryOutcome
        Effects with Fieller's and Wald's interval, and the ``assignment``.

    Raises
    ------
    DataError
        When nobody in two arms gave one of the answers, so that nothing says how it varies.
    TooFewResponsesError
        When a cell of arm × subsample is empty.

    Notes
    -----
    As `candor.clusters.clustered_effects.estimate_assigned_together`, for the shares of all answers at once: β̂ = B(m̂ − o) with the weights
    B of the multinomial likelihood, Cov(β̂) = BVB′ with V of `clustered_cells`. Each measure has Student's t with its own degrees of
    freedom. The test of no effect on any category takes the statistic Q = Δ̂′V⁻¹Δ̂ of p = C − 1 shares: Q(ν − p + 1)/(νp) is compared with F
    of p and ν − p + 1 degrees of freedom, ν as in `degrees_of_freedom`; p-value 1 where ν ≤ p − 1. With two answers all of this is the
    result for yes and no.

    References
    ----------
    Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage samples. Survey
    Methodology 28, 169–181. Krishnamoorthy, K. & Yu, J. (2004). Modified Nel and Van der Merwe test for the multivariate Behrens–Fisher
    problem. Statistics & Probability Letters 66, 161–169.
    """
    design, table = people.design, checked_category_counts(people.counts, design=people.design)
    _require_every_answer(table, design)
    cells, likelihood = clustered_cells(people, every_answer=True), maximum_likelihood_fit(table, category_model(design))
    model, weights = likelihood.model, efficient_weights(table, likelihood)
    coefficients, spread = weights @ (cells.means - model.offset), weights @ cells.covariance @ weights.T
    fit = replace(likelihood, coefficients=coefficients, covariance=spread)
    in_clusters = len(people.clusters) < len(people.cluster)
    tests, freedom = _no_effect(fit, people, cells, weights)
    effects, of_effects = _effects(fit, people, cells, weights, level=level)
    assignment = AssignmentInference(
        clusters=len(people.clusters),
        strata=len(people.strata),
        degrees_of_freedom=freedom,
        randomisation_p_values=randomisation_p_values(people, rng=rng) if in_clusters else (None,) * len(tests),
        intraclass_correlation=intraclass_correlation(people) if in_clusters else None,
        clusters_per_arm=tuple(map(float, people.clusters_in_arm())),
        design_effect=tuple(
            float(np.trace(rows @ spread @ rows.T) / np.trace(rows @ likelihood.covariance @ rows.T))
            for rows in _contrasts(fit, design, np.eye(len(design.categories)))
        ),
    )
    impossible = [
        TOO_FEW_FOR_ALL.format(treatment=one.treatment, control=one.control)
        for one, nu in zip(tests, freedom, strict=True)
        if nu <= one.df - 1
    ]
    notes = about_the_study(people, fit, settled=likelihood.settled, freedom=min(freedom))
    return CategoryOutcome(
        n=int(table.sum()),
        epsilon=defined(design.epsilon),
        categories=design.categories,
        scores=tuple(map(float, design.scores)),
        identified=design.identification.effect,
        assumption=design.identification.assumption,
        cheater_proportion=clustered_cheaters(fit, freedom=min(freedom), level=level),
        no_effect=tests,
        effects=effects,
        prevalence=(),
        model_test=None,
        specification_test=None,
        notes=(*notes, *few_answers(table, design), *of_effects, *impossible, NO_TEST),
        assignment=assignment,
    )


def _require_every_answer(table: FloatArray, design: Design) -> None:
    by_arm = table.sum(axis=1)
    for arm in design.treatment_indexes:
        together = by_arm[arm] + by_arm[design.control_index]
        if not together.min():
            answer = design.categories[int(together.argmin())]
            raise DataError(
                f"nobody in the arms {design.arms[arm]!r} and {design.control!r} gave the answer “{answer}”: how its share differs between "
                "people who were assigned together cannot be told"
            )


def _contrasts(fit: CategoryFit, design: Design, weights: FloatArray) -> list[FloatArray]:
    """Rows that give Δ of each of these weights (M, C), by contrast; each of shape (M, P)."""
    control = fit.model.of_arm(design.control_index, weights)
    return [fit.model.of_arm(arm, weights) - control for arm in design.treatment_indexes]


def _effects(
    fit: CategoryFit, people: AssignedTogether, cells: ClusteredCells, weights: FloatArray, *, level: float
) -> tuple[tuple[CategoryEffect, ...], list[str]]:
    """One for every contrast and measure, contrast by contrast, and what is to be said about them, each once."""
    design, measures = people.design, measures_of(people.design)
    contrasts = _contrasts(fit, design, np.array([one.weights for one in measures]))
    by_measure, notes = [], list[str]()
    for place, measure in enumerate(measures):
        joint = without_rounding(joint_estimates_of(fit.model, fit.coefficients, fit.covariance, design, weights=measure.weights))
        freedom = [degrees_of_freedom(people, cells, rows[place][None] @ weights) for rows in contrasts]
        plain = effects_from_joint_estimates(joint, design=design, method=CLUSTERED, level=level, freedom=freedom)
        notes += [note for effect in plain for note in effect.notes]
        by_measure.append([effect_on(effect, measure) for effect in plain])
    found = [effect for of_contrast in zip(*by_measure, strict=True) for effect in of_contrast]
    return tuple(adjusted_by_holm(found, measures)), list(dict.fromkeys(notes))


def _no_effect(
    fit: CategoryFit, people: AssignedTogether, cells: ClusteredCells, weights: FloatArray
) -> tuple[tuple[NoEffectTest, ...], tuple[float, ...]]:
    """The test of no effect on any category for every contrast, and its degrees of freedom ν."""
    design, others = people.design, len(people.design.categories) - 1
    statistics, freedom, p_values = list[float](), list[float](), list[float]()
    for rows in _contrasts(fit, design, np.eye(others + 1)[1:]):
        delta, spread = rows @ fit.coefficients, rows @ fit.covariance @ rows.T
        nu = degrees_of_freedom(people, cells, rows @ weights)
        statistic, left = float(delta @ np.linalg.pinv(spread, hermitian=True) @ delta), nu - others + 1
        if not np.isfinite(statistic) or not np.trace(spread) > NOTHING:
            raise MethodError("the answers within every arm do not vary, so that their chance variation cannot be estimated")
        statistics.append(statistic)
        freedom.append(nu)
        p_values.append(float(fdtrc(others, left, statistic * left / (nu * others))) if left > 0 else 1.0)
    tests = tuple(
        NoEffectTest(treatment=treatment, control=design.control, statistic=statistic, df=others, p_value=p, adjusted_p_value=adjusted)
        for treatment, statistic, p, adjusted in zip(design.treatments, statistics, p_values, holm(p_values), strict=True)
    )
    return tests, tuple(freedom)
