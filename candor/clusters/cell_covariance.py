"""Means of the cells, adjusted for strata, with a covariance that knows that people of one cluster are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candor.clusters.people import AssignedTogether
from candor.designs.design import FloatArray

NEARLY_ALL = 1 - 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredCells:
    """Cell means and how they vary.

    Attributes
    ----------
    means : ndarray, shape (K·S·C,)
        Of the reported answers, at the strata's shares among all people; in the order (arm, subsample, answer). without the share of
        the first answer, which follows from the others, unless every answer was asked for.
    covariance : ndarray, shape (K·S·C, K·S·C)
    """

    means: FloatArray
    covariance: FloatArray


def clustered_cells(people: AssignedTogether, *, every_answer: bool = False) -> ClusteredCells:
    """Least squares of each answer on the cells and the strata, with the bias-reduced cluster-robust covariance CR2.

    Parameters
    ----------
    people : AssignedTogether
    every_answer : bool
        Keep the first answer, which questions with categories need and yes and no do not.

    Notes
    -----
    ỹᵢ = m(aᵢ,sᵢ) + γ′(zᵢ − z̄) + eᵢ with z the strata. Since chance drew arms and subsamples, m̂ is consistent whatever the strata do.
    V = (X′X)⁻¹ Σ_g X_g′A_g e_g e_g′A_g X_g (X′X)⁻¹ with A_g = (1 − H_gg)^{−1/2} [1]_, which makes V unbiased where people are
    independent; with people as their own clusters it is HC2. To the covariance of all cells Var(γ′z̄) is added: the strata's shares are
    those of a sample. The scores of a cluster for several answers stand side by side, so that V holds all of their covariances.

    References
    ----------
    .. [1] Bell, R. M. & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage samples. Survey
       Methodology 28, 169–181.
    """
    cells = people.design.shape[0] * people.design.shape[1]
    cell = people.arm * people.design.shape[1] + people.subsample
    n = len(cell)
    strata = (people.stratum[:, None] == np.arange(1, len(people.strata))).astype(float)
    strata -= strata.mean(axis=0)
    matrix = np.hstack([(cell[:, None] == np.arange(cells)).astype(float), strata])
    inverse = np.linalg.pinv(matrix.T @ matrix)
    root = _root(inverse)
    reported = people.gave if every_answer else people.gave[:, 1:]
    answers = reported.shape[1]
    coefficients: FloatArray = inverse @ (matrix.T @ reported)
    residual = reported - matrix @ coefficients
    order = np.argsort(people.cluster, kind="stable")
    starts = np.flatnonzero(np.diff(people.cluster[order], prepend=-1))
    scores = np.array(
        [_adjusted_score(matrix[rows], residual[rows], root) for rows in np.split(order, starts[1:])]
        if len(people.clusters) < n
        else _adjusted_alone(matrix, residual, inverse)
    )
    influence = (inverse[:cells] @ scores).reshape(len(scores), -1)
    between = np.zeros((len(people.clusters), answers))
    np.add.at(between, people.cluster, strata @ coefficients[cells:])
    shared = np.tile(between.T @ between / n**2, (cells, cells))
    return ClusteredCells(means=coefficients[:cells].reshape(-1), covariance=influence.T @ influence + shared)


def _root(inverse: FloatArray) -> FloatArray:
    """L with L·L′ = (X′X)⁻¹."""
    values, vectors = np.linalg.eigh(inverse)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), dtype=float)


def _adjusted_score(matrix: FloatArray, residual: FloatArray, root: FloatArray) -> FloatArray:
    """X_g′ A_g e_g, shape (P, C). With X_g·L = U·s·V′ the adjustment is 1 + U((1 − s²)^{−1/2} − 1)U′; a direction that one cluster fills
    alone has no residuals."""
    left, size, _ = np.linalg.svd(matrix @ root, full_matrices=False)
    factor = 1 / np.sqrt(1 - np.minimum(size**2, NEARLY_ALL)) - 1
    return np.asarray(matrix.T @ (residual + left @ (factor[:, None] * (left.T @ residual))), dtype=float)


def _adjusted_alone(matrix: FloatArray, residual: FloatArray, inverse: FloatArray) -> FloatArray:
    """The same where everybody is a cluster of their own."""
    leverage = np.minimum(np.einsum("np,pq,nq->n", matrix, inverse, matrix), NEARLY_ALL)
    return np.asarray(matrix[:, :, None] * (residual / np.sqrt(1 - leverage)[:, None])[:, None], dtype=float)
