"""The efficient estimator: the cell means obey a linear model, fitted by generalised least squares or maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.special import chdtrc

from candor.designs.design import Design, FloatArray
from candor.designs.identification import on_one_line, truth_is_equal
from candor.errors import DataError, NotIdentifiedError
from candor.estimators.cheaters import constrained_honest_proportion
from candor.estimators.counts import NO, YES
from candor.estimators.joint_estimates import NOBODY_IS_HONEST, JointEstimates
from candor.fitting.identity_link import gram, most_likely
from candor.results import SpecificationTest

HALF_A_PERSON = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class CellModel:
    """E[Ỹ | a, s] − offset = matrix @ (Π_0 … Π_{K−1}, x, C …), with cells in the order (arm, subsample).

    Parameters
    ----------
    matrix : ndarray, shape (K·S, P)
    offset : float
        q when it is known, else 0.
    contrasts : ndarray, shape (K − 1, P)
        Rows that give Δ_a = Π_a − Π_0.
    honest : int or None
        The column of x; None when x is not identified.
    inside : ndarray, shape (K·S,)
        Cell means that the model gives if half of the people are honest, half of them with a true yes: between 0 and 1 in every design.
    """

    matrix: FloatArray
    offset: float
    contrasts: FloatArray
    honest: int | None
    inside: FloatArray


def cell_model(design: Design, *, arm_specific_cheaters: bool = False) -> CellModel:
    """The linear model of the cell means under the design's cheater model.

    Parameters
    ----------
    design : Design
    arm_specific_cheaters : bool
        Give cheaters their own rate q_a in every arm (still alike in every subsample).

    Raises
    ------
    NotIdentifiedError
        When arm-specific cheating was asked for and the points (t_s, f1_s) lie on one line.

    Notes
    -----
    ================================  ==================================  ==========
    case                              columns besides t_s·1{a}            offset
    ================================  ==================================  ==========
    q known                           f1_s − q                            q
    mirrored, q unknown               f1_s (Π absorbs the cheaters)       0
    not on one line, q unknown        f1_s and 1 (C)                      0
    … arm-specific cheaters           f1_s and 1{a} (C_a)                 0
    otherwise (x not identified)      1 (absorbs f1_s·x, affine in t_s)   0
    ================================  ==================================  ==========
    """
    arms, subsamples = design.shape
    by_arm = np.kron(np.eye(arms), design.truth[:, None])
    known = design.cheater_model.yes_rate
    offset = float(known or 0)
    half_honest = (design.truth / 2 + design.forced_yes) / 2 + float(HALF_A_PERSON if known is None or arm_specific_cheaters else known) / 2
    forced = np.tile(design.forced_yes - offset, arms)[:, None]
    line, identified = on_one_line(design.forced_responses), design.identification.honest_proportion
    if arm_specific_cheaters:
        if line:
            raise NotIdentifiedError("arm-specific cheating needs three subsamples whose (truth, forced yes) points are not on one line")
        columns = [by_arm, np.tile(design.forced_yes, arms)[:, None], np.kron(np.eye(arms), np.ones((subsamples, 1)))]
        offset = 0.0
    elif not identified:
        columns = [by_arm] if known is not None else [by_arm, np.ones((arms * subsamples, 1))]
    elif known is not None or truth_is_equal(design.forced_responses):
        columns = [by_arm, forced]
    else:
        columns = [by_arm, forced, np.ones((arms * subsamples, 1))]
    matrix = np.hstack(columns)
    contrasts = np.zeros((arms - 1, matrix.shape[1]))
    for row, arm in enumerate(design.treatment_indexes):
        contrasts[row, arm], contrasts[row, design.control_index] = 1, -1
    return CellModel(
        matrix=matrix,
        offset=offset,
        contrasts=contrasts,
        honest=arms if identified or arm_specific_cheaters else None,
        inside=np.tile(half_honest, arms),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFit:
    """A fit of the cell model for a batch of data sets.

    Parameters
    ----------
    coefficients : ndarray, shape (..., P)
    covariance : ndarray, shape (..., P, P)
    fitted : ndarray, shape (..., K, S)
        Fitted cell means.
    statistic : ndarray, shape (...)
        J, the weighted sum of squared residuals.
    df : int
        Cells minus parameters.
    converged : ndarray of bool, shape (...)
    """

    model: CellModel
    coefficients: FloatArray
    covariance: FloatArray
    fitted: FloatArray
    statistic: FloatArray
    df: int
    converged: npt.NDArray[np.bool_]

    def joint_estimates(
        self, *, honest_proportion_used: FloatArray | None = None, null_variance: FloatArray | None = None
    ) -> JointEstimates:
        """Δ̂ and x̂ of the fit.

        Parameters
        ----------
        honest_proportion_used : ndarray, shape (...), optional
            x̂ after the boundary rule (default: cut to [0, 1]). Where it differs from x̂, the effect comes from the fit constrained to it.
        null_variance : ndarray, shape (..., K − 1), optional
            See `null_variances`.

        Notes
        -----
        Fixing x at x₀ in least squares moves the other coefficients by −Cov(β̂, x̂)/V_x·(x̂ − x₀).
        """
        contrasts, honest = self.model.contrasts, self.model.honest
        delta = self.coefficients @ contrasts.T
        delta_variance = np.einsum("cp,...pq,cq->...c", contrasts, self.covariance, contrasts)
        if honest is None:
            unknown = np.full(delta.shape[:-1], np.nan)
            return JointEstimates(
                honest_times_effect=delta,
                honest_times_effect_variance=delta_variance,
                honest_proportion=unknown,
                honest_proportion_variance=unknown,
                covariance=np.full(delta.shape, np.nan),
                honest_proportion_used=unknown,
                honest_times_effect_null_variance=null_variance,
            )
        raw, variance = self.coefficients[..., honest], self.covariance[..., honest, honest]
        used = np.clip(raw, 0, 1) if honest_proportion_used is None else honest_proportion_used
        covariance = self.covariance[..., honest, :] @ contrasts.T
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = covariance / variance[..., None]
        return JointEstimates(
            honest_times_effect=delta,
            honest_times_effect_variance=delta_variance,
            honest_proportion=raw,
            honest_proportion_variance=variance,
            covariance=covariance,
            honest_proportion_used=used,
            numerator_used=delta - slope * (raw - used)[..., None],
            honest_times_effect_null_variance=null_variance,
        )

    def specification_test(self) -> SpecificationTest:
        """Whether the cell means fit the model: a small p-value says that cheating depends on the arm or the subsample."""
        statistic = float(self.statistic)
        return SpecificationTest(statistic=statistic, df=self.df, p_value=float(chdtrc(self.df, max(statistic, 0.0))))


def efficient_from_cell_means(means: FloatArray, covariance: FloatArray, design: Design, *, arm_specific_cheaters: bool = False) -> CellFit:
    """Generalised least squares of cell means with any joint covariance.

    Parameters
    ----------
    means : ndarray, shape (K, S)
        Estimated E[Ỹ | a, s], raw or covariate-adjusted.
    covariance : ndarray, shape (K·S, K·S)
        Their joint sampling covariance, cells in the order (arm, subsample).
    design : Design
    arm_specific_cheaters : bool
        See `cell_model`.

    Returns
    -------
    CellFit
        Of batch shape ().

    Raises
    ------
    DataError
        When shapes are wrong or the covariance is not positive definite.

    Notes
    -----
    β̂ = (MᵀV⁻¹M)⁻¹MᵀV⁻¹(m − q), Cov(β̂) = (MᵀV⁻¹M)⁻¹, J = residualᵀV⁻¹residual ~ χ² with K·S − P degrees of freedom. Assumes that cheaters
    answer alike in every subsample and, unless ``arm_specific_cheaters``, in every arm.

    Examples
    --------
    Means made from x = .5, Π = (.2, .3), mirrored, are recovered exactly:

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> means = np.array([[0.5 * 0.2 + 0.5 / 6, 0.5 * 0.2 + 1 / 6], [0.5 * 0.3 + 0.5 / 6, 0.5 * 0.3 + 1 / 6]])
    >>> fit = efficient_from_cell_means(means, np.eye(4) / 100, design)
    >>> fit.coefficients.round(6).tolist(), fit.df, fit.joint_estimates().effect.round(6).tolist()
    ([0.2, 0.3, 0.5], 1, [0.2])
    """
    model = cell_model(design, arm_specific_cheaters=arm_specific_cheaters)
    cells = design.shape[0] * design.shape[1]
    if means.shape != design.shape or covariance.shape != (cells, cells):
        raise DataError(f"expected means {design.shape} and covariance {(cells, cells)}, found {means.shape} and {covariance.shape}")
    try:
        factor = linalg.cho_factor(covariance)
    except (linalg.LinAlgError, ValueError):
        raise DataError("the covariance of the cell means must be positive definite: some cell has no variation") from None
    weighted = linalg.cho_solve(factor, model.matrix)
    inverse = linalg.inv(model.matrix.T @ weighted)
    coefficients = inverse @ (weighted.T @ (means.reshape(-1) - model.offset))
    residual = means.reshape(-1) - model.offset - model.matrix @ coefficients
    return CellFit(
        model=model,
        coefficients=coefficients,
        covariance=inverse,
        fitted=(model.matrix @ coefficients + model.offset).reshape(design.shape),
        statistic=np.asarray(residual @ linalg.cho_solve(factor, residual)),
        df=cells - model.matrix.shape[1],
        converged=np.asarray(True),
    )


def maximum_likelihood_fit(counts: FloatArray, design: Design, *, arm_specific_cheaters: bool = False) -> CellFit:
    """Binomial maximum likelihood with identity link for many count tables at once.

    Parameters
    ----------
    counts : ndarray of float, shape (..., K, S, 2)
        Not checked; a table with an empty cell gives NaN.
    design : Design
    arm_specific_cheaters : bool
        See `cell_model`.

    Returns
    -------
    CellFit
        Of batch shape (...).

    Notes
    -----
    See `candor.fitting.identity_link.most_likely`. The covariance is the inverse expected information, with μ at least ½/(n + 1) from 0 and
    1. It is that for the people who are in each cell, whether these numbers were left to chance or fixed by permuted blocks. J is Pearson's
    χ².
    """
    model = cell_model(design, arm_specific_cheaters=arm_specific_cheaters)
    matrix, batch = model.matrix, counts.shape[:-3]
    tables, complete = complete_tables(counts, len(matrix))
    size = tables.sum(axis=-1)
    coefficients, converged = maximum_likelihood(tables, model)
    mu = coefficients @ matrix.T + model.offset
    weights = _weights(size, mu)
    covariance = np.asarray(np.linalg.inv(gram(weights, matrix)), dtype=float)
    undefined = np.where(complete, 0.0, np.nan)
    return CellFit(
        model=model,
        coefficients=(coefficients + undefined[:, None]).reshape(*batch, -1),
        covariance=(covariance + undefined[:, None, None]).reshape(*batch, *covariance.shape[1:]),
        fitted=(mu + undefined[:, None]).reshape(counts.shape[:-1]),
        statistic=((weights * (tables[..., YES] / size - mu) ** 2).sum(axis=-1) + undefined).reshape(batch),
        df=matrix.shape[0] - matrix.shape[1],
        converged=converged.reshape(batch),
    )


def null_variances(counts: FloatArray, design: Design, *, arm_specific_cheaters: bool = False) -> FloatArray:
    """The variance that every Δ̂ of `maximum_likelihood_fit` would have without an effect, for many count tables at once.

    Parameters
    ----------
    counts, design, arm_specific_cheaters
        See `maximum_likelihood_fit`.

    Notes
    -----
    That of Δ̂ at the cell means of the model with Π_a = Π_0, which pools the two arms, times n/(n − parameters).

    Examples
    --------
    In a mirrored design it pools the subsamples' means, .45 and .55. Each of four cells has the variance .45·.55/10; Δ̂ is the mean of two
    differences, each divided by ½: 4·.02475, times 40/(40 − 2).

    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> counts = np.array([[[6.5, 3.5], [5.5, 4.5]], [[4.5, 5.5], [3.5, 6.5]]])
    >>> null_variances(counts, design).round(5).tolist(), round(4 * 0.02475 * 40 / 38, 5)
    ([0.10421], 0.10421)
    """
    model = cell_model(design, arm_specific_cheaters=arm_specific_cheaters)
    tables, complete = complete_tables(counts, len(model.matrix))
    size = tables.sum(axis=-1)
    found = np.empty((len(tables), len(model.contrasts)))
    for contrast, arm in enumerate(design.treatment_indexes):
        alike = model.matrix.copy()
        alike[:, design.control_index] += alike[:, arm]
        alike = np.delete(alike, arm, axis=1)
        coefficients, _ = maximum_likelihood(tables, model, matrix=alike)
        weights = _weights(size, coefficients @ alike.T + model.offset)
        row, people = model.contrasts[contrast], size.sum(axis=-1)
        variance = np.einsum("p,bpq,q->b", row, np.linalg.inv(gram(weights, model.matrix)), row)
        found[:, contrast] = variance * people / np.maximum(people - alike.shape[1], 1)
    found[~complete] = np.nan
    return found.reshape(*counts.shape[:-3], -1)


def complete_tables(counts: FloatArray, cells: int) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Count tables as (B, cells, 2), those with an empty cell replaced, and which have none."""
    tables = counts.reshape(-1, cells, 2)
    complete = np.all(tables.sum(axis=-1) > 0, axis=-1)
    return np.where(complete[:, None, None], tables, 1.0), complete


