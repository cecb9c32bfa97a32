"""Classes of records that lose little together: blocks by principal directions, greedy growth on the exact loss, then exchanges."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from candor.records.embedding import Embedding
from candor.records.shuffling import secret_generator

BLOCK, SAMPLE, TURNS = 1000, 2000, 10
FEW, TRIES, OF_ALL, NEAR, OF = 1000, 60, 20_000, 4, 8
"""With fewer records than `FEW` there is time: a class and 4 of its 8 nearest ones are taken apart and grown again, and records exchanged;
what loses less is kept. This is done 60 times, and at most twice for each class and 20,000 times over the number of records."""
EXCHANGES, LEAST_GAIN = 3, 1e-3
"""How often every record of few looks for one of another class to change places with, and what both classes must gain."""
CANDIDATES, CLASH, LOOKS = 24, 1.2, 6
"""With ℓ the next member is the best of so many, and each value that would be too frequent costs so much for each record of the class; of
so many records one is chosen to change places with."""
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
        exchange = _Exchange(grown, members, most=size // diversity if diversity > 1 else 0)
        members, loss = exchange.run(rng, times=EXCHANGES if n < FEW or diversity > 1 else 1)
        if diversity == 1 and n < FEW:
            members = _improve(grown, members, loss, times=min(TRIES, OF_ALL // n, 2 * len(members)), rng=rng)
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


def _improve(block: _Block, classes: list[list[int]], least: float, *, times: int, rng: np.random.Generator) -> list[list[int]]:
    """Take a class and near ones apart, grow them again from another beginning, and exchange records; keep what loses less."""
    for _ in range(times if len(classes) > 1 else 0):
        lowest = np.stack([block.vectors[one].min(axis=0) for one in classes])
        start = int(rng.integers(len(classes)))
        apart = lowest.sum(axis=1) - 2 * np.minimum(lowest, lowest[start]).sum(axis=1)
        apart[start] = -np.inf
        chosen = np.append(rng.permutation(np.argsort(apart)[1 : 1 + OF])[:NEAR], start)
        pool = rng.permutation(np.concatenate([classes[one] for one in chosen]))
        vectors = block.vectors[pool]
        vectors = vectors[:, vectors.any(axis=0)]
        grown, _ = _Block(vectors, block.totals[pool], block.codes[pool][:, :0]).grow(len(classes[0]), 1, vectors[0])
        changed = list(classes)
        for one, rows in zip(chosen, grown, strict=True):
            changed[one] = pool[rows].tolist()
        changed, loss = _Exchange(block, changed).run(rng, times=EXCHANGES)
        if loss < least:
            least, classes = loss, changed
    return classes


class _Exchange:
    """Two records of different classes change places while both classes together lose less.

    `most`: how often a sensitive value may occur at a place of a class before it costs; 0: nothing is demanded of them.
    """

    def __init__(self, block: _Block, members: list[list[int]], *, most: int = 0) -> None:
        n = len(block.vectors)
        self.vectors, self.totals = block.vectors, block.totals
        self.turned = block.turned
        self.turned[:] = block.vectors.T
        self.members = [np.array(one) for one in members]
        self.class_of = np.full(n, -1)
        for number, one in enumerate(self.members):
            self.class_of[one] = number
        self.losses = np.full(len(members) + 1, -np.inf, dtype=np.float32)  # the last one is of records in no class: they stay there
        self.with_other = np.empty((n, n), dtype=np.float32)
        """The loss of a record's class, had another record its place."""
        self.with_other[self.class_of < 0] = 0.0
        self.codes, self.most = block.codes, most
        self.clashes = np.zeros(len(members) + 1)
        for number in range(len(members)):
            self._measure(number)

    def _clashes(self, rows: Rows) -> float:
        """The cost of values that are too frequent at the places that all of these have."""
        codes = self.codes[rows]
        codes = codes[:, codes.all(axis=0)]
        counts = (codes[:, None] == codes[None]).sum(axis=1)
        return CLASH * len(rows) * float(np.maximum(0.0, 1 - self.most / counts).sum())

    def _best(self, row: int, gains: Floats) -> int:
        """The record with which to change places; the record itself if nothing gains."""
        best, least = row, LEAST_GAIN
        first = self.members[own := self.class_of[row]]
        for other in np.argsort(-gains)[:LOOKS] if self.most else [np.argmax(gains)]:
            second = self.members[number := self.class_of[other]]
            gain = gains[other] + self.clashes[own] + self.clashes[number]
            if gain > least and self.most:
                gain -= self._clashes(np.where(first == row, other, first)) + self._clashes(np.where(second == other, row, second))
            if gain > least:
                best, least = int(other), gain
        return best

    def _measure(self, number: int) -> None:
        """The losses of a class as it is, and with each record in the place of each member."""
        rows = self.members[number]
        vectors, totals = self.vectors[rows], self.totals[rows]
        lowest, second = np.partition(vectors, 1, axis=0)[:2]
        at = np.flatnonzero(lowest)
        shared = np.minimum(self.turned[at], lowest[at, None]).sum(axis=0)
        self.losses[number] = totals.sum() - len(rows) * lowest.sum()
        freed = (vectors == lowest) & (second > lowest)  # components that the member alone keeps low
        for row, total, own in zip(rows, totals, freed, strict=True):
            at = np.flatnonzero(own)
            there = self.turned[at]
            more = np.minimum(there, second[at, None]).sum(axis=0) - np.minimum(there, lowest[at, None]).sum(axis=0)
            self.with_other[row] = totals.sum() - total + self.totals - len(rows) * (shared + more)
        if self.most:
            self.clashes[number] = self._clashes(rows)

    def run(self, rng: np.random.Generator, *, times: int) -> tuple[list[list[int]], float]:
        """The classes after all exchanges that gain, and their loss."""
        rows = np.flatnonzero(self.class_of >= 0)
        for _ in range(times):
            done = 0
            for row in rng.permutation(rows):
                own = self.class_of[row]
                gains = self.losses[own] + self.losses[self.class_of] - self.with_other[row] - self.with_other[:, row]
                gains[self.members[own]] = -np.inf
                other = self._best(row, gains)
                if other != row:
                    done += 1
                    for number, before, after in ((own, row, other), (self.class_of[other], other, row)):
                        self.members[number][self.members[number] == before] = after
                        self.class_of[after] = number
                        self._measure(number)
            if not done:
                break
        return [one.tolist() for one in self.members], float(self.losses[:-1].sum())


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
