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
from candor.estimators.joint_estimates import JointEstimates
from candor.results import SpecificationTest

ITERATIONS = 100
HALVINGS = 30
TOLERANCE = 1e-9
HALF_A_PERSON = 0.5
NEARLY_ALL = 0.95


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
    """

    matrix: FloatArray
    offset: float
    contrasts: FloatArray
    honest: int | None


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
    return CellModel(matrix=matrix, offset=offset, contrasts=contrasts, honest=arms if identified or arm_specific_cheaters else None)


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

    def joint_estimates(self, *, honest_proportion_used: FloatArray | None = None) -> JointEstimates:
        """Δ̂ and x̂ of the fit.

        Parameters
        ----------
        honest_proportion_used : ndarray, shape (...), optional
            x̂ after the boundary rule (default: cut to [0, 1]). Where it differs from x̂, the effect comes from the fit constrained to it.

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
    The log-likelihood Σ yes·ln μ + no·ln(1 − μ) is concave in the coefficients, since μ is linear in them. Newton's steps, cut to stay
    inside 0 < μ < 1 and halved while they gain too little, climb it from any start. A cell in which nobody said yes (or no) counts half a
    person who did, so that the maximum lies inside; variances take μ at least ½/(n + 1) from 0 and 1. The covariance is the inverse
    expected information, J is Pearson's χ².
    """
    model = cell_model(design, arm_specific_cheaters=arm_specific_cheaters)
    matrix, batch = model.matrix, counts.shape[:-3]
    tables = counts.reshape(-1, len(matrix), 2)
    complete = np.all(tables.sum(axis=-1) > 0, axis=-1)
    tables = np.where(complete[:, None, None], tables, 1.0)
    size = tables.sum(axis=-1)
    known = None if arm_specific_cheaters else design.cheater_model.yes_rate
    inside = (design.truth / 2 + design.forced_yes) / 2 + float(HALF_A_PERSON if known is None else known) / 2
    start = np.asarray(np.linalg.lstsq(matrix, np.tile(inside, design.shape[0]) - model.offset)[0], dtype=float)
    coefficients, converged = climb(np.where(tables > 0, tables, HALF_A_PERSON), matrix, model.offset, start)
    mu = coefficients @ matrix.T + model.offset
    floor = HALF_A_PERSON / (size + 1)
    spread = np.clip(mu, floor, 1 - floor)
    weights = size / (spread * (1 - spread))
    covariance = np.asarray(np.linalg.inv(_gram(weights, matrix)), dtype=float)
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


def _gram(weights: FloatArray, matrix: FloatArray) -> FloatArray:
    """matrixᵀ · diag(weights) · matrix for weights of shape (B, cells), as one product of matrices."""
    parameters = matrix.shape[1]
    products = (matrix[:, :, None] * matrix[:, None, :]).reshape(len(matrix), -1)
    return (weights @ products).reshape(-1, parameters, parameters)


def climb(
    tables: FloatArray, matrix: FloatArray, offset: FloatArray | float, start: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Where the binomial log-likelihoods of tables (B, cells, 2) are largest: coefficients (B, P), and whether each search settled."""
    no, yes = tables[..., NO], tables[..., YES]
    coefficients = np.tile(start, (len(tables), 1))
    moving = np.arange(len(tables))
    for _ in range(ITERATIONS):
        y, z = yes[moving], no[moving]
        mu = coefficients[moving] @ matrix.T + offset
        score = (y / mu - z / (1 - mu)) @ matrix
        change = np.linalg.solve(_gram(y / mu**2 + z / (1 - mu) ** 2, matrix), score[..., None])[..., 0]
        shift, slope = change @ matrix.T, (score * change).sum(axis=-1)
        length = NEARLY_ALL / np.maximum(-shift / mu, shift / (1 - mu)).max(axis=-1).clip(NEARLY_ALL)
        height = (y * np.log(mu) + z * np.log(1 - mu)).sum(axis=-1)
        for _ in range(HALVINGS):
            new = mu + length[:, None] * shift
            gained = (y * np.log(new) + z * np.log(1 - new)).sum(axis=-1) - height
            short = gained < 0.1 * length * slope - 1e-12 * np.abs(height)
            if not np.any(short):
                break
            length = np.where(short, length / 2, length)
        coefficients[moving] += length[:, None] * change
        moving = moving[np.abs(change).max(axis=-1) > TOLERANCE]
        if len(moving) == 0:
            break
    converged = np.ones(len(tables), dtype=bool)
    converged[moving] = False
    return coefficients, converged


def efficient_kernel(counts: FloatArray, design: Design, *, arm_specific_cheaters: bool = False) -> JointEstimates:
    """Efficient Δ̂, x̂ and τ̂ of many count tables at once, without a Python loop over them.

    Parameters
    ----------
    counts : ndarray of float, shape (..., K, S, 2)
        Not checked; a table with an empty cell gives NaN.
    design : Design
    arm_specific_cheaters : bool
        See `cell_model`.

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
    if fit.model.honest is None:
        return fit.joint_estimates()
    raw = fit.coefficients[..., fit.model.honest]
    used = constrained_honest_proportion(counts, raw, design, arm_specific_cheaters=arm_specific_cheaters)
    return fit.joint_estimates(honest_proportion_used=used)
