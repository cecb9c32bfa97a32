"""Do the groups differ in any of several named answers? Tests of one Δ, and of one τ, of all answers at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from candor.categories.linear_model import category_model, maximum_likelihood_fit
from candor.designs.design import Design, FloatArray
from candor.subgroups.interaction import chi_squared_test, same_effect
from candor.subgroups.results import EFFECT, HONEST_TIMES_EFFECT, InteractionTest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Differences:
    """Δ̂ of all answers but the first and x̂ in each group, with their covariance: (G, C − 1), (G,), and (G, C, C) with x last."""

    deltas: FloatArray
    honest: FloatArray
    covariance: FloatArray


def same_on_every_answer(tables: Sequence[FloatArray], design: Design) -> tuple[InteractionTest, ...]:
    """For each contrast the tests whether all groups have one Δ, and one τ where the design identifies it, of every answer.

    Parameters
    ----------
    tables : sequence of ndarray of float, shape (K, S, C)
        One for each group, checked.
    design : Design
        It names C categories.

    Notes
    -----
    With δ_g the Δ̂ of all answers but the first and V_g its covariance, Q = Σ (δ_g − δ̄)′V_g⁻¹(δ_g − δ̄) with δ̄ the mean weighted by V_g⁻¹,
    about χ² with (G − 1)(C − 1) degrees of freedom: Cochran's Q for vectors. For τ, Q = min over τ in [−1, 1]^{C−1} of Σ
    (δ_g − τx̂_g)′W_g(τ)⁻¹(δ_g − τx̂_g) with W_g the covariance of that difference, so that no x̂ is divided by. Both are those of
    `candor.subgroups.interaction` where there are two answers. The last answers tell the first one, which therefore makes no difference.

    References
    ----------
    Anderson, T. W. & Rubin, H. (1949). Estimation of the parameters of a single equation in a complete system of stochastic equations.
    Annals of Mathematical Statistics 20, 46–63.

    Examples
    --------
    Two groups, in which the arms change places: the treated say "often" more often, and less often.

    >>> design = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"), subsamples={
    ...     "1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}})
    >>> counts = np.array([[[148., 84, 168], [228, 84, 88]], [[112, 96, 192], [192, 96, 112]]])
    >>> [(one.of, one.df, one.p_value < 0.01) for one in same_on_every_answer([counts, counts[::-1]], design)]
    [('honest_times_effect', 2, True), ('effect', 2, True)]
    >>> [round(one.p_value, 6) for one in same_on_every_answer([counts, counts], design)]
    [1.0, 1.0]
    """
    model, others = category_model(design), len(design.categories) - 1
    fits = [maximum_likelihood_fit(table, model) for table in tables]
    found = []
    for arm, treatment in zip(design.treatment_indexes, design.treatments, strict=True):
        names = {"treatment": treatment, "control": design.control}
        rows = model.of_arm(arm, np.eye(others + 1)[1:]) - model.of_arm(design.control_index, np.eye(others + 1)[1:])
        if model.honest is not None:
            rows = np.vstack([rows, np.eye(rows.shape[1])[model.honest]])
        numbers = np.array([rows @ fit.coefficients for fit in fits])
        covariance = np.array([rows @ fit.covariance @ rows.T for fit in fits])
        found.append(_one_delta(numbers[:, :others], covariance[:, :others, :others], **names))
        if model.honest is not None:
            found.append(_one_effect(_Differences(deltas=numbers[:, :others], honest=numbers[:, others], covariance=covariance), **names))
    return tuple(found)


def _one_delta(values: FloatArray, covariance: FloatArray, *, treatment: str, control: str) -> InteractionTest:
    groups, others = values.shape
    precision = np.linalg.inv(covariance)
    mean = np.linalg.solve(precision.sum(axis=0), np.einsum("gij,gj->i", precision, values))
    away = values - mean
    statistic = float(np.einsum("gi,gij,gj->", away, precision, away))
    return chi_squared_test(statistic, df=(groups - 1) * others, of=HONEST_TIMES_EFFECT, treatment=treatment, control=control)


def _one_effect(found: _Differences, *, treatment: str, control: str) -> InteractionTest:
    groups, others = found.deltas.shape
    within, with_honest = found.covariance[:, :others, :others], found.covariance[:, :others, others]
    honest_variance = found.covariance[:, others, others]
    if others == 1:
        return same_effect(
            found.deltas[:, 0],
            found.honest,
            numerator_variance=within[:, 0, 0],
            denominator_variance=honest_variance,
            covariance=with_honest[:, 0],
            treatment=treatment,
            control=control,
        )

    def off(effect: FloatArray) -> float:
        away = found.deltas - effect * found.honest[:, None]
        shared = with_honest[:, :, None] * effect
        spread = within - shared - shared.transpose(0, 2, 1) + effect[:, None] * effect * honest_variance[:, None, None]
        return float((away * np.linalg.solve(spread, away[..., None])[..., 0]).sum())

    # Each group's own ratio fits it exactly; the lowest place lies near one of them, near their mean, or where nothing changes.
    ratios = found.deltas / np.where(np.abs(found.honest) > 0.05, found.honest, 0.05)[:, None]
    together = found.deltas.sum(axis=0) / max(float(found.honest.sum()), 0.05)
    starts = np.clip([*ratios, ratios.mean(axis=0), together, np.zeros(others)], -1, 1)
    ends = [(-1.0, 1.0)] * others
    best = min(float(minimize(off, start, method="L-BFGS-B", bounds=ends, options={"ftol": 1e-13}).fun) for start in starts)
    return chi_squared_test(best, df=(groups - 1) * others, of=EFFECT, treatment=treatment, control=control)
