"""The paper's first estimator: difference of reported means over (honest share × probability of being asked for the truth)."""

from __future__ import annotations

import numpy as np

from candor.designs.design import Design, FloatArray
from candor.estimators.cheaters import constrained_honest_proportion, influence_of_honest_proportion, subsample_weights
from candor.estimators.counts import YES, margins_of
from candor.estimators.joint_estimates import NOBODY_IS_HONEST, JointEstimates


def influence_of_honest_times_effect(counts: FloatArray, design: Design) -> FloatArray:
    """ψ_Δ, one person's contribution to every Δ̂ in each cell; shape (..., K − 1, K, S, 2).

    Notes
    -----
    For the contrast of arm a with the control 0:

        ψ_Δ = [ 1{A=a}(ỹ − m(a,·))/π_a − 1{A=0}(ỹ − m(0,·))/π_0 − Δ̂·(t_S − t̄) ] / t̄

    The last term is the influence of the *realised* t̄ (zero in mirrored designs). Leaving it out would treat t̄ as fixed; with it,
    Σ counts·ψ²/n² is exactly the delta-method variance under multinomial sampling. In expectation it takes Δ²·Var(t_S)/(n t̄²) away, since
    Cov(φ, t_S) = Δ·Var(t_S).
    """
    margins = margins_of(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_arm = (margins.n[..., None] / margins.arm_sizes)[..., None] * (np.arange(2) - margins.arm_means[..., None])
        shares = margins.subsample_sizes / margins.n[..., None]
        difference = margins.arm_means[..., design.treatment_indexes] - margins.arm_means[..., [design.control_index]]
    mean_truth = shares @ design.truth
    delta = difference / mean_truth[..., None]
    influence = np.zeros((*counts.shape[:-3], len(design.treatments), *counts.shape[-3:]))
    for contrast, arm in enumerate(design.treatment_indexes):
        influence[..., contrast, arm, :, :] += by_arm[..., arm, None, :]
        influence[..., contrast, design.control_index, :, :] -= by_arm[..., design.control_index, None, :]
    influence -= (delta[..., None] * (design.truth - mean_truth[..., None])[..., None, :])[..., None, :, None]
    return np.asarray(influence / mean_truth[..., None, None, None, None])


def null_variance_of_difference(counts: FloatArray, design: Design) -> FloatArray:
    """The variance that every Δ̂ would have without an effect: that of the pooled share of yes in the two arms; shape (..., K − 1).

    Notes
    -----
    m(1 − m)(1/n_a + 1/n_0)/t̄² with m the share of yes in both arms together, times (n_a + n_0)/(n_a + n_0 − 1).
    """
    margins = margins_of(counts)
    treated, control = margins.arm_sizes[..., design.treatment_indexes], margins.arm_sizes[..., [design.control_index]]
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = margins.arm_means * margins.arm_sizes
        both = treated + control
        pooled = (yes[..., design.treatment_indexes] + yes[..., [design.control_index]]) / both
        mean_truth = margins.subsample_sizes / margins.n[..., None] @ design.truth
        variance = pooled * (1 - pooled) * (1 / treated + 1 / control) * both / np.maximum(both - 1, 1)
        return np.asarray(variance / mean_truth[..., None] ** 2)


def difference_in_means_kernel(counts: FloatArray, design: Design) -> JointEstimates:
    """Δ̂, x̂ and τ̂ = Δ̂/x̂ of many count tables at once, without a Python loop over them.

    Parameters
    ----------
    counts : ndarray of float, shape (..., K, S, 2)
        Not checked; tables with an empty arm or subsample give NaN.
    design : Design

    Returns
    -------
    JointEstimates
        Batch shape (...). x̂ is NaN when it is not identified.

    Notes
    -----
    Assumes that cheaters answer alike in every arm (and subsample, for x̂). Δ̂ = (m(a,·) − m(0,·))/t̄ with m(a,·) the share of yes in arm a
    and t̄ = Σ_s p_s·t_s over the realised subsample shares; τ̂ = Δ̂/x̂ with x̂ after the boundary rule. Variances are those of the influence
    functions, Σ counts·ψ²/n².

    References
    ----------
    Kancharla, M. & Kang, H. (2021). A robust, differentially private randomized experiment for evaluating online educational programs with
    sensitive student data, equation (5).

    Examples
    --------
    Half of each arm gives .4 and .6 yes; t̄ = 1/2, so Δ̂ = (.6 − .4)/.5 = .4; the subsamples say yes .45 and .55, so x̂ = .1·6 = .6:

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> estimate = difference_in_means_kernel(np.array([[[13.0, 7.0], [11.0, 9.0]], [[9.0, 11.0], [7.0, 13.0]]]), design)
    >>> estimate.honest_times_effect.round(6).tolist(), round(float(estimate.honest_proportion), 6), estimate.effect.round(6).tolist()
    ([0.4], 0.6, [0.666667])
    """
    margins = margins_of(counts)
    batch, contrasts = counts.shape[:-3], len(design.treatments)
    by_contrast = influence_of_honest_times_effect(counts, design)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_truth = margins.subsample_sizes / margins.n[..., None] @ design.truth
        difference = margins.arm_means[..., design.treatment_indexes] - margins.arm_means[..., [design.control_index]]
        delta = difference / mean_truth[..., None]
        square = margins.n[..., None] ** 2
        delta_variance = np.einsum("...ksy,...cksy->...c", counts, by_contrast**2) / square
        null_variance = null_variance_of_difference(counts, design)
        if not design.identification.honest_proportion:
            unknown = np.full(batch, np.nan)
            return JointEstimates(
                honest_times_effect=delta,
                honest_times_effect_variance=delta_variance,
                honest_proportion=unknown,
                honest_proportion_variance=unknown,
                covariance=np.full((*batch, contrasts), np.nan),
                honest_proportion_used=unknown,
                honest_times_effect_null_variance=null_variance,
            )
        ξ = influence_of_honest_proportion(counts, design)
        honest = np.asarray((margins.subsample_means - float(design.cheater_model.yes_rate or 0)) @ subsample_weights(design))
        return JointEstimates(
            honest_times_effect=delta,
            honest_times_effect_variance=delta_variance,
            honest_proportion=honest,
            honest_proportion_variance=np.asarray(np.einsum("...ksy,...ksy->...", counts, ξ**2) / margins.n**2),
            covariance=np.einsum("...ksy,...ksy,...cksy->...c", counts, ξ, by_contrast) / square,
            honest_proportion_used=constrained_honest_proportion(counts, honest, design),
            honest_times_effect_null_variance=null_variance,
        )


def unconstrained_honest_proportion(counts: FloatArray, design: Design) -> FloatArray:
    """x̂ of `difference_in_means_kernel` before the boundary rule, and nothing else, for resamples; shape (...)."""
    cells = counts.sum(axis=-3)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = cells[..., YES] / cells.sum(axis=-1)
    return np.asarray((means - float(design.cheater_model.yes_rate or 0)) @ subsample_weights(design))


def difference_in_means_ratios(counts: FloatArray, design: Design) -> FloatArray:
    """Δ̂/x̂ of `difference_in_means_kernel` before the boundary rule, and nothing else, for resamples; shape (..., K − 1)."""
    yes, cells = counts[..., YES], counts.sum(axis=-1)
    arms, subsamples = cells.sum(axis=-1), cells.sum(axis=-2)
    honest = unconstrained_honest_proportion(counts, design)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = yes.sum(axis=-1) / arms
        scale = subsamples @ design.truth / subsamples.sum(axis=-1) * np.where(honest > NOBODY_IS_HONEST, honest, np.nan)
        return np.asarray((means[..., design.treatment_indexes] - means[..., [design.control_index]]) / scale[..., None])
