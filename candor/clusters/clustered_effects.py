"""The efficient estimate for people who were assigned in clusters or within strata, with an uncertainty that knows the assignment."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from candor.categories.linear_model import CategoryFit
from candor.clusters.cell_covariance import ClusteredCells, clustered_cells
from candor.clusters.people import AssignedTogether, Whole
from candor.clusters.randomisation import randomisation_p_values
from candor.designs.design import FloatArray
from candor.errors import MethodError
from candor.estimators.cell_means import CellFit, maximum_likelihood_fit
from candor.estimators.cheaters import constrained_honest_proportion
from candor.estimators.contrasts import defined, effects_from_joint_estimates
from candor.estimators.counts import checked_counts
from candor.estimators.effects import INFINITE_EPSILON, NO_CHEATER_PROPORTION, NOT_CONVERGED, about_few_answers
from candor.estimators.intervals import cut_to, student_quantile, wald_interval
from candor.estimators.joint_estimates import JointEstimates
from candor.results import CLUSTERED, FEW_CLUSTERS, STRATIFIED, AssignmentInference, CheaterProportion, OutcomeEstimate

FEW = (
    "Arm {arm!r} has the worth of {worth:.1f} clusters of one size: with so few the intervals rest on the t-distribution with {df:.1f} "
    "degrees of freedom; read the randomisation test beside them."
)
NOTHING = 1e-14
"""A variance this small is zero, blurred by rounding: there is no standard error."""
NO_TEST = "No test of the model and no bounds: they are not known for people who were assigned together."


def estimate_assigned_together(
    people: AssignedTogether, *, rng: np.random.Generator, level: float = 0.95
) -> tuple[OutcomeEstimate, AssignmentInference]:
    """Cheater proportion and effects of one question for people assigned in clusters or within strata.

    Parameters
    ----------
    people : AssignedTogether
    rng : numpy.random.Generator
        For the randomisation test of many clusters.
    level : float

    Returns
    -------
    OutcomeEstimate
        Its effects are of the method ``efficient_clustered``, or ``efficient_stratified`` where everybody was assigned alone.
    AssignmentInference

    Notes
    -----
    β̂ = (M′WM)⁻¹M′W(m̂ − q) with the weights W of the maximum-likelihood fit, so that without strata the estimate is that of
    `maximum_likelihood_fit`; its covariance is the sandwich of CR2 (`clustered_cells`). Intervals and tests use Student's t with Welch's
    degrees of freedom (Σ V_a)²/Σ V_a²/(G_a − 1), where V_a is the part of arm a in the variance of Δ̂ and G_a = (Σn)²/Σn² its
    number of clusters of one size, less one for every stratum of clusters beyond the first. Assumes independent clusters.

    References
    ----------
    Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage samples. Survey
    Methodology 28, 169–181. Pustejovsky, J. E. & Tipton, E. (2018). Small-sample methods for cluster-robust variance estimation and
    hypothesis testing in fixed effects models. Journal of Business & Economic Statistics 36, 672–683.
    """
    design, table = people.design, checked_counts(people.counts, design=people.design)
    cells = clustered_cells(people)
    likelihood = maximum_likelihood_fit(table, design)
    fit, weights = _with_covariance(likelihood, table, cells)
    in_clusters = len(people.clusters) < len(people.cluster)
    method = CLUSTERED if in_clusters else STRATIFIED
    freedom = tuple(degrees_of_freedom(people, cells, (contrast @ weights)[None]) for contrast in fit.model.contrasts)
    used = np.asarray(np.nan)
    if fit.model.honest is not None:
        used = constrained_honest_proportion(table, fit.coefficients[fit.model.honest], design)
    joint = without_rounding(fit.joint_estimates(honest_proportion_used=used))
    effects = effects_from_joint_estimates(joint, design=design, method=method, level=level, freedom=freedom)
    independent = likelihood.joint_estimates().honest_times_effect_variance
    inference = AssignmentInference(
        clusters=len(people.clusters),
        strata=len(people.strata),
        degrees_of_freedom=freedom,
        randomisation_p_values=randomisation_p_values(people, rng=rng) if in_clusters else (None,) * len(effects),
        intraclass_correlation=intraclass_correlation(people) if in_clusters else None,
        clusters_per_arm=tuple(map(float, people.clusters_in_arm())),
        design_effect=tuple(
            float(clustered / alone) for clustered, alone in zip(joint.honest_times_effect_variance, independent, strict=True)
        ),
    )
    notes = about_the_study(people, fit, settled=bool(fit.converged), freedom=min(freedom))
    return OutcomeEstimate(
        n=len(people.cluster),
        epsilon=defined(design.epsilon),
        identified=design.identification.effect,
        assumption=design.identification.assumption,
        cheater_proportion=clustered_cheaters(fit, freedom=min(freedom), level=level),
        effects=effects,
        honest_times_effect=effects[0].honest_times_effect,
        bounds=None,
        model_test=None,
        specification_test=None,
        prevalence=(),
        notes=(*notes, *about_few_answers(table, design), NO_TEST),
    ), inference


def efficient_weights(likelihood: CellFit, table: FloatArray) -> FloatArray:
    """B of β̂ = B(m̂ − q), with the weights of the likelihood; shape (..., P, K·S) for tables of shape (..., K, S, 2)."""
    matrix = likelihood.model.matrix
    size, fitted = (one.reshape(*table.shape[:-3], -1) for one in (table.sum(axis=-1), likelihood.fitted))
    precision = size / np.maximum(fitted * (1 - fitted), 1 / (4 * np.maximum(size, 1)))
    weighted = matrix * precision[..., None]
    return np.asarray(np.linalg.solve(matrix.T @ weighted, np.swapaxes(weighted, -1, -2)))


def _with_covariance(likelihood: CellFit, table: FloatArray, cells: ClusteredCells) -> tuple[CellFit, FloatArray]:
    """The fit to adjusted means with the weights of the likelihood, and B of β̂ = B(m̂ − q)."""
    model, weights = likelihood.model, efficient_weights(likelihood, table)
    covariance = weights @ cells.covariance @ weights.T
    return replace(likelihood, coefficients=weights @ (cells.means - model.offset), covariance=covariance), weights


def degrees_of_freedom(people: AssignedTogether, cells: ClusteredCells, along: FloatArray) -> float:
    """Degrees of freedom of the numbers L·m̂ together, for rows L of shape (p, K·S·C); one number has Welch's.

    Notes
    -----
    (p + p²)/Σ_a {tr[(V_aV⁻¹)²] + tr[V_aV⁻¹]²}/(G_a − 1) with V_a the part of arm a in the covariance V of the p numbers [1]_.

    References
    ----------
    .. [1] Krishnamoorthy, K. & Yu, J. (2004). Modified Nel and Van der Merwe test for the multivariate Behrens–Fisher problem. Statistics &
       Probability Letters 66, 161–169.
    """
    worth = np.maximum(people.clusters_in_arm() - 1, 1e-9)
    lost = len(people.strata) - 1 if people.strata_are_of_clusters() and len(people.clusters) < len(people.cluster) else 0
    (arms, _), numbers = people.design.shape, len(along)
    of_arm = along.reshape(numbers, arms, -1)
    inside = cells.covariance.reshape(arms, of_arm.shape[2], arms, -1)
    parts = np.array([of_arm[:, arm] @ inside[arm, :, arm] @ of_arm[:, arm].T for arm in range(arms)])
    relative = parts @ np.linalg.pinv(parts.sum(axis=0), hermitian=True)
    traces = np.einsum("aij,aji->a", relative, relative) + np.einsum("aii->a", relative) ** 2
    total = float((traces / worth).sum())
    return max((numbers + numbers**2) / total - lost if total > 0 else 1.0, 1.0)


def without_rounding(joint: JointEstimates) -> JointEstimates:
    """The estimates, with no variance where it is rounding alone."""
    variance = joint.honest_times_effect_variance
    return replace(joint, honest_times_effect_variance=np.where(variance > NOTHING, variance, 0.0))


def about_few_clusters(people: AssignedTogether, *, freedom: float) -> list[str]:
    """A sentence where an arm has few clusters."""
    worth = people.clusters_in_arm()
    smallest = int(worth.argmin())
    few = worth[smallest] < FEW_CLUSTERS
    return [FEW.format(arm=people.design.arms[smallest], worth=worth[smallest], df=freedom)] if few else []


def clustered_cheaters(fit: CellFit | CategoryFit, *, freedom: float, level: float) -> CheaterProportion:
    """λ̂ = 1 − x̂ of a fit with its standard error between clusters; nothing where the design does not identify it."""
    honest = fit.model.honest
    if honest is None:
        return CheaterProportion(value=None, raw=None, standard_error=None, interval=None)
    raw, error = 1 - float(fit.coefficients[honest]), math.sqrt(max(float(fit.covariance[honest, honest]), 0.0))
    wald = wald_interval(raw, error, level=level, multiplier=student_quantile(level, freedom))
    return CheaterProportion(
        value=min(max(raw, 0.0), 1.0), raw=raw, standard_error=error or None, interval=cut_to(wald, low=0.0, high=1.0) if error else None
    )


def about_the_study(people: AssignedTogether, fit: CellFit | CategoryFit, *, settled: bool, freedom: float) -> list[str]:
    """Sentences about the design, the fit and its clusters."""
    notes = [INFINITE_EPSILON] if math.isinf(people.design.epsilon) else []
    notes += [NO_CHEATER_PROPORTION] if fit.model.honest is None else []
    notes += [] if settled else [NOT_CONVERGED]
    return notes + (about_few_clusters(people, freedom=freedom) if len(people.clusters) < len(people.cluster) else [])


def intraclass_correlation(people: AssignedTogether) -> float:
    """How alike the reported answers of one cluster are, by analysis of variance after taking out the cell means.

    Notes
    -----
    (MSB − MSW)/(MSB + (n₀ − 1)MSW) with n₀ = (N − Σn²/N)/(G − 1), the estimator of Donner (1986). It may be slightly negative.
    Squares are summed over all answers, which counts those of no and yes twice alike.

    References
    ----------
    Donner, A. (1986). A review of inference procedures for the intraclass correlation coefficient in the one-way random effects model.
    International Statistical Review 54, 67–82.
    """
    arms, subsamples = people.design.shape
    cell = people.arm * subsamples + people.subsample
    reported = people.gave
    residual = (
        reported - (_sums(reported, cell, arms * subsamples) / np.maximum(np.bincount(cell, minlength=arms * subsamples), 1)[:, None])[cell]
    )
    sizes = np.bincount(people.cluster, minlength=len(people.clusters)).astype(float)
    n, groups = len(cell), len(sizes)
    means = _sums(residual, people.cluster, groups) / sizes[:, None]
    between = float((sizes @ means**2).sum()) / (groups - arms)
    within = float(((residual - means[people.cluster]) ** 2).sum()) / (n - groups)
    typical = (n - (sizes**2).sum() / n) / (groups - 1)
    total = between + (typical - 1) * within
    if total <= 0:
        raise MethodError("everybody in a cell gave the same answer: how alike clusters are cannot be told")
    return float((between - within) / total)


def _sums(values: FloatArray, places: Whole, many: int) -> FloatArray:
    """Sums of the rows of `values` by place, shape (many, C)."""
    found = np.zeros((many, values.shape[1]))
    np.add.at(found, places, values)
    return found
