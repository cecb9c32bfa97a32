"""The covariance of cell means between clusters, against its definition with whole matrices and against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

from candor.clusters.cell_covariance import clustered_cells
from candor.clusters.people import AssignedTogether
from tests.clustered_people import clustered_people, three_arms, together


def matrices(people: AssignedTogether, answers: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The regressors, what the last `answers` answers are on them, and the part of Var(γ′z̄), alike for all cells."""
    arms, subsamples = people.design.shape
    cells, cell = arms * subsamples, people.arm * subsamples + people.subsample
    strata = (people.stratum[:, None] == np.arange(1, len(people.strata))).astype(float)
    matrix = np.hstack([(cell[:, None] == np.arange(cells)).astype(float), strata - strata.mean(axis=0)])
    reported = people.gave[:, -answers:]
    slopes = np.linalg.lstsq(matrix, reported)[0][cells:]
    parts = np.array([np.bincount(people.cluster, weights=column) for column in (matrix[:, cells:] @ slopes).T])
    return matrix, reported, np.kron(np.ones((cells, cells)), parts @ parts.T / len(cell) ** 2)


@pytest.mark.parametrize(
    ("people", "answers"),
    [(clustered_people(3, clusters=8, size=9), 1), (clustered_people(3, clusters=8, size=9, strata=2), 1), (three_arms(7), 3)],
)
def test_it_is_the_sandwich_of_bell_and_mccaffrey(people: AssignedTogether, answers: int) -> None:
    matrix, reported, shared = matrices(people, answers)
    inverse = np.linalg.inv(matrix.T @ matrix)
    residual = reported - matrix @ inverse @ matrix.T @ reported
    middle = 0
    for cluster in range(len(people.clusters)):
        rows = matrix[people.cluster == cluster]
        values, vectors = np.linalg.eigh(np.eye(len(rows)) - rows @ inverse @ rows.T)
        possible = vectors[:, values > 1e-9]  # a direction that one cluster fills alone has no residuals
        score = inverse @ rows.T @ (possible / np.sqrt(values[values > 1e-9])) @ possible.T @ residual[people.cluster == cluster]
        middle += np.outer(score, score)
    cells = people.design.shape[0] * people.design.shape[1]
    found = clustered_cells(people, every_answer=answers > 1)
    np.testing.assert_allclose(found.covariance, middle[: cells * answers, : cells * answers] + shared, atol=1e-12)


@pytest.mark.parametrize("stratified", [False, True])
def test_of_people_who_are_alone_it_is_hc2_of_statsmodels(stratified: bool) -> None:
    of_clusters = clustered_people(4, clusters=6, size=12, strata=2)
    people = together(of_clusters.reported, of_clusters.arm, of_clusters.subsample, None, of_clusters.stratum if stratified else None)
    matrix, _, shared = matrices(people)
    theirs = sm.OLS(people.reported, matrix).fit(cov_type="HC2")
    found = clustered_cells(people)
    np.testing.assert_allclose(found.means, theirs.params[:4], atol=1e-12)
    np.testing.assert_allclose(found.covariance, theirs.cov_params()[:4, :4] + shared, atol=1e-12)


def test_without_strata_the_means_are_the_shares_of_yes() -> None:
    people = clustered_people(5)
    counts = people.counts
    np.testing.assert_allclose(clustered_cells(people).means, (counts[..., 1] / counts.sum(axis=-1)).reshape(-1), atol=1e-12)


def test_by_hand_two_clusters_in_each_arm() -> None:
    """Arm 0: clusters of two people in one subsample each all say 1, 1 and 0, 0: mean .5, scores ±.5 · 2/4 = ±.5/√(1 − ½) · ½ each."""
    reported = np.array([1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0])
    arm = np.repeat([0, 1], 8)
    subsample = np.tile(np.repeat([0, 1], 4), 2)
    cluster = np.array([0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3])
    covariance = clustered_cells(together(reported, arm, subsample, cluster)).covariance
    # u = ±.5·2/4 = ±.25 in both clusters; (1 − 2/4)^(−1) · (2 · .25²) = .25; the same clusters are in both subsamples.
    np.testing.assert_allclose(covariance[:2, :2], np.full((2, 2), 0.25), atol=1e-12)
    np.testing.assert_allclose(covariance[2:, :], 0, atol=1e-12)