def maximum_likelihood(
    counts: FloatArray, model: CellModel, *, matrix: FloatArray | None = None
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Maximum likelihood coefficients of a cell model, or of another matrix for the same cells, and whether each search settled.

    Parameters
    ----------
    counts : ndarray of float, shape (B, K·S, 2)
        No cell is empty. One in which nobody said yes (or no) counts half a person who did, so that the maximum lies inside.
    """
    matrix = model.matrix if matrix is None else matrix
    inside = np.asarray(np.linalg.lstsq(matrix, model.inside - model.offset)[0], dtype=float)
    counted = np.where(counts > 0, counts, HALF_A_PERSON)
    return most_likely(counted[..., NO], counted[..., YES], matrix=matrix, offset=model.offset, inside=inside)


def _weights(size: FloatArray, means: FloatArray) -> FloatArray:
    """n/(μ(1 − μ)) of every cell, with μ at least ½/(n + 1) from 0 and 1."""
    floor = HALF_A_PERSON / (size + 1)
    spread = np.clip(means, floor, 1 - floor)
    return np.asarray(size / (spread * (1 - spread)))


def efficient_kernel(counts: FloatArray, design: Design, *, arm_specific_cheaters: bool = False) -> JointEstimates:
    """Efficient Δ̂, x̂ and τ̂ of many count tables at once, without a Python loop over them.

    Parameters
    ----------
    counts, design, arm_specific_cheaters
        See `maximum_likelihood_fit`.

    Returns
    -------
    JointEstimates
        Batch shape (...). x̂ is NaN when it is not identified.

    Notes
    -----
    Assumes that cheaters answer alike in every subsample and, unless ``arm_specific_cheaters``, in every arm. See `maximum_likelihood_fit`;
    outside [0, 1] x̂ follows the boundary rule and the effect comes from the fit constrained to that x.

    Examples
    --------
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> efficient_kernel(np.array([[[13.0, 7.0], [11.0, 9.0]], [[9.0, 11.0], [7.0, 13.0]]]), design).effect.round(6).tolist()
    [0.666667]
    """
    fit = maximum_likelihood_fit(counts, design, arm_specific_cheaters=arm_specific_cheaters)
    null_variance = null_variances(counts, design, arm_specific_cheaters=arm_specific_cheaters)
    if fit.model.honest is None:
        return fit.joint_estimates(null_variance=null_variance)
    raw = fit.coefficients[..., fit.model.honest]
    used = constrained_honest_proportion(counts, raw, design, arm_specific_cheaters=arm_specific_cheaters)
    return fit.joint_estimates(honest_proportion_used=used, null_variance=null_variance)


def efficient_ratios(counts: FloatArray, design: Design, *, arm_specific_cheaters: bool = False) -> FloatArray:
    """Δ̂/x̂ of `efficient_kernel` before the boundary rule, and nothing else, for resamples; shape (..., K − 1)."""
    model = cell_model(design, arm_specific_cheaters=arm_specific_cheaters)
    if model.honest is None:
        raise NotIdentifiedError(f"the honest proportion is not identified: {design.identification.assumption}")
    tables, complete = complete_tables(counts, len(model.matrix))
    coefficients, _ = maximum_likelihood(tables, model)
    honest = coefficients[:, model.honest]
    ratios = coefficients @ model.contrasts.T / np.where(complete & (honest > NOBODY_IS_HONEST), honest, np.nan)[:, None]
    return np.asarray(ratios.reshape(*counts.shape[:-3], -1))
