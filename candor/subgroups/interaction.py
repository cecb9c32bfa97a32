"""Do the groups differ? Tests of one Δ, and of one τ, in all groups."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtrc

from candor.designs.design import FloatArray
from candor.subgroups.results import EFFECT, HONEST_TIMES_EFFECT, InteractionTest

_STEPS = 801


def same_honest_times_effect(values: FloatArray, variances: FloatArray, *, treatment: str, control: str) -> InteractionTest:
    """Test that Δ is the same in all groups.

    Parameters
    ----------
    values, variances : ndarray of shape (G,)
        Δ̂ and its sampling variance in each group.

    Notes
    -----
    Wald's statistic Q = Σ (Δ̂_g − Δ̄)²/V_g with Δ̄ the mean weighted by 1/V_g, about χ² with G − 1 degrees of freedom. Groups may differ in
    Δ because their effects differ, or because their shares of cheaters do.

    References
    ----------
    Cochran, W. G. (1954). The combination of estimates from different experiments. Biometrics 10, 101–129.

    Examples
    --------
    Two groups, .4 and .1 with variances of .01: the mean is .25, and Q = 2·.15²/.01.

    >>> test = same_honest_times_effect(np.array([0.4, 0.1]), np.array([0.01, 0.01]), treatment="b", control="a")
    >>> round(test.statistic, 6), test.df, round(test.p_value, 4)
    (4.5, 1, 0.0339)
    """
    weights = 1.0 / variances
    mean = weights @ values / weights.sum()
    statistic = float(weights @ (values - mean) ** 2)
    return chi_squared_test(statistic, df=len(values) - 1, of=HONEST_TIMES_EFFECT, treatment=treatment, control=control)


def same_effect(
    numerator: FloatArray,
    denominator: FloatArray,
    *,
    numerator_variance: FloatArray,
    denominator_variance: FloatArray,
    covariance: FloatArray,
    treatment: str,
    control: str,
) -> InteractionTest:
    """Test that τ is the same in all groups, whatever the shares of honest people in them.

    Parameters
    ----------
    numerator, denominator : ndarray of shape (G,)
        Δ̂ and x̂ of each group, before the boundary rule.
    numerator_variance, denominator_variance, covariance : ndarray of shape (G,)

    Notes
    -----
    Q = min over τ in [−1, 1] of Σ (Δ̂_g − τx̂_g)²/(V_Δ − 2τC + τ²V_x), about χ² with G − 1 degrees of freedom. No group's x̂ is divided by,
    so that the level holds where few answers hardly tell it from zero, as Fieller's interval does for one group [1]_.

    References
    ----------
    .. [1] Anderson, T. W. & Rubin, H. (1949). Estimation of the parameters of a single equation in a complete system of stochastic
       equations. Annals of Mathematical Statistics 20, 46–63.

    Examples
    --------
    Twice the honest share makes twice the Δ; τ = .5 fits both groups exactly:

    >>> known = {"numerator_variance": np.full(2, 0.01), "denominator_variance": np.full(2, 0.01), "covariance": np.zeros(2)}
    >>> test = same_effect(np.array([0.4, 0.2]), np.array([0.8, 0.4]), **known, treatment="b", control="a")
    >>> round(test.statistic, 6), test.df, round(test.p_value, 4)
    (0.0, 1, 1.0)
    """

    def off(effect: FloatArray | float) -> FloatArray:
        one = np.asarray(effect)[..., None]
        spread = numerator_variance - 2.0 * one * covariance + one**2 * denominator_variance
        return np.asarray(((numerator - one * denominator) ** 2 / spread).sum(axis=-1))

    places = np.linspace(-1.0, 1.0, _STEPS)
    best = places[int(np.argmin(off(places)))]
    width = places[1] - places[0]
    near = minimize_scalar(lambda effect: float(off(effect)), bounds=(max(best - width, -1.0), min(best + width, 1.0)), method="bounded")
    statistic = min(float(near.fun), float(off(best)))
    return chi_squared_test(statistic, df=len(numerator) - 1, of=EFFECT, treatment=treatment, control=control)


def chi_squared_test(statistic: float, *, df: int, of: str, treatment: str, control: str) -> InteractionTest:
    """The test of a statistic that is about χ² if the groups are alike, and at least 0 but for rounding."""
    p_value = float(chdtrc(df, max(statistic, 0.0)))
    return InteractionTest(treatment=treatment, control=control, of=of, statistic=statistic, df=df, p_value=p_value)
