"""All estimates for one question with two to six answers, from the counts of its answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from candor.categories.linear_model import (
    CategoryFit,
    CategoryModel,
    category_model,
    information_weights,
    maximum_likelihood_fit,
)
from candor.categories.region import CategoryRegion, Ends, Measure, category_region, measures_of
from candor.categories.results import CATEGORY, CategoryEffect, CategoryOutcome, CategoryPrevalence, NoEffectTest
from candor.designs.design import Design, FloatArray
from candor.estimators.contrasts import defined
from candor.estimators.counts import checked_category_counts
from candor.estimators.effects import (
    FEW,
    FEW_ANSWERS,
    INFINITE_EPSILON,
    NO_CHEATER_PROPORTION,
    NOT_CONVERGED,
    contradiction,
)
from candor.estimators.intervals import cut_to, normal_quantile, wald_interval
from candor.estimators.joint_estimates import ROUNDING
from candor.estimators.missing_answers import missing_answers
from candor.estimators.multiplicity import holm
from candor.likelihood.region import also_without_limits, many_at_ends
from candor.results import CheaterProportion, HonestTimesEffect, Interval

OUTSIDE = "Without limits {what} would leave the possible shares: the most likely possible values are given instead."
ROUGH_SEARCH = "A search for the ends of the intervals did not settle: they are approximate."


def estimate_categories(
    counts: npt.ArrayLike, *, design: Design, level: float = 0.95, missing: npt.ArrayLike | None = None
) -> CategoryOutcome:
    """Cheater proportion, prevalence of each category, effects and the test of no effect of one question.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, C)
        ``[a, s, c]`` people in arm a and subsample s who gave answer c; all in the design's order.
    design : Design
        Of 2 ≤ C ≤ 6 categories.
    level : float
        Nominal coverage of all intervals, strictly between 0 and 1.
    missing : array_like of int, shape (K, S), optional
        People without an answer.

    Returns
    -------
    CategoryOutcome
        Effects are differences of shares, in [−1, 1], or of mean scores.

    Raises
    ------
    DataError
        Counts of the wrong shape, negative or fractional.
    TooFewResponsesError
        When a cell of arm × subsample is empty.

    Notes
    -----
    Assumes independent participants, random allocation, and about cheaters what ``assumption`` says: m(a,s,c) = x(t_s·p_ac + f_cs) +
    (1 − x)q_c. Estimates and standard errors are those of multinomial maximum likelihood in this linear model, headline intervals are
    shadows of its likelihood region, with Wald's or Fieller's where `many_at_ends` says so.
    Tests of no effect use the smaller of the χ² with the covariance at the estimates and with the one
    without an effect. With two answers all of this is `candor.estimators.effects.estimate_outcome`.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data, for two answers; the rest is worked out in docs/methods.md.

    Examples
    --------
    >>> from candor.designs.design import Design
    >>> design = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"), subsamples={
    ...     "1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
    >>> counts = [[[148, 84, 168], [228, 84, 88]], [[112, 96, 192], [192, 96, 112]]]
    >>> found = estimate_categories(counts, design=design)
    >>> round(found.cheater_proportion.value, 6), [(one.category, round(one.value, 6)) for one in found.effects]
    (0.2, [('never', -0.3), ('once', 0.1), ('often', 0.2)])
    """
    normal_quantile(level)
    table = checked_category_counts(counts, design=design)
    model, identification = category_model(design), design.identification
    fit = maximum_likelihood_fit(table, model)
    region = category_region(table, design, level=level)
    contradicted = region.model_test.contradicts(level)
    possible = _is_possible(fit, design)
    notes = [INFINITE_EPSILON] if math.isinf(design.epsilon) else []
    notes += [contradiction(region.model_test)] if contradicted else []
    notes += [] if identification.honest_proportion else [NO_CHEATER_PROPORTION]
    prevalences = _prevalences(fit, region, design, contradicted=contradicted, level=level)
    if identification.effect and not contradicted:
        notes += [] if possible else [OUTSIDE.format(what="the honest share or an effect")]
        notes += [] if _are_possible(fit, design) else [OUTSIDE.format(what="prevalences")]
    notes += [NOT_CONVERGED] if not fit.settled else []
    notes += [ROUGH_SEARCH] if not region.settled else []
    notes += few_answers(table, design)
    return CategoryOutcome(
        n=int(table.sum()),
        epsilon=defined(design.epsilon),
        categories=design.categories,
        scores=tuple(map(float, design.scores)),
        identified=identification.effect,
        assumption=identification.assumption,
        cheater_proportion=_cheaters(fit, region, design, possible=possible, contradicted=contradicted, level=level),
        no_effect=no_effect_tests(table, fit, design),
        effects=_effects(table, fit, region, design, possible=possible, contradicted=contradicted, level=level),
        prevalence=prevalences,
        model_test=region.model_test,
        specification_test=fit.specification_test(table),
        notes=tuple(notes),
        missing_answers=None if missing is None else missing_answers(table, missing, design=design),
    )


def _is_possible(fit: CategoryFit, design: Design) -> bool:
    """Whether 0 ≤ x̂ ≤ 1 and no effect is larger than 1, for each category and for those above a cut."""
    if fit.model.honest is None:
        return False
    honest = float(fit.coefficients[fit.model.honest])
    largest = max(
        (abs(float(row @ fit.coefficients)) for row in _contrasts(fit.model, design, [one.weights for one in measures_of(design)])),
        default=0.0,
    )
    return largest - ROUNDING <= honest <= 1 + ROUNDING


def _contrasts(model: CategoryModel, design: Design, weights: npt.ArrayLike) -> FloatArray:
    """Rows that give Δ of every contrast and of each of these weights (M, C); shape ((K − 1)·M, P)."""
    control = model.of_arm(design.control_index, weights)
    rows = [model.of_arm(arm, weights) - control for arm in design.treatment_indexes]
    return np.vstack(rows) if rows else control[:0]


def _interval(ends: Ends, *, contradicted: bool, level: float) -> Interval:
    if contradicted:
        return Interval(kind="empty", low=None, high=None, level=level)
    return Interval(kind="likelihood", low=ends[0], high=ends[1], level=level)


def _cheaters(
    fit: CategoryFit, region: CategoryRegion, design: Design, *, possible: bool, contradicted: bool, level: float
) -> CheaterProportion:
    low, high = region.honest_proportion
    ends, honest = (1 - high, 1 - low), fit.model.honest
    if honest is None:
        interval = _interval(ends, contradicted=contradicted, level=level)
        return CheaterProportion(value=None, raw=None, standard_error=None, interval=interval)
    raw, error = 1 - float(fit.coefficients[honest]), math.sqrt(float(fit.covariance[honest, honest]))
    if _many_at_ends(fit, design):
        ends = also_without_limits(ends, cut_to(wald_interval(raw, error, level=level), low=0.0, high=1.0))
    value = None if contradicted else min(max(raw, 0.0), 1.0) if possible else 1 - region.best_honest_proportion
    interval = _interval(ends, contradicted=contradicted, level=level)
    return CheaterProportion(value=value, raw=raw, standard_error=error, interval=interval)


def _many_at_ends(fit: CategoryFit, design: Design) -> bool:
    unit, rows = np.eye(len(design.categories)), fit.model
    shares = np.array([rows.of_arm(arm, unit) for arm in range(len(design.arms))])
    shares[:, 0, rows.honest] += 1  # x·p of the first answer
    return bool(many_at_ends(shares, fit, design))


def _are_possible(fit: CategoryFit, design: Design) -> bool:
    """Whether the fit without limits gives every arm possible prevalences, or none at all."""
    return not design.identification.prevalence or all(_prevalence_is_possible(fit, design, arm) for arm in range(len(design.arms)))


def _prevalence_is_possible(fit: CategoryFit, design: Design, arm: int) -> bool:
    honest, unit = fit.model.honest, np.eye(len(design.categories))
    found = [fit.ratio(fit.model.of_arm(arm, one), plus=float(one[0])).value for one in unit]
    return honest is not None and float(fit.coefficients[honest]) <= 1 and all(one is not None and 0 <= one <= 1 for one in found)


def _prevalences(
    fit: CategoryFit, region: CategoryRegion, design: Design, *, contradicted: bool, level: float
) -> tuple[CategoryPrevalence, ...]:
    """One for every arm and measure; where the design leaves them open, only a survey's intervals."""
    identified, found = design.identification.prevalence, []
    limited = identified and _many_at_ends(fit, design)
    for arm, name in enumerate(design.arms if identified or design.is_survey else ()):
        possible = identified and _prevalence_is_possible(fit, design, arm)
        for index, one in enumerate(measures_of(design)):
            raw = fit.ratio(fit.model.of_arm(arm, one.weights), plus=one.weights[0]) if identified else None
            best = defined(float(region.best_prevalences[arm, index]))
            value = None if raw is None or contradicted else one(raw.value) if possible and raw.value is not None else best
            error = None if raw is None or raw.standard_error is None or contradicted else one.difference(raw.standard_error)
            ends = region.prevalences[arm][index]
            if limited:
                low, high = ((end - one.low) / (one.high - one.low) for end in ends)
                fieller = fit.fieller(fit.model.of_arm(arm, one.weights), plus=one.weights[0], low=0.0, level=level)
                low, high = also_without_limits((low, high), fieller)
                ends = one(low), one(high)
            found.append(
                CategoryPrevalence(
                    arm=name,
                    measure=one.kind,
                    category=one.category,
                    value=value,
                    standard_error=error,
                    interval=_interval(ends, contradicted=contradicted, level=level),
                )
            )
    return tuple(found)


