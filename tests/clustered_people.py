"""People who answer with the default die in clusters of unlike people, for tests of their estimates."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from candor.clusters.people import AssignedTogether, assigned_together
from candor.designs.design import Design
from tests.designs import DESIGNS

DESIGN = DESIGNS["mirrored"]
FACES = {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}}
CATEGORIES = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"), ordered=True, subsamples=FACES)
IN_NO_ORDER = Design.of(arms=("slides", "face"), control="slides", categories=("never", "once", "often"), subsamples=FACES)


def clustered_people(
    seed: int, *, clusters: int = 12, size: int = 25, spread: float = 1.0, strata: int = 1, effect: float = 0.0
) -> AssignedTogether:
    """Half of the clusters of each stratum are treated; the log odds of a true yes differ between clusters by `spread`."""
    rng = np.random.default_rng(seed)
    stratum_of = np.arange(clusters) % strata
    arm_of = np.empty(clusters, dtype=int)
    for one in range(strata):
        there = np.flatnonzero(stratum_of == one)
        arm_of[there] = rng.permutation(np.arange(len(there)) % 2)
    cluster = np.repeat(np.arange(clusters), rng.poisson(size, clusters) + 2)
    arm, subsample, roll = arm_of[cluster], rng.integers(0, 2, len(cluster)), rng.integers(0, 6, len(cluster))
    log_odds = rng.normal(0, spread, clusters)[cluster] - 0.4 + 2 * stratum_of[cluster] * (strata > 1)
    means_yes = rng.random(len(cluster)) < np.clip(1 / (1 + np.exp(-log_odds)) + effect * arm, 0, 1)
    yes, no = np.array([1, 2])[subsample], np.array([2, 1])[subsample]
    reported = np.where(roll < yes, 1, np.where(roll < yes + no, 0, means_yes)).astype(int)
    return together(reported, arm, subsample, cluster, stratum_of[cluster] if strata > 1 else None)


def clustered_category_people(
    seed: int, *, clusters: int = 12, size: int = 25, spread: float = 1.0, effect: float = 0.0, ordered: bool = True
) -> AssignedTogether:
    """Half of the clusters are treated. How clusters lean to “once” and to “often” differs by `spread` on the log scale; the treatment
    makes so many more say “often”."""
    rng = np.random.default_rng(seed)
    design = CATEGORIES if ordered else IN_NO_ORDER
    arm_of = rng.permutation(np.arange(clusters) % 2)
    cluster = np.repeat(np.arange(clusters), rng.poisson(size, clusters) + 2)
    n = len(cluster)
    arm, subsample = arm_of[cluster], rng.integers(0, 2, n)
    lean = np.exp(np.column_stack([np.full(clusters, 0.3), rng.normal(0, spread, clusters), rng.normal(-0.3, spread, clusters)]))
    shares = (lean / lean.sum(axis=1, keepdims=True))[cluster]
    true = (rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    true = np.where((rng.random(n) < effect) & (arm == 1), 2, true)
    reported = _after_the_die(rng, design, subsample, true)
    return assigned_together(reported, arm, subsample, design=design, cluster=[f"section {one}" for one in cluster])


def _after_the_die(rng: np.random.Generator, design: Design, subsample: NDArray[np.intp], true: NDArray[np.intp]) -> NDArray[np.intp]:
    answers = len(design.categories)
    chances = np.column_stack([design.forced_answers[subsample], design.truth[subsample]]).cumsum(axis=1)
    face = (rng.random(len(true))[:, None] > chances).sum(axis=1).clip(0, answers)
    return np.where(face < answers, face, true).astype(int)


def alone(people: AssignedTogether) -> AssignedTogether:
    """The same, assigned one by one."""
    n = len(people.cluster)
    return replace(people, cluster=np.arange(n), clusters=tuple(map(str, range(n))))


def three_arms(seed: int, *, clusters: int = 12, size: int = 15, answers: int = 3) -> AssignedTogether:
    """Clusters and strata sway answers; the control is the second arm, and cluster 0 alone has the last stratum."""
    rng, names = np.random.default_rng(seed), CATEGORIES.categories
    design = Design.of(arms=("a", "b", "c"), control="b", categories=names, ordered=True, subsamples=FACES)
    design = design if answers == 3 else DESIGNS["three arms"]
    cluster = np.repeat(np.arange(clusters), rng.integers(size // 2, 2 * size, clusters))
    stratum = np.where(cluster == 0, 2, rng.integers(0, 2, len(cluster)))
    subsample = rng.integers(0, 2, len(cluster))
    true = rng.normal(answers / 2 + stratum / 4 + rng.normal(0, 0.3, clusters)[cluster], 0.7).clip(0, answers - 1).astype(int)
    return assigned_together(
        _after_the_die(rng, design, subsample, true),
        cluster % 3,
        subsample,
        design=design,
        cluster=cluster.tolist(),
        strata=[stratum.tolist()],
    )


def together(
    reported: NDArray[np.intp],
    arm: NDArray[np.intp],
    subsample: NDArray[np.intp],
    cluster: NDArray[np.intp] | None,
    stratum: NDArray[np.intp] | None = None,
) -> AssignedTogether:
    return assigned_together(
        reported,
        arm,
        subsample,
        design=DESIGN,
        cluster=None if cluster is None else [f"section {one}" for one in cluster],
        strata=[] if stratum is None else [list(stratum)],
    )
