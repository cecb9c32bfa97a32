"""Δ̂ and x̂ with their joint covariance, from which every method's effect estimate is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candor.designs.design import FloatArray

ROUNDING = 1e-9
"""Shares closer than this are the same number, blurred by rounding."""

NOBODY_IS_HONEST = ROUNDING
"""An x̂ up to this is zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointEstimates:
    """Estimates of Δ = xτ for every contrast and of x, for a batch of data sets.

    Parameters
    ----------
    honest_times_effect : ndarray, shape (..., K − 1)
        Δ̂, in the order of ``design.treatments``.
    honest_times_effect_variance : ndarray, shape (..., K − 1)
        Sampling variance of Δ̂.
    honest_proportion : ndarray, shape (...)
        x̂ before the boundary rule; NaN when the design does not identify it.
    honest_proportion_variance : ndarray, shape (...)
    covariance : ndarray, shape (..., K − 1)
        Sampling covariance of Δ̂ and x̂.
    honest_proportion_used : ndarray, shape (...)
        x̂ after the boundary rule, in [0, 1].
    numerator_used : ndarray, shape (..., K − 1), optional
        Δ̂ given that x is ``honest_proportion_used``, where the method has such a thing (a constrained fit); otherwise Δ̂.
    honest_times_effect_null_variance : ndarray, shape (..., K − 1), optional
        Sampling variance of Δ̂ if Δ were 0, where the method has such a thing.
    """

    honest_times_effect: FloatArray
    honest_times_effect_variance: FloatArray
    honest_proportion: FloatArray
    honest_proportion_variance: FloatArray
    covariance: FloatArray
    honest_proportion_used: FloatArray
    numerator_used: FloatArray | None = None
    honest_times_effect_null_variance: FloatArray | None = None

    @property
    def test_variance(self) -> FloatArray:
        """The variance of Δ̂ in the test of Δ = 0 and in Fieller's set, shape (..., K − 1): the larger of the two.

        Notes
        -----
        The variance at the estimates is too small too often where an arm is small, because it is smallest just when the arm's answers are
        most alike by chance; that without an effect pools the arms and hardly varies. The larger one serves the test and the interval
        alike, so that the interval contains 0 exactly when the test does not reject.
        """
        if self.honest_times_effect_null_variance is None:
            return self.honest_times_effect_variance
        return np.maximum(self.honest_times_effect_variance, self.honest_times_effect_null_variance)

    @property
    def _honest(self) -> FloatArray:
        """x̂ where it may be divided by, else NaN."""
        return np.where(self.honest_proportion_used > NOBODY_IS_HONEST, self.honest_proportion_used, np.nan)

    @property
    def effect(self) -> FloatArray:
        """τ̂, shape (..., K − 1); NaN where nobody is honest or x is not identified."""
        numerator = self.honest_times_effect if self.numerator_used is None else self.numerator_used
        return np.asarray(numerator / self._honest[..., None])

    @property
    def raw_effect(self) -> FloatArray:
        """Δ̂/x̂ before the boundary rule, also for x̂ above 1, shape (..., K − 1); NaN where x̂ is not above 0. Intervals are about this
        ratio.
        """
        honest = np.where(self.honest_proportion > NOBODY_IS_HONEST, self.honest_proportion, np.nan)
        return np.asarray(self.honest_times_effect / honest[..., None])

    @property
    def standard_error(self) -> FloatArray:
        """Delta-method standard error of τ̂, shape (..., K − 1).

        Notes
        -----
        With ψ = (ψ_Δ − τ̂ξ)/x̂ the variance is (V_Δ − 2τ̂C + τ̂²V_x)/x̂². At the boundary x = 1 the full variance of x̂ is kept, which errs on
        the side of too wide.
        """
        effect, honest = self.effect, self._honest[..., None]
        variance = self.honest_times_effect_variance - 2 * effect * self.covariance + effect**2 * self.honest_proportion_variance[..., None]
        return np.asarray(np.sqrt(np.maximum(variance, 0)) / honest)