def _effects(
    table: FloatArray, fit: CategoryFit, region: CategoryRegion, design: Design, *, possible: bool, contradicted: bool, level: float
) -> tuple[CategoryEffect, ...]:
    """One for every contrast and measure, contrast by contrast."""
    measures, z = measures_of(design), normal_quantile(level)
    limited = design.identification.effect and _many_at_ends(fit, design)
    found: list[CategoryEffect] = []
    for contrast, arm in enumerate(design.treatment_indexes):
        without = covariance_without_effect(table, fit.model, arm=arm, control=design.control_index)
        for index, one in enumerate(measures):
            row = fit.model.of_arm(arm, one.weights) - fit.model.of_arm(design.control_index, one.weights)
            delta = one.difference(float(row @ fit.coefficients))
            error, none = (one.difference(math.sqrt(float(row @ which @ row))) for which in (fit.covariance, without))
            raw, cut = fit.ratio(row), fit.ratio(row, cut=True)
            wald = None
            best = defined(float(region.best_effects[contrast, index])) if design.identification.effect else None
            value = None if contradicted else one.difference(raw.value) if possible and raw.value is not None else best
            ends = region.effects[contrast][index]
            if limited:
                low, high = (end / one.difference(1) for end in ends)
                low, high = also_without_limits((low, high), fit.fieller(row, level=level), lowest=-1.0)
                ends = one.difference(low), one.difference(high)
            if raw.value is not None and cut.standard_error is not None and not contradicted:
                half = z * cut.standard_error
                wald = Interval(kind="wald", low=one.difference(raw.value - half), high=one.difference(raw.value + half), level=level)
            found.append(
                CategoryEffect(
                    treatment=design.arms[arm],
                    control=design.control,
                    measure=one.kind,
                    category=one.category,
                    value=value,
                    standard_error=None if cut.standard_error is None else one.difference(cut.standard_error),
                    interval=_interval(ends, contradicted=contradicted, level=level),
                    wald=wald,
                    p_value=None,
                    adjusted_p_value=None,
                    honest_times_effect=HonestTimesEffect(
                        value=delta, standard_error=error, p_value=float(chdtrc(1, (delta / max(error, none)) ** 2))
                    ),
                )
            )
    return tuple(adjusted_by_holm(found, measures))


