"""Classes of records that lose little together: blocks by principal directions, then greedy growth on the exact loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from candor.records.embedding import Embedding
from candor.records.shuffling import secret_generator

BLOCK, SAMPLE, TURNS = 1000, 2000, 10
IMPROVEMENTS, FOR_EACH, PATIENCE, FEW, NEAR, OF = 400, 60, 20, 1000, 2, 6
"""How often, over all records, for each class, and in vain for each class, a class and 2 of its 6 nearest ones are taken apart and grown
again; what loses less is kept. With fewer records than `FEW` there is time to do it more often."""
CANDIDATES, CLASH = 24, 0.35
"""With ℓ the next member is the best of so many, and each value that would be too frequent costs so much for each record of the class."""
Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float32]
Codes = npt.NDArray[np.int32]


class Classes(NamedTuple):
    """Rows of the records of each class, and of those that are left out."""

    members: list[list[int]]
    suppressed: list[int]


def cluster(
    embedding: Embedding,
    rows: Rows,
    *,
    size: int,
    diversity: int = 1,
    may_suppress: int = 0,
    block: int = BLOCK,
    tell: Callable[[float], object] = lambda share: None,
) -> Classes:
    """Classes of at least `size` records.

    Parameters
    ----------
    embedding : Embedding
    rows : ndarray of int, shape (n,)
        The records that are clustered.
    size : int
        Records of a class; those that are left over join the class where they cost least.
    diversity : int
        The largest ℓ that is demanded.
    may_suppress : int
        How many records may be left out, when the loss is then smaller.
    block : int
        Records that are compared with each other.
    tell : callable
        Is told the share that is done; may raise to stop.

    Returns
    -------
    Classes
    """
    rng = secret_generator()
    found = Classes([], [])
    n, done = len(rows), 0
    for part in blocks(embedding.vectors, rows, most=max(block, 4 * size), rng=rng):
        rows = rng.permutation(part)  # ties are broken by this order
        grown = _Block.of(embedding, rows)
        members, left = grown.grow(size, diversity, grown.vectors.mean(axis=0))
        if diversity == 1:
            _improve(grown, members, times=int(min(IMPROVEMENTS * len(rows) / n * max(1, FEW / n) ** 2, FOR_EACH * len(members))), rng=rng)
        join = _Joining(embedding, rows, members)
        for row in left:
            if not join.add(row, or_suppress=len(found.suppressed) < may_suppress * (done + len(rows)) // n):
                found.suppressed.append(int(rows[row]))
        found.members.extend([int(rows[row]) for row in one] for one in members)
        done += len(rows)
        tell(done / n)
    return found


def blocks(vectors: sparse.csr_array, rows: Rows, *, most: int, rng: np.random.Generator) -> list[Rows]:
    """Rows in blocks of similar records: halves along the leading principal direction, until a block is small enough."""
    waiting, small = [rows], []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= most:
            small.append(rows)
            continue
        sample = vectors[rows if len(rows) <= SAMPLE else rng.choice(rows, SAMPLE, replace=False)]
        mean, turned = np.asarray(sample.mean(axis=0)).ravel(), sample.T.tocsr()
        direction = rng.standard_normal(vectors.shape[1], dtype=np.float32)
        for _ in range(TURNS):
            along = sample @ direction - mean @ direction
            direction = turned @ along - mean * along.sum()
            direction /= np.linalg.norm(direction) + 1e-9
        order = np.argsort(vectors[rows] @ direction, kind="stable")
        waiting += [rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]]
    return small


class _Block:
    """Records that are compared with each other: the free ones stand in the first columns."""

    def __init__(self, vectors: Floats, totals: Floats, codes: Codes) -> None:
        self.vectors, self.totals, self.codes = vectors, totals, codes
        self.turned = vectors.T.copy(order="C")
        self.free = np.arange(len(vectors))
        self.left = len(vectors)

    @classmethod
    def of(cls, embedding: Embedding, rows: Rows) -> _Block:
        """The records of some rows; features of one record alone are left out, because nobody shares them."""
        part, codes = embedding.vectors[rows], embedding.values[rows]
        shared = np.flatnonzero(np.bincount(part.indices, minlength=part.shape[1]) > 1)
        diverse = np.flatnonzero(np.bincount(codes.indices, minlength=codes.shape[1]) > 1)
        return cls(part[:, shared].toarray(), embedding.totals[rows], codes[:, diverse].toarray())

    def take(self, column: int) -> int:
        """Take a free record out."""
        row = int(self.free[column])
        self.left -= 1
        self.turned[:, column] = self.turned[:, self.left]
        self.free[column] = self.free[self.left]
        return row

    def overlap(self, with_: Floats) -> Floats:
        """Σ_v min(x(v), …) for each free record."""
        at = np.flatnonzero(with_)
        found: Floats = np.minimum(self.turned[at, : self.left], with_[at, None]).sum(axis=0)
        return found

    def grow(self, size: int, diversity: int, begin: Floats) -> tuple[list[list[int]], list[int]]:
        """Greedy classes: begin far from the last beginning, then add what costs least."""
        classes: list[list[int]] = []
        most = max(1, size // diversity)
        while self.left >= size:
            totals = self.totals[self.free[: self.left]]
            row = self.take(int(np.argmax(totals + begin.sum() - 2 * self.overlap(begin))))
            members, lowest, begin = [row], self.vectors[row].copy(), self.vectors[row]
            counts = _Counts(self.codes, most) if diversity > 1 else None
            while len(members) < size:
                if counts:
                    counts.add(members[-1])
                shared = self.overlap(lowest)
                costs = len(members) * (lowest.sum() - shared) + self.totals[self.free[: self.left]] - shared
                column = int(np.argmin(costs)) if counts is None else self._without_clash(costs, counts, size)
                row = self.take(column)
                members.append(row)
                lowest = np.minimum(lowest, self.vectors[row])
            classes.append(members)
        return classes, [int(row) for row in self.free[: self.left]]

    def _without_clash(self, costs: Floats, counts: _Counts, size: int) -> int:
        best = np.argpartition(costs, CANDIDATES)[:CANDIDATES] if len(costs) > CANDIDATES else np.arange(len(costs))
        return int(best[np.argmin(costs[best] + CLASH * size * counts.clashes(self.free[best]))])


def _improve(block: _Block, classes: list[list[int]], *, times: int, rng: np.random.Generator) -> None:
    """Take a class and its nearest ones apart and grow them again, from another beginning; keep what loses less."""
    if len(classes) < 2:
        return
    lowest = np.stack([block.vectors[one].min(axis=0) for one in classes])
    sums = lowest.sum(axis=1)
    losses = np.maximum(0.0, [block.totals[one].sum() - len(one) * least for one, least in zip(classes, sums, strict=True)])
    near, vain = min(OF, len(classes) - 1), 0
    for start in rng.choice(len(classes), size=times, p=losses / losses.sum()) if losses.sum() > 0 else ():
        at = np.flatnonzero(lowest[start])
        apart = sums + sums[start] - 2 * np.minimum(lowest[:, at], lowest[start, at]).sum(axis=1)
        apart[start] = np.inf
        chosen = np.append(rng.permutation(np.argpartition(apart, near - 1)[:near])[:NEAR], start)
        pool = rng.permutation(np.concatenate([classes[one] for one in chosen]))
        vectors = block.vectors[pool]
        vectors = vectors[:, vectors.any(axis=0)]
        grown, _ = _Block(vectors, block.totals[pool], block.codes[pool][:, :0]).grow(len(classes[0]), 1, vectors[0])
        loss = [float(block.totals[pool[one]].sum() - len(one) * vectors[one].min(axis=0).sum()) for one in grown]
        vain += 1
        if sum(loss) < losses[chosen].sum() - 1e-4:
            vain = 0
            for one, rows, own in zip(chosen, grown, loss, strict=True):
                classes[one] = [int(pool[row]) for row in rows]
                lowest[one] = block.vectors[classes[one]].min(axis=0)
                sums[one], losses[one] = lowest[one].sum(), own
        elif vain > PATIENCE * len(classes):
            return


class _Counts:
    """How often each sensitive value occurs in a class, at the places that all members have."""

    def __init__(self, codes: Codes, most: int) -> None:
        self.codes, self.most = codes, most
        self.shared = np.arange(codes.shape[1])
        self.members: list[int] = []

    def add(self, row: int) -> None:
        self.members.append(row)
        self.shared = self.shared[self.codes[row, self.shared] > 0]

    def clashes(self, rows: Rows) -> npt.NDArray[np.intp]:
        """For each candidate: at how many shared places its value would be too frequent."""
        own = self.codes[np.ix_(rows, self.shared)]
        there = self.codes[np.ix_(np.array(self.members), self.shared)]
        found: npt.NDArray[np.intp] = ((own[:, None, :] == there[None]).sum(axis=1) >= self.most).sum(axis=1)
        return found


class _Joining:
    """Classes that take in the records that are left over."""

    def __init__(self, embedding: Embedding, rows: Rows, members: list[list[int]]) -> None:
        self.vectors, self.rows, self.members = embedding.vectors, rows, members
        self.totals, self.cells = embedding.totals[rows], embedding.cells[rows]
        self.lowest = np.empty((0, 0), dtype=np.float32)

    def add(self, row: int, *, or_suppress: bool) -> bool:
        """Put a record where it costs least; False when it costs less to leave it out, and that is allowed."""
        if not self.members:
            self.members.append([row])
            return True
        if not len(self.lowest):
            self.lowest = np.stack([self.vectors[self.rows[one]].min(axis=0).toarray().ravel() for one in self.members])
        own = self.vectors[[self.rows[row]]].toarray().ravel()
        shared = np.minimum(self.lowest, own).sum(axis=1)
        sizes = np.array([len(one) for one in self.members])
        costs = sizes * (self.lowest.sum(axis=1) - shared) + self.totals[row] - shared
        best = int(np.argmin(costs))
        if or_suppress and costs[best] > self.cells[row]:
            return False
        self.members[best].append(row)
        self.lowest[best] = np.minimum(self.lowest[best], own)
        return True
