"""Refit logistic working models under thousands of weightings at once, by matrix products instead of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from candor.adjustment.covariates import FloatArray
from candor.adjustment.working_models import WorkingModel, expit

_RELATIVE_JITTER = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """One group's contribution, prepared once: `rows` are its members among the patterns."""

    rows: slice
    values: FloatArray  # (m, p) of every pattern
    outcome: FloatArray  # (members,)
    coefficients: FloatArray  # (p,)
    penalty: FloatArray  # (p,)
    jitter: FloatArray  # (p,)
    products: FloatArray  # (members, p(p+1)/2): values ⊗ values, upper triangle
    moments: FloatArray  # (members, p + p(p+1)/2): what weights turn into score and information at the full-sample fit


class WeightedRefits:
    """Augmented (doubly robust) means of a 0/1 outcome in several groups, with every working model refitted for every weighting.

    Parameters
    ----------
    values : ndarray of shape (m, p)
        Model matrix of the distinct patterns, ordered so that each group is contiguous.
    outcome : ndarray of shape (m,)
        0 or 1.
    groups : sequence of slice
        The patterns of each group.
    models : sequence of WorkingModel
        Their full-sample fits, in the same order.
    newton_steps : int
        Steps of Newton's method from the full-sample fit, at least 1.

    Notes
    -----
    With weights w, the mean of group g is Σ w μ(x)/Σ w + Σ_g w (y − μ(x))/Σ_g w, where μ solves the weighted score equations. One
    Newton step from the full-sample fit is within O(n⁻¹) of that solution [1]_ [2]_; because the augmented mean is insensitive to first
    order to μ, the mean itself is within O(n^{−3/2}), 1/n of a standard error. With one step μ is expanded to first order too, which
    has the same order and turns the whole refit into matrix products; from the second step on everything is evaluated exactly.

    References
    ----------
    .. [1] Davidson and MacKinnon (1999), "Bootstrap testing in nonlinear models", International Economic Review 40(2).
    .. [2] Andrews (2002), "Higher-order improvements of a computationally attractive k-step bootstrap for extremum estimators",
       Econometrica 70(1).
    """

    def __init__(
        self, values: FloatArray, outcome: FloatArray, *, groups: Sequence[slice], models: Sequence[WorkingModel], newton_steps: int = 1
    ) -> None:
        if newton_steps < 1:
            raise ValueError(f"newton_steps must be at least 1, got {newton_steps}")
        self.newton_steps = newton_steps
        self._groups = [_prepared(values, outcome, rows, model) for rows, model in zip(groups, models, strict=True)]
        self._expansions = np.hstack([_expansion(group) for group in self._groups])

    def means(self, weights: FloatArray) -> FloatArray:
        """Return the augmented mean of every group under every weighting.

        Parameters
        ----------
        weights : ndarray of shape (replicates, m)
            Not negative.

        Returns
        -------
        ndarray of shape (replicates, groups)
            NaN where a group has no weight.
        """
        total = weights.sum(axis=1)
        expanded = weights @ self._expansions if self.newton_steps == 1 else None
        means = np.empty((len(weights), len(self._groups)))
        first = 0
        for position, group in enumerate(self._groups):
            last = first + 1 + len(group.coefficients)
            own = weights[:, group.rows]
            step, score, information = _first_step(group, own)
            if expanded is not None:
                predicted = expanded[:, first] + np.einsum("rp,rp->r", expanded[:, first + 1 : last], step)
                residual = score[:, 0] - np.einsum("rp,rp->r", information[:, 0], step)
            else:
                predicted, residual = _exactly(group, weights, own, step, steps=self.newton_steps - 1)
            size = own.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                means[:, position] = np.where(size > 0.0, predicted / total + residual / size, np.nan)
            first = last
        return means


def _prepared(values: FloatArray, outcome: FloatArray, rows: slice, model: WorkingModel) -> _Group:
    columns = np.ascontiguousarray(values[:, model.columns])
    own, answers = columns[rows], outcome[rows]
    row, column = _upper_triangle(columns.shape[1])
    products = own[:, row] * own[:, column]
    probability = expit(own @ model.fit.coefficients)
    variance = probability * (1.0 - probability)
    diagonal = variance @ own**2
    return _Group(
        rows=rows,
        values=columns,
        outcome=answers,
        coefficients=model.fit.coefficients,
        penalty=model.fit.penalty,
        jitter=_RELATIVE_JITTER * np.maximum(diagonal, 1.0),
        products=products,
        moments=np.hstack([own * (answers - probability)[:, None], products * variance[:, None]]),
    )


def _expansion(group: _Group) -> FloatArray:
    """Columns from which weights give Σ w μ and its derivative by the coefficients, shape (m, 1 + p)."""
    probability = expit(group.values @ group.coefficients)
    return np.column_stack([probability, group.values * (probability * (1.0 - probability))[:, None]])


def _first_step(group: _Group, own: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Newton step, unpenalised score and information at the full-sample fit, for every weighting."""
    parameters = len(group.coefficients)
    moments = own @ group.moments
    score, information = moments[:, :parameters], _symmetric(moments[:, parameters:], parameters)
    return _solved(group, information, score - group.penalty * group.coefficients), score, information


def _exactly(group: _Group, weights: FloatArray, own: FloatArray, step: FloatArray, *, steps: int) -> tuple[FloatArray, FloatArray]:
    """Take further Newton steps; return Σ w μ over everybody and Σ w (y − μ) over the group, without expansions."""
    coefficients = group.coefficients + step
    members = group.values[group.rows]
    for _ in range(steps):
        probability = expit(coefficients @ members.T)
        score = (own * (group.outcome - probability)) @ members - group.penalty * coefficients
        information = (own * probability * (1.0 - probability)) @ group.products
        coefficients = coefficients + _solved(group, _symmetric(information, coefficients.shape[1]), score)
    probability = expit(coefficients @ group.values.T)
    residual = own @ group.outcome - np.einsum("rm,rm->r", own, probability[:, group.rows])
    return np.einsum("rm,rm->r", weights, probability), residual


_upper_triangle = cache(np.triu_indices)


def _symmetric(upper: FloatArray, size: int) -> FloatArray:
    """Unpack upper triangles, shape (replicates, size, size)."""
    matrices = np.empty((len(upper), size, size))
    row, column = _upper_triangle(size)
    matrices[:, row, column] = upper
    matrices[:, column, row] = upper
    return matrices


def _solved(group: _Group, information: FloatArray, score: FloatArray) -> FloatArray:
    """Solve for the step; the jitter leaves a coefficient alone where a weighting has nobody left to inform it."""
    regular = information + np.diag(group.penalty + group.jitter)
    return np.asarray(np.linalg.solve(regular, score[:, :, None])[:, :, 0], dtype=np.float64)
