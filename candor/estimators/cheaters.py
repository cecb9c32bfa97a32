"""How many people did not follow the die: the paper's closed form, its influence function, and the rule at the boundary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from candor.designs.design import Design, FloatArray
from candor.designs.identification import truth_is_equal
from candor.errors import NotIdentifiedError
from candor.estimators.counts import NO, YES, margins_of
from candor.estimators.joint_estimates import ROUNDING


def subsample_weights(design: Design) -> FloatArray:
    """The weights w with x̂ = Σ_s w_s·(m(·,s) − q), q = 0 when it is unknown.

    Returns
    -------
    ndarray, shape (S,)

    Raises
    ------
    NotIdentifiedError
        When the design does not identify x under its cheater model.

    Notes
    -----
    m(·,s) − q = t_s·Π + (f1_s − q)·x, plus C when q is unknown. So w must satisfy Σw_s·t_s = 0, Σw_s·(f1_s − q) = 1 and, with q unknown,
    Σw_s = 0; among several solutions we take the one with the least Σ w_s²/P(S = s). Mirrored: w = (1, −1)/(f1₁ − f1₂); two subsamples
    with q known: w = (t₂, −t₁)/(D − qΔt), the statistics page's equation (2).

    Examples
    --------
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> subsample_weights(design).round(6).tolist()
    [-6.0, 6.0]
    """
    if not design.identification.honest_proportion:
        raise NotIdentifiedError(f"the honest proportion is not identified: {design.identification.assumption}")
    known = design.cheater_model.yes_rate
    ones = np.ones(len(design.subsamples))
    rows = [design.forced_yes - float(known or 0)]
    if not truth_is_equal(design.forced_responses):
        rows.append(design.truth)
    if known is None or truth_is_equal(design.forced_responses):
        rows.append(ones)
    constraints = np.array(rows)
    target = np.zeros(len(rows))
    target[0] = 1
    spread = design.subsample_shares[:, None] * constraints.T
    weights: FloatArray = spread @ np.linalg.solve(constraints @ spread, target)
    return weights


def influence_of_honest_proportion(counts: FloatArray, design: Design) -> FloatArray:
    """ξ, one person's contribution to x̂ in each cell; shape (..., K, S, 2) like the counts.

    Notes
    -----
    ξ = w_s·(ỹ − m(·,s))/p_s with realised shares p_s. The variance of x̂ is Σ counts·ξ² / n².
    """
    weights, margins = subsample_weights(design), margins_of(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = weights * margins.n[..., None] / margins.subsample_sizes
    influence = scale[..., None] * (np.arange(2) - margins.subsample_means[..., None])
    return np.broadcast_to(influence[..., None, :, :], counts.shape).copy()


def log_likelihood_if_nobody_is_honest(counts: FloatArray, design: Design, *, arm_specific_cheaters: bool = False) -> FloatArray:
    """Log-likelihood of count tables (..., K, S, 2) at x = 0, where everybody says yes at rate q (estimated when unknown, in every arm by
    itself if ``arm_specific_cheaters``); shape (...)."""
    no, yes = counts[..., NO].sum(axis=-1), counts[..., YES].sum(axis=-1)
    if not arm_specific_cheaters:
        no, yes = no.sum(axis=-1, keepdims=True), yes.sum(axis=-1, keepdims=True)
    known = None if arm_specific_cheaters else design.cheater_model.yes_rate
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = yes / (no + yes) if known is None else np.full_like(yes, float(known))
        return np.asarray((xlogy(yes, rate) + xlogy(no, 1 - rate)).sum(axis=-1), dtype=float)


def log_likelihood_if_everybody_is_honest(counts: FloatArray, design: Design) -> FloatArray:
    """Log-likelihood of count tables (..., K, S, 2) at x = 1, maximised over every arm's prevalence in [0, 1]; shape (...).

    Notes
    -----
    In each arm the log-likelihood Σ_s yes·ln(t_s p + f1_s) + no·ln(1 − t_s p − f1_s) is concave in p; its derivative is bisected to 2⁻⁴⁰.
    """
    no, yes, truth, forced = counts[..., NO], counts[..., YES], design.truth, design.forced_yes
    low, high = np.zeros(counts.shape[:-2]), np.ones(counts.shape[:-2])
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(40):
            middle = (low + high) / 2
            mean = truth * middle[..., None] + forced
            rising = (truth * (yes / mean - no / (1 - mean))).sum(axis=-1) > 0
            low, high = np.where(rising, middle, low), np.where(rising, high, middle)
        mean = truth * ((low + high) / 2)[..., None] + forced
        return np.asarray((xlogy(yes, mean) + xlogy(no, 1 - mean)).sum(axis=(-1, -2)), dtype=float)


def constrained_honest_proportion(
    counts: FloatArray, raw: FloatArray, design: Design, *, arm_specific_cheaters: bool = False
) -> FloatArray:
    """The boundary rule: x̂ itself when it lies in [0, 1], otherwise whichever of x = 0 and x = 1 has the higher likelihood.

    Parameters
    ----------
    counts : ndarray, shape (..., K, S, 2)
    raw : ndarray, shape (...)
        x̂ before the rule; NaN stays NaN.
    design : Design
    arm_specific_cheaters : bool
        Whether the model of ``raw`` lets cheaters differ by arm, so that nobody honest means one rate for every arm.

    References
    ----------
    Clark, S. J. & Desharnais, R. A. (1998). Honest answers to embarrassing questions: detecting cheating in the randomized response model.
    Psychological Methods 3, 160–168.
    """
    used = np.asarray(np.clip(raw, 0.0, 1.0))
    outside = np.abs(used - raw) > ROUNDING
    if np.any(outside):
        tables = counts[outside]
        nobody = log_likelihood_if_nobody_is_honest(tables, design, arm_specific_cheaters=arm_specific_cheaters)
        honest = log_likelihood_if_everybody_is_honest(tables, design) >= nobody
        used[outside] = np.where(honest, 1.0, 0.0)
    return used


@dataclass(frozen=True, slots=True, kw_only=True)
class CheaterProportions:
    """λ̂ of a batch of count tables, each field of shape (...): before and after the boundary rule, and the sampling variance of ``raw``."""

    raw: FloatArray
    constrained: FloatArray
    variance: FloatArray


def cheater_proportion_kernel(counts: FloatArray, design: Design) -> CheaterProportions:
    """λ̂ = 1 − x̂ of many count tables at once.

    Parameters
    ----------
    counts : ndarray of float, shape (..., K, S, 2)
        Not checked; tables in which a whole subsample is empty give NaN.
    design : Design

    Raises
    ------
    NotIdentifiedError
        When the design does not identify x under its cheater model.

    Notes
    -----
    Assumes that cheaters answer yes at one rate q in every arm and subsample. x̂ as in `subsample_weights`, with m(·,s) the share of yes
    among all answers of subsample s.

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data, equation (6).

    Examples
    --------
    Subsample 1 says yes 9 times of 20, subsample 2 12 times of 20: x̂ = (12/20 − 9/20)·6 = .9.

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> estimate = cheater_proportion_kernel(np.array([[[6.0, 4.0], [5.0, 5.0]], [[5.0, 5.0], [3.0, 7.0]]]), design)
    >>> round(float(estimate.raw), 6), round(float(estimate.variance), 6)
    (0.1, 0.8775)
    """
    weights, margins = subsample_weights(design), margins_of(counts)
    known = float(design.cheater_model.yes_rate or 0)
    honest = np.asarray((margins.subsample_means - known) @ weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = margins.subsample_means * (1 - margins.subsample_means) / margins.subsample_sizes @ weights**2
    constrained = constrained_honest_proportion(counts, honest, design)
    return CheaterProportions(raw=1 - honest, constrained=1 - constrained, variance=np.asarray(variance))
