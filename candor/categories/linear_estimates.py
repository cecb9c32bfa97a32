"""Estimates of questions with categories from coefficients that are linear in shares, and from any covariance of these shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from candor.categories.linear_model import CategoryFit, CategoryModel, information_weights
from candor.categories.region import Measure
from candor.categories.results import CategoryEffect
from candor.designs.design import Design, FloatArray
from candor.estimators.joint_estimates import JointEstimates
from candor.results import Effect, Interval


def efficient_weights(counts: FloatArray, likelihood: CategoryFit) -> FloatArray:
    """B of β̂ = B(m̂ − o), with the weights n/μ̂ of the likelihood; shape (P, K·S·C) for counts of shape (K, S, C)."""
    matrix = likelihood.model.matrix
    weighted = matrix * information_weights(counts, likelihood.fitted).reshape(-1, 1)
    return np.asarray(np.linalg.solve(weighted.T @ matrix, weighted.T))


def joint_estimates_of(
    model: CategoryModel, coefficients: FloatArray, spread: FloatArray, design: Design, *, weights: Sequence[float]
) -> JointEstimates:
    """Δ̂ of one measure for every contrast, with x̂."""
    rows = np.vstack([model.of_arm(arm, weights) - model.of_arm(design.control_index, weights) for arm in design.treatment_indexes])
    delta, variance = rows @ coefficients, np.einsum("kp,pq,kq->k", rows, spread, rows)
    if model.honest is None:
        nothing = np.asarray(np.nan)
        return JointEstimates(
            honest_times_effect=delta,
            honest_times_effect_variance=variance,
            honest_proportion=nothing,
            honest_proportion_variance=nothing,
            covariance=np.full_like(delta, np.nan),
            honest_proportion_used=nothing,
        )
    honest, covariance = np.asarray(coefficients[model.honest]), rows @ spread[model.honest]
    used = np.clip(honest, 0.0, 1.0)
    return JointEstimates(
        honest_times_effect=delta,
        honest_times_effect_variance=variance,
        honest_proportion=honest,
        honest_proportion_variance=np.asarray(spread[model.honest, model.honest]),
        covariance=covariance,
        honest_proportion_used=used,
        numerator_used=delta - covariance / spread[model.honest, model.honest] * (honest - used),
    )


def effect_on(effect: Effect, measure: Measure) -> CategoryEffect:
    """The effect on a share as one on this measure."""

    def number(value: float | None) -> float | None:
        return None if value is None else measure.difference(value)

    def ends(interval: Interval | None) -> Interval | None:
        return None if interval is None else replace(interval, low=number(interval.low), high=number(interval.high))

    delta = effect.honest_times_effect
    return CategoryEffect(
        treatment=effect.treatment,
        control=effect.control,
        measure=measure.kind,
        category=measure.category,
        value=number(effect.value),
        standard_error=number(effect.standard_error),
        interval=ends(effect.interval),
        wald=ends(effect.wald),
        p_value=effect.p_value,
        adjusted_p_value=None,
        honest_times_effect=replace(delta, value=number(delta.value), standard_error=number(delta.standard_error)),
    )
