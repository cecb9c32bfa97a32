"""Estimates of several groups that learn from one another: the normal–normal model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candor.designs.design import FloatArray
from candor.estimators.intervals import normal_quantile
from candor.results import Interval

TYPICAL_DIFFERENCE = 0.2
"""Scale of the half-Cauchy prior of the groups' standard deviation, on the scale of Δ."""

_WIDEST, _STEPS = 2.0, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinkage:
    """The estimates of several groups that learn from one another.

    Attributes
    ----------
    values : tuple of float
        The groups' means, each drawn toward the common one.
    intervals : tuple of Interval
        Theirs, of kind ``"shrunken"``.
    common : Interval
        Of the mean of the groups, of kind ``"common"``.
    spread : float
        Posterior mean of the standard deviation between groups.
    """

    values: tuple[float, ...]
    intervals: tuple[Interval, ...]
    common: Interval
    spread: float


def shrunken(values: FloatArray, variances: FloatArray, *, level: float = 0.95) -> Shrinkage:
    """Draw the estimates of groups toward their mean, the more so the less they differ beyond chance.

    Parameters
    ----------
    values, variances : ndarray of shape (G,)
        Estimates with their sampling variances, G at least 2.
    level : float
        Nominal coverage of the intervals.

    Returns
    -------
    Shrinkage

    Notes
    -----
    d_g ~ N(θ_g, V_g), θ_g ~ N(μ, σ²), μ flat. For one σ, with B_g = V_g/(V_g + σ²) and μ̂ the mean weighted by 1/(V_g + σ²), θ_g has mean
    (1 − B_g)d_g + B_g μ̂ and variance V_g(1 − B_g) + B_g²/Σ(V_h + σ²)⁻¹. With few groups the data hardly tell σ: its most likely value is
    often 0, and intervals from it are too narrow. So σ is integrated out, with a half-Cauchy prior [1]_ of scale .2; intervals are mean ± z
    standard deviations of the mixture. Averaged over the groups they cover (``tests/unit/candor/subgroups``), one extreme group for
    itself less often.

    References
    ----------
    .. [1] Gelman (2006), "Prior distributions for variance parameters in hierarchical models", Bayesian Analysis 1(3).
    .. [2] Efron and Morris (1975), "Data analysis using Stein's estimator and its generalizations", Journal of the American Statistical
       Association 70(350).

    Examples
    --------
    Groups of equal variance are drawn toward their mean, .2, by the same factor:

    >>> found = shrunken(np.array([0.1, 0.3]), np.array([0.01, 0.01]))
    >>> low, high = found.values
    >>> round((low + high) / 2, 6), 0.1 < low < 0.2 < high < 0.3
    (0.2, True)
    """
    z = normal_quantile(level)
    # Equal steps of the prior's distribution function, so that the prior's weight is the same at each of them.
    middle = (np.arange(_STEPS) + 0.5) / _STEPS
    spread = TYPICAL_DIFFERENCE * np.tan(middle * np.arctan(_WIDEST / TYPICAL_DIFFERENCE))
    total = variances + spread[:, None] ** 2
    precision = (1.0 / total).sum(axis=1)
    mean = (values / total).sum(axis=1) / precision
    likelihood = -0.5 * (np.log(total).sum(axis=1) + np.log(precision) + ((values - mean[:, None]) ** 2 / total).sum(axis=1))
    weights = np.exp(likelihood - likelihood.max())
    weights /= weights.sum()
    drawn = variances / total
    means = (1.0 - drawn) * values + drawn * mean[:, None]
    spreads = variances * (1.0 - drawn) + drawn**2 / precision[:, None]
    value, deviation = _mixture(means, spreads, weights)
    common, of_common = _mixture(mean[:, None], 1.0 / precision[:, None], weights)
    return Shrinkage(
        values=tuple(value.tolist()),
        intervals=tuple(_interval(v, d, z=z, level=level, kind="shrunken") for v, d in zip(value, deviation, strict=True)),
        common=_interval(common[0], of_common[0], z=z, level=level, kind="common"),
        spread=float(weights @ spread),
    )


def _mixture(means: FloatArray, variances: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of a mixture of normal distributions, from shape (steps, G)."""
    mean = weights @ means
    return mean, np.sqrt(weights @ (variances + (means - mean) ** 2))


def _interval(value: float, deviation: float, *, z: float, level: float, kind: str) -> Interval:
    return Interval(kind=kind, low=float(value - z * deviation), high=float(value + z * deviation), level=level)
