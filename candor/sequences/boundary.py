"""How far chance may carry an estimate, and how much a distance speaks against a hypothesis, whenever somebody looks."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

from candor.errors import MethodError
from candor.estimators.intervals import normal_quantile

FloatArray = npt.NDArray[np.float64]
LEVEL_OF_RHO = 0.95
"""ρ is tuned for this level whatever the level of an interval is: the e-values of a family must come from one and the same martingale."""


def tuned_rho(planned_n: float, *, level: float = LEVEL_OF_RHO) -> float:
    """The ρ that makes a confidence sequence narrowest at the planned number of participants.

    Parameters
    ----------
    planned_n : float
        Number of participants at which most will be decided, at least 1. It must not be chosen after looking.
    level : float
        Coverage of the sequence.

    Notes
    -----
    ρ = sqrt( (−2 ln α + ln(1 − 2 ln α)) / n ), an approximation of the exact minimum whose width differs by less than 1 %.

    References
    ----------
    Waudby-Smith, I., Arbour, D., Sinha, R., Kennedy, E. H. & Ramdas, A. (2024). Time-uniform central limit theory and asymptotic confidence
    sequences. Annals of Statistics 52, 2613–2640 (first version 2021).

    Examples
    --------
    -2 ln .05 = 5.991 and ln 6.991 = 1.945, so ρ² = 7.936/1000:

    >>> round(tuned_rho(1000), 4)
    0.0891
    """
    normal_quantile(level)
    if not (math.isfinite(planned_n) and planned_n >= 1):
        raise MethodError(f"the planned number of participants must be at least 1, not {planned_n!r}")
    logarithm = -2 * math.log(1 - level)
    return math.sqrt((logarithm + math.log(1 + logarithm)) / planned_n)


def anytime_multiplier(n: float, *, rho: float, level: float = 0.95) -> float:
    """Half-width of a confidence sequence in standard errors σ̂/√n, in place of 1.96.

    Notes
    -----
    half-width = σ̂·sqrt( 2(nρ² + 1)/(n²ρ²) · ln( sqrt(nρ² + 1)/α ) ), so the multiple of σ̂/√n is that with n² replaced by n. It is the
    distance at which `log_e_value` reaches ln(1/α).

    Examples
    --------
    With nρ² = 1 and α = .05: sqrt(4·ln(√2/.05)) = 3.656.

    >>> round(anytime_multiplier(100, rho=0.1), 3)
    3.656
    """
    normal_quantile(level)
    if not (n >= 1 and rho > 0):
        raise MethodError(f"a confidence sequence needs n of at least 1 and rho above 0, not n = {n!r} and rho = {rho!r}")
    scaled = n * rho**2
    return math.sqrt(2 * (scaled + 1) / scaled * math.log(math.sqrt(scaled + 1) / (1 - level)))


def log_e_value(squared_distance: npt.ArrayLike, *, n: npt.ArrayLike, rho: float, df: int = 1) -> FloatArray:
    """The logarithm of the evidence that an estimate gives against a hypothesis: at any time above ln 20 with a chance of 1/20 at most.

    Parameters
    ----------
    squared_distance : array_like
        uᵀV⁻¹u, where u is the estimate of ``df`` numbers that are zero under the hypothesis, V its covariance: z², or the statistic J.
    n : array_like
        Participants so far.
    rho : float
        See `tuned_rho`.
    df : int
        How many numbers; 0 gives no evidence.

    Notes
    -----
    V⁻¹u is a sum over participants, nearly a Gaussian random walk with covariance V⁻¹. If its drift is drawn from N(0, ρ²·n·V) (which
    does not depend on n), the likelihood ratio against no drift is e = (1 + nρ²)^(−df/2)·exp( ½·u'V⁻¹u·nρ²/(1 + nρ²) ), a martingale
    that starts at 1; by Ville's inequality it ever reaches 1/α with a chance of α at most.

    References
    ----------
    Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. Annals of Mathematical Statistics 41, 1397–1409.

    Examples
    --------
    nρ² = 1 and z = 2: (1/√2)·exp(½·4·½) = 1.922.

    >>> round(float(np.exp(log_e_value(4.0, n=100, rho=0.1))), 3)
    1.922
    """
    scaled = np.asarray(n, float) * rho**2
    return np.asarray(np.asarray(squared_distance, float) * scaled / (1 + scaled) / 2 - df / 2 * np.log1p(scaled))


def log_one_sided_e_values(distance: npt.ArrayLike, *, n: npt.ArrayLike, rho: float) -> tuple[FloatArray, FloatArray]:
    """Logarithms of the evidence against "zero or less" and against "zero or more".

    Parameters
    ----------
    distance : array_like
        z, the estimate over its standard error.
    n, rho
        See `log_e_value`.

    Notes
    -----
    Drift is drawn from the positive, or the negative, half of the same normal distribution, so that the two e-values are
    2e·Φ(±z·sqrt(nρ²/(1 + nρ²))) and their mean is the two-sided e.

    Examples
    --------
    >>> up, down = np.exp(log_one_sided_e_values(2.0, n=100, rho=0.1))
    >>> round(float(up), 3), round(float(down), 3), round(float(up + down) / 2, 3)
    (3.542, 0.302, 1.922)
    """
    z, scaled = np.asarray(distance, float), np.asarray(n, float) * rho**2
    both, shrunk = log_e_value(z**2, n=n, rho=rho), z * np.sqrt(scaled / (1 + scaled))
    return np.asarray(math.log(2) + both + log_ndtr(shrunk)), np.asarray(math.log(2) + both + log_ndtr(-shrunk))
