"""People who were assigned together: their answers with cluster and stratum, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candor.designs.design import Design, FloatArray
from candor.errors import DataError

Whole = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AssignedTogether:
    """Answers to one question, one entry per person.

    Attributes
    ----------
    reported, arm, subsample : ndarray of int, shape (n,)
        Positions in the design: of the answer, which is 0 or 1 for no and yes, of the arm and of the subsample.
    cluster, stratum : ndarray of int, shape (n,)
        Positions in `clusters` and `strata`.
    clusters, strata : tuple of str
    """

    design: Design
    reported: Whole
    arm: Whole
    subsample: Whole
    cluster: Whole
    stratum: Whole
    clusters: tuple[str, ...]
    strata: tuple[str, ...]

    @property
    def counts(self) -> NDArray[np.int64]:
        """People by arm, subsample and answer, shape (K, S, C)."""
        shape = (*self.design.shape, len(self.design.categories))
        cell = (self.arm * shape[1] + self.subsample) * shape[2] + self.reported
        return np.bincount(cell, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)

    @property
    def gave(self) -> FloatArray:
        """1 for the answer that somebody gave and 0 for the others, shape (n, C)."""
        return np.asarray(self.reported[:, None] == np.arange(len(self.design.categories)), dtype=float)

    @property
    def arm_of_cluster(self) -> Whole:
        """Shape (G,)."""
        return self._of_cluster(self.arm)

    @property
    def stratum_of_cluster(self) -> Whole:
        """The stratum of somebody in each cluster, shape (G,)."""
        return self._of_cluster(self.stratum)

    def strata_are_of_clusters(self) -> bool:
        """Whether all people of a cluster are in one stratum, as where clusters were drawn within strata."""
        return bool(np.all(self.stratum_of_cluster[self.cluster] == self.stratum))

    def _of_cluster(self, values: Whole) -> Whole:
        found = np.zeros(len(self.clusters), dtype=np.intp)
        found[self.cluster] = values
        return found

    def clusters_in_arm(self) -> FloatArray:
        """How many clusters of one size each arm's are worth, shape (K,): (Σn)²/Σn²."""
        sizes = np.bincount(self.cluster, minlength=len(self.clusters)).astype(float)
        arms = self.arm_of_cluster
        return np.array([sizes[arms == arm].sum() ** 2 / (sizes[arms == arm] ** 2).sum() for arm in range(self.design.shape[0])])


def assigned_together(
    reported: Whole,
    arm: Whole,
    subsample: Whole,
    *,
    design: Design,
    cluster: Sequence[object] | None,
    strata: Sequence[Iterable[object]] = (),
) -> AssignedTogether:
    """Check clusters and strata, and number them.

    Parameters
    ----------
    reported, arm, subsample : ndarray of int, shape (n,)
    design : Design
    cluster : sequence of length n, optional
        The cluster of every person. None: people were assigned one by one.
    strata : sequence of sequences of length n
        Columns whose combinations are the strata; missing values are a stratum of their own.

    Raises
    ------
    DataError
        When somebody has no cluster, a cluster has people in two arms, or an arm has fewer than two clusters.
    """
    n = len(reported)
    if cluster is None:
        numbers, clusters = np.arange(n), tuple(map(str, range(n)))
    else:
        words = [_word(value) for value in cluster]
        if "" in words:
            raise DataError(
                f"{words.count('')} people with an answer have no cluster; the first stands in row {words.index('') + 1} of them"
            )
        clusters, numbers = _numbered(words)
        _require_one_arm(numbers, arm, clusters=clusters, design=design)
    combined = [" × ".join(_word(value) or "not answered" for value in row) for row in zip(*strata, strict=True)] if strata else [""] * n
    names, stratum = _numbered(combined)
    found = AssignedTogether(
        design=design,
        reported=reported,
        arm=arm,
        subsample=subsample,
        cluster=numbers,
        stratum=stratum,
        clusters=clusters,
        strata=names,
    )
    if cluster is not None:
        several = np.bincount(found.arm_of_cluster, minlength=design.shape[0])
        few = int(several.argmin())
        if several[few] < 2:
            raise DataError(
                f"arm {design.arms[few]!r} has {several[few]} cluster{'' if several[few] == 1 else 's'}: how much clusters differ can "
                "only be seen from two or more in every arm"
            )
    return found


def _word(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # sections may have numbers, and columns of numbers hold floats
    return "" if value is None or (isinstance(value, float) and np.isnan(value)) else str(value).strip()


def _numbered(words: Sequence[str]) -> tuple[tuple[str, ...], Whole]:
    names, numbers = np.unique(np.asarray(words, dtype=str), return_inverse=True)
    return tuple(map(str, names)), np.asarray(numbers, dtype=np.intp)


def _require_one_arm(cluster: Whole, arm: Whole, *, clusters: Sequence[str], design: Design) -> None:
    pairs = np.unique(np.column_stack([cluster, arm]), axis=0)
    repeated = np.flatnonzero(np.bincount(pairs[:, 0]) > 1)
    if len(repeated):
        first = int(repeated[0])
        arms = " and ".join(repr(design.arms[a]) for a in pairs[pairs[:, 0] == first, 1])
        raise DataError(f"cluster {clusters[first]!r} has people in the arms {arms}: a cluster is assigned as a whole")
