"""The linear model of the shares of every answer in every cell of arm and subsample, and its fits without limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from candor.designs.design import Design, FloatArray
from candor.designs.identification import truth_is_equal
from candor.estimators.counts import checked_category_counts
from candor.estimators.intervals import fieller_interval
from candor.estimators.joint_estimates import NOBODY_IS_HONEST
from candor.results import Interval, SpecificationTest

HALF = 0.5
"""A person: how many gave an answer that nobody gave, so that a maximum lies inside."""
ITERATIONS, HALVINGS = 100, 40
TOLERANCE = 1e-12
NEARLY_ALL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryModel:
    """P(answer c | a, s) = matrix @ β + offset, one row for each (arm, subsample, category), in this order.

    Parameters
    ----------
    matrix : ndarray, shape (K·S·C, P)
        Columns: Π_ac for every arm and every category but the first, x if it is identified, and Q_c = (1 − x)q_c if it is not absorbed.
    offset : ndarray, shape (K·S·C,)
    shape : tuple of int
        (K, S, C).
    honest : int or None
        The column of x; None when x is not identified.
    inside : ndarray, shape (P,)
        Coefficients at which every share is above 0.
    """

    matrix: FloatArray
    offset: FloatArray
    shape: tuple[int, int, int]
    honest: int | None
    inside: FloatArray

    def of_arm(self, arm: int, weights: npt.ArrayLike) -> FloatArray:
        """The row L with L·β = Σ_c (w_c − w_1)Π_ac, for weights of shape (..., C) on the categories; shape (..., P)."""
        given, others = np.asarray(weights, dtype=float), self.shape[-1] - 1
        row = np.zeros((*given.shape[:-1], self.matrix.shape[1]))
        row[..., arm * others : (arm + 1) * others] = given[..., 1:] - given[..., :1]
        return row


def category_model(design: Design) -> CategoryModel:
    """The linear model under the design's cheater model.

    Notes
    -----
    With Π_ac = x·p_ac and Q_c = (1 − x)q_c the share of answer c is m(a,s,c) = t_s·Π_ac + f_cs·x + Q_c. The first category follows from
    the others. Columns besides t_s per arm and category, as with two answers:

    ==============================  ==============================================
    case                            columns
    ==============================  ==============================================
    q known                         f_cs − q_c for x; q_c is the offset
    q unknown, t equal (mirrored)   f_cs for x (Π absorbs Q)
    q unknown, x identified         f_cs for x, and 1 for each category
    otherwise (x not identified)    without that of x, which the others absorb
    ==============================  ==============================================

    Examples
    --------
    >>> from candor.designs.design import Design
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> model = category_model(design)
    >>> model.matrix.shape, model.honest
    ((8, 3), 2)
    """
    (arms, subsamples), categories = design.shape, len(design.categories)
    others, stated, known = categories - 1, design.cheater_shares, design.cheater_shares is not None
    q = np.zeros(categories) if stated is None else stated
    one = np.vstack([-np.ones(others), np.eye(others)])  # of a category's share, on all answers
    truth = (design.truth[:, None, None] * one).reshape(-1, others)
    columns = [np.kron(np.eye(arms), truth)]
    identified = design.identification.honest_proportion
    honest = (design.forced_answers[:, 1:] - q[1:]) @ one.T
    if identified:
        columns.append(np.tile(honest.reshape(-1, 1), (arms, 1)))
    if not known and not truth_is_equal(design.forced_responses):
        columns.append(np.tile(one, (arms * subsamples, 1)))
    first = np.zeros(categories)
    first[0] = 1 - q[1:].sum()
    offset = np.tile(np.concatenate([first[:1], q[1:]]), arms * subsamples)
    matrix = np.hstack(columns)
    middle = (design.truth[:, None] / categories + design.forced_answers) / 2 + (q if known else np.full(categories, 1 / categories)) / 2
    inside = np.linalg.lstsq(matrix, np.tile(middle.reshape(-1), arms) - offset)[0]
    return CategoryModel(
        matrix=matrix,
        offset=offset,
        shape=(arms, subsamples, categories),
        honest=arms * others if identified else None,
        inside=np.asarray(inside, dtype=float),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A number Π/x or Δ/x with its standard error, or None where it is not defined."""

    value: float | None
    standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryFit:
    """A fit without limits: coefficients β (P,) with their covariance (P, P), fitted shares (K, S, C), and whether the search settled."""

    model: CategoryModel
    coefficients: FloatArray
    covariance: FloatArray
    fitted: FloatArray
    settled: bool

    def ratio(self, row: FloatArray, *, plus: float = 0.0, cut: bool = False) -> Ratio:
        """plus + (L·β)/x, with the delta method's standard error; undefined where nobody is honest or x is not identified.

        With `cut`, x̂ above 1 becomes 1, and L·β what it is in the fit with x = 1.
        """
        honest = self.model.honest
        if honest is None or self.coefficients[honest] <= NOBODY_IS_HONEST:
            return Ratio(value=None, standard_error=None)
        raw = float(self.coefficients[honest])
        x = min(raw, 1.0) if cut else raw
        with_honest = float(row @ self.covariance[honest]) / float(self.covariance[honest, honest])
        found = (float(row @ self.coefficients) - with_honest * (raw - x)) / x
        gradient = row / x
        gradient[honest] -= found / x
        return Ratio(value=plus + found, standard_error=math.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0)))

    def fieller(self, row: FloatArray, *, level: float, plus: float = 0.0, low: float = -1.0) -> Interval:
        """Fieller's interval of plus + (L·β)/x, from `low` to 1; unbounded where x is not identified."""
        if self.model.honest is None:
            return Interval(kind="unbounded", low=None, high=None, level=level)
        both = np.stack([row, np.eye(len(row))[self.model.honest]])
        both[0] += plus * both[1]
        top, bottom = both @ self.coefficients
        variances = both @ self.covariance @ both.T
        return fieller_interval(
            float(top),
            float(bottom),
            numerator_variance=float(variances[0, 0]),
            denominator_variance=float(variances[1, 1]),
            covariance=float(variances[0, 1]),
            level=level,
            low=low,
            one_sided=True,
        )

    def specification_test(self, counts: FloatArray) -> SpecificationTest | None:
        """Pearson's χ² of the model; None where it fits everything."""
        (arms, subsamples, categories), parameters = self.model.shape, self.model.matrix.shape[1]
        df = arms * subsamples * (categories - 1) - parameters
        if df == 0:
            return None
        expected = self.fitted * counts.sum(axis=-1, keepdims=True)
        statistic = float(
            ((counts - expected) ** 2 * information_weights(counts, self.fitted) / counts.sum(axis=-1, keepdims=True) ** 2).sum()
        )
        return SpecificationTest(statistic=statistic, df=df, p_value=float(chdtrc(df, max(statistic, 0.0))))


