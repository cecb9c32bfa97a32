"""Tests that an effect is smaller than a margin, from the counts of one sensitive question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from candor.designs.design import Design, FloatArray
from candor.equivalence.margins import Margin, MarginTest
from candor.equivalence.score_test import score_statistic
from candor.estimators.cell_means import CellModel, cell_model
from candor.estimators.counts import checked_counts
from candor.estimators.intervals import normal_quantile
from candor.estimators.multiplicity import holm
from candor.results import Interval

FARTHEST = 1 - 1e-6
"""The largest effect that is tried: at 1 itself the means reach the ends of what is possible."""
OF_DELTA = (
    "This design does not identify τ, so the margin is held against Δ, the honest share times the effect, which is never the larger one: "
    "the effect among honest people may still reach the margin."
)
NOBODY_HONEST = "No test: the honest share is estimated at zero or less, so that no size of the effect among honest people can be excluded."
NO_VARIATION = "No test: everybody in an arm gave the same answer in every subsample."


def margin_tests(counts: npt.ArrayLike, *, design: Design, margin: Margin, level: float = 0.95) -> tuple[MarginTest, ...]:
    """Test every contrast of one question for equivalence or non-inferiority.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, 2)
        As for `candor.estimators.effects.estimate_outcome`.
    design : Design
    margin : Margin
        Named before the data were seen.
    level : float
        1 − the level α of the one-sided tests.

    Returns
    -------
    tuple of MarginTest
        One for each treatment arm.

    Raises
    ------
    DataError
        Counts of the wrong shape, negative or fractional.
    TooFewResponsesError
        When a cell of arm × subsample is empty.

    Notes
    -----
    Assumes what the design assumes about cheaters. The hypothesis τ = τ₀ is the linear one Δ − τ₀x = 0 of the cell means, so nothing is
    divided by x̂, and the test keeps its size however little is known of the honest share. z(τ₀) is its score statistic (`score_statistic`).
    Non-inferiority rejects τ ≥ δ when z(δ) < −z_α, or τ ≤ −δ when z(−δ) > z_α, and when the same holds at τ = ±1, where it may fail if x̂
    is small. Equivalence is both at once, and its p-value the larger of the two [1]_. Where τ is not identified the hypotheses are Δ = ±δ.

    References
    ----------
    .. [1] Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence
       of average bioavailability. Journal of Pharmacokinetics and Biopharmaceutics 15, 657–680.

    Examples
    --------
    The same answers in both arms: a difference as large as the margin of 50 points is as far below as above.

    >>> design = Design.of(arms=("slides", "face"), control="slides", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> cells = [[550, 450], [390, 610]]
    >>> test, = margin_tests([cells, cells], design=design, margin=Margin(size=0.5))
    >>> test.quantity, abs(test.interval.low + test.interval.high) < 1e-6, test.p_value < 0.001
    ('effect', True, True)
    """
    normal_quantile(level)
    table = checked_counts(counts, design=design)
    found = [_test(table, contrast, design=design, margin=margin, level=level) for contrast in range(len(design.treatments))]
    adjusted = holm([test.p_value for test in found])
    return tuple(replace(test, adjusted_p_value=p_value) for test, p_value in zip(found, adjusted, strict=True))


def _test(table: FloatArray, contrast: int, *, design: Design, margin: Margin, level: float) -> MarginTest:
    identified = design.identification.effect

    def statistic(effect: float) -> float:
        return float(contrast_statistic(table, effect, design=design, contrast=contrast))

    interval: Interval | None = None
    p_value: float | None = None
    reasons: tuple[str, ...] = () if identified else (OF_DELTA,)
    if not (table.min(axis=-1).max(axis=-1) > 0).all():
        reasons += (NO_VARIATION,)
    elif statistic(-FARTHEST) <= statistic(FARTHEST):
        reasons += (NOBODY_HONEST,)
    else:
        above = max(float(ndtr(-statistic(effect))) for effect in (-FARTHEST, -margin.size))
        below = max(float(ndtr(statistic(effect))) for effect in (margin.size, FARTHEST))
        p_value = {"more_yes": below, "fewer_yes": above}.get(margin.worse or "", max(above, below))
        interval = _interval(statistic, level=level)
    return MarginTest(
        treatment=design.treatments[contrast],
        control=design.control,
        kind=margin.kind,
        worse=margin.worse,
        margin=margin.size,
        quantity="effect" if identified else "honest_times_effect",
        interval=interval,
        p_value=p_value,
        adjusted_p_value=None,
        notes=reasons,
    )


def contrast_statistic(tables: FloatArray, effect: float, *, design: Design, contrast: int = 0) -> FloatArray:
    """z of the hypothesis that a contrast is as large as given, for many count tables at once.

    Parameters
    ----------
    tables : ndarray of float, shape (..., K, S, 2)
        Not checked; no cell may be empty.
    effect : float
        τ₀, or Δ₀ where the design does not identify τ; strictly between −1 and 1.
    design : Design
    contrast : int
        Which treatment arm, in the order of ``design.treatments``.

    Returns
    -------
    ndarray, shape (...)
        Positive where the answers speak for a larger one.
    """
    model = cell_model(design)
    everybody_honest = np.tile(design.truth / 2 + design.forced_yes, design.shape[0]) - model.offset
    half = np.asarray(np.linalg.lstsq(model.matrix, everybody_honest)[0], dtype=float)
    # With everybody honest and prevalences of (1 ± effect)/2 the hypothesis holds, of Δ as of τ.
    statistic = score_statistic(
        tables.reshape(-1, len(model.matrix), 2),
        model.matrix,
        offset=model.offset,
        hypothesis=_hypothesis(model, contrast, effect),
        inside=half + effect / 2 * model.contrasts[contrast],
    )
    return statistic.reshape(tables.shape[:-3])


def _hypothesis(model: CellModel, contrast: int, effect: float) -> FloatArray:
    """c of Δ − effect·x, or of Δ where x is not identified."""
    hypothesis: FloatArray = model.contrasts[contrast].copy()
    if model.honest is not None:
        hypothesis[model.honest] = -effect
    return hypothesis


def _interval(statistic: Callable[[float], float], *, level: float) -> Interval:
    """Where neither one-sided test rejects, in [−1, 1]."""
    z = float(ndtri(level))
    low = _crossing(lambda effect: statistic(effect) - z)
    high = _crossing(lambda effect: statistic(effect) + z)
    return Interval(kind="score", low=low, high=high, level=round(2 * level - 1, 12))


def _crossing(distance: Callable[[float], float]) -> float:
    """Where a distance that falls with the effect is zero; the end of [−1, 1] beyond which it would be."""
    if distance(-FARTHEST) <= 0:
        return -1.0
    if distance(FARTHEST) >= 0:
        return 1.0
    return float(brentq(distance, -FARTHEST, FARTHEST, xtol=1e-8))