def adjusted_by_holm(effects: Sequence[CategoryEffect], measures: Sequence[Measure]) -> list[CategoryEffect]:
    """The p-values, with Holm's over all effects of the same measure. Two categories have one test, not two."""
    found = list(effects)
    for kind in dict.fromkeys(one.kind for one in measures):
        places = [place for place, one in enumerate(found) if one.measure == kind]
        p_values = [found[place].honest_times_effect.p_value for place in places]
        one_test_for_two = kind == CATEGORY and sum(one.kind == CATEGORY for one in measures) == 2
        adjusted = [p for p in holm(p_values[::2]) for _ in range(2)] if one_test_for_two else list(holm(p_values))
        for place, p, holms in zip(places, p_values, adjusted, strict=True):
            found[place] = replace(found[place], p_value=p, adjusted_p_value=holms)
    return found


def covariance_without_effect(counts: FloatArray, model: CategoryModel, *, arm: int, control: int) -> FloatArray:
    """The covariance that the coefficients would have if two arms had the same prevalences, times n/(n − parameters); shape (P, P).

    Parameters
    ----------
    counts : ndarray of float, shape (K, S, C)
    model : CategoryModel
    arm, control : int
        Positions of the two arms.
    """
    others = model.shape[-1] - 1
    alike, columns = model.matrix.copy(), slice(arm * others, (arm + 1) * others)
    alike[:, control * others : (control + 1) * others] += alike[:, columns]
    alike = np.delete(alike, columns, axis=1)
    fitted = maximum_likelihood_fit(counts, model, matrix=alike).fitted
    information = (model.matrix.T * information_weights(counts, fitted).reshape(-1)) @ model.matrix
    people = float(counts.sum())
    return np.asarray(np.linalg.inv(information) * people / max(people - alike.shape[1], 1), dtype=float)


def no_effect_tests(table: FloatArray, fit: CategoryFit, design: Design) -> tuple[NoEffectTest, ...]:
    """The test of no effect on any category, by contrast.

    The smaller of two χ² counts: with the covariance at the estimates, and with the one without an effect.
    """
    others = len(design.categories) - 1
    rows = np.eye(others + 1)[1:]
    found = []
    for arm in design.treatment_indexes:
        contrast = fit.model.of_arm(arm, rows) - fit.model.of_arm(design.control_index, rows)
        delta = contrast @ fit.coefficients
        without = covariance_without_effect(table, fit.model, arm=arm, control=design.control_index)
        found.append(min(float(delta @ np.linalg.solve(contrast @ which @ contrast.T, delta)) for which in (fit.covariance, without)))
    p_values = [float(chdtrc(others, statistic)) for statistic in found]
    return tuple(
        NoEffectTest(treatment=treatment, control=design.control, statistic=statistic, df=others, p_value=p, adjusted_p_value=adjusted)
        for treatment, statistic, p, adjusted in zip(design.treatments, found, p_values, holm(p_values), strict=True)
    )


def few_answers(table: FloatArray, design: Design) -> list[str]:
    """A sentence for the cell with the fewest people of any answer, where they are few."""
    arm, subsample, answer = np.unravel_index(int(table.argmin()), table.shape)
    if (found := int(table.min())) >= FEW:
        return []
    where = {"arm": design.arms[arm], "subsample": design.subsample_names[subsample]}
    return [FEW_ANSWERS.format(found=found, answer=f"“{design.categories[answer]}”", **where)]