def information_weights(counts: FloatArray, shares: FloatArray) -> FloatArray:
    """n/μ of every answer in every cell, with μ at least ½/(n + 1) from 0 and 1."""
    people = counts.sum(axis=-1, keepdims=True)
    floor = HALF / (people + 1)
    return np.asarray(people / np.clip(shares, floor, 1 - floor))


def maximum_likelihood_fit(counts: FloatArray, model: CategoryModel, *, matrix: FloatArray | None = None) -> CategoryFit:
    """Multinomial maximum likelihood with the identity link.

    Parameters
    ----------
    counts : ndarray of float, shape (K, S, C)
        No cell is empty. An answer that nobody gave in a cell counts half a person.
    model : CategoryModel
    matrix : ndarray, shape (K·S·C, R), optional
        Another matrix for the same shares.

    Notes
    -----
    The log-likelihood Σ n ln μ is concave, since μ is linear. Newton's steps, cut to stay inside μ > 0 and halved while they gain too
    little, climb it. The covariance is the inverse of the expected information Σ (n/μ)·rrᵀ over the rows r. With two answers this is the
    binomial fit of `candor.estimators.cell_means`.
    """
    rows = model.matrix if matrix is None else matrix
    answers = np.where(counts > 0, counts, HALF).reshape(-1)
    beta = model.inside if matrix is None else np.linalg.lstsq(rows, model.matrix @ model.inside)[0]
    settled = False
    for _ in range(ITERATIONS):
        mu = rows @ beta + model.offset
        step = np.linalg.solve((rows.T * (answers / mu**2)) @ rows, rows.T @ (answers / mu))
        shift = rows @ step
        length, slope = NEARLY_ALL / max(NEARLY_ALL, float((-shift / mu).max())), float(answers @ (shift / mu))
        height = float(answers @ np.log(mu))
        for _ in range(HALVINGS):
            if answers @ np.log(mu + length * shift) - height >= 0.1 * length * slope - 1e-12 * abs(height):
                break
            length /= 2
        beta = beta + length * step
        if np.abs(step).max() <= TOLERANCE or np.abs(length * shift / mu).max() <= TOLERANCE:
            settled = True
            break
    mu = (rows @ beta + model.offset).reshape(counts.shape)
    covariance = np.linalg.inv((rows.T * information_weights(counts, mu).reshape(-1)) @ rows)
    return CategoryFit(
        model=model, coefficients=np.asarray(beta, dtype=float), covariance=np.asarray(covariance, dtype=float), fitted=mu, settled=settled
    )


def moment_fit(counts: npt.ArrayLike, *, design: Design) -> CategoryFit:
    """Moments: least squares of the observed shares, each cell weighted by its people, with the exact covariance of the shares.

    Parameters
    ----------
    counts : array_like of int, shape (K, S, C)
        People by arm, subsample and answer.
    design : Design

    Returns
    -------
    CategoryFit
        Its coefficients are linear in the shares, so they are without bias whatever the number of people.

    Raises
    ------
    DataError
        Counts of the wrong shape, negative or fractional.
    TooFewResponsesError
        When a cell is empty.

    Notes
    -----
    β̂ = (MᵀWM)⁻¹MᵀW(m̂ − offset) with W the people of each cell; Cov(β̂) puts the multinomial covariance (diag(m̂) − m̂m̂ᵀ)/n of each cell
    between the same matrices.

    References
    ----------
    Warner, S. L. (1965). Randomized response: a survey technique for eliminating evasive answer bias. Journal of the American Statistical
    Association 60, 63–69, for two answers; the rest is worked out in docs/methods.md.

    Examples
    --------
    >>> from candor.designs.design import Design
    >>> design = Design.of(arms=("a", "b"), control="a", subsamples={
    ...     "1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}})
    >>> moment_fit([[[130, 70], [110, 90]], [[90, 110], [70, 130]]], design=design).coefficients.round(6).tolist()
    [0.5, 0.9, 0.6]
    """
    table, model = checked_category_counts(counts, design=design), category_model(design)
    people = table.sum(axis=-1, keepdims=True)
    shares = table / people
    weighted = model.matrix * np.broadcast_to(people, table.shape).reshape(-1, 1)
    solve = np.linalg.solve(model.matrix.T @ weighted, weighted.T)
    beta = solve @ (shares.reshape(-1) - model.offset)
    by_cell = solve.reshape(len(beta), -1, table.shape[-1])
    flat, sizes = shares.reshape(-1, table.shape[-1]), people.reshape(-1)
    means = np.einsum("pkc,kc->pk", by_cell, flat)
    covariance = np.einsum("pkc,kc,qkc,k->pq", by_cell, flat, by_cell, 1 / sizes) - (means / sizes) @ means.T
    fitted = (model.matrix @ beta + model.offset).reshape(table.shape)
    return CategoryFit(model=model, coefficients=beta, covariance=covariance, fitted=fitted, settled=True)
