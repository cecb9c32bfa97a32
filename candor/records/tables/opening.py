"""New labels for the rows of dear classes: one is opened when enough rows gain by it; what is left of their classes goes elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from candor.records.hierarchies import Hierarchy
from candor.records.tables.classes import FAR, Classes, Floats, Nodes, Single

Keys = npt.NDArray[np.uint32]
MOST_LABELS = 10_000_000
"""Pairs of a dear row and a label above it that are looked at."""
TRIALS, PATIENCE, LEAST_SHARE, MOST_SHARE = 3000, 250, 0.5, 2.5
"""Labels that are tried, how many of them in vain before the search ends, and how many rows, in terms of k, must gain by one."""
LEAST_GAIN, LEAST_SAVED, USUAL = 1e-4, 0.05, 0.15
"""The smallest gain; the least that a row must save by a label; the loss that is presumed of rows that fill a label up."""
NOBODY = np.zeros(0, dtype=np.int64)


class Opener:
    """Opens labels among classes.

    Parameters
    ----------
    classes : Classes
    hierarchies : sequence of Hierarchy, shape (attributes,)
    """

    def __init__(self, classes: Classes, hierarchies: Sequence[Hierarchy]) -> None:
        self.classes = classes
        self.depths = [[len(tree.chain(node)) - 1 for node in range(len(tree.labels))] for tree in hierarchies]
        self.above = [above.T.copy() for above in classes.above]
        """For each attribute the labels above each row, from the root down; shape (levels, rows)."""
        self.known: dict[tuple[int, ...], npt.NDArray[np.bool_]] = {}
        """The rows that a half of a label covers; many labels share it."""
        self.prices = [_once(above, losses) for above, losses in zip(self.above, classes.losses, strict=True)]
        rng = np.random.default_rng(0)
        self.codes = [rng.integers(2**32, size=len(own), dtype=np.uint32) for own in classes.losses]
        """A number for each label of each attribute. Their sum is the key of a label; two labels with one key cost a vain trial."""
        self.elsewhere, self.target = np.full(len(classes.of), FAR), np.full(len(classes.of), -1)
        """The further cost of leaving its class for the best other one, and that class; FAR for rows that are not at hand."""

    def run(self) -> int:
        """Try the most promising labels; how many were opened."""
        if not len(self.classes.rows):
            return 0
        self._look_elsewhere(self.classes.rows)
        opened = vain = 0
        for label in self._candidates():
            if self._opened(label):
                opened, vain = opened + 1, 0
            elif (vain := vain + 1) > PATIENCE:
                break
        return opened

    def _look_elsewhere(self, rows: Nodes) -> None:
        classes = self.classes
        self.target[rows], costs = classes.cheapest(rows, but_own=True)
        self.elsewhere[rows] = costs - classes.costs[classes.of[rows]]
        self.all_elsewhere = np.bincount(classes.of, self.elsewhere, minlength=len(classes.sizes))

    def _candidates(self) -> Nodes:
        """Labels by which many rows of dear classes would gain, the best first; shape (labels, attributes)."""
        classes, numbers = self.classes, [len(above) for above in self.above]
        rows, keys, saved, places = self._savings(numbers)
        order = np.argsort(keys)
        begins = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] + np.uint32(1)))
        gainers = np.diff(begins, append=len(keys))
        likely = np.flatnonzero((gainers >= LEAST_SHARE * classes.k) & (gainers <= MOST_SHARE * classes.k))
        if not len(likely):
            return np.zeros((0, len(self.above)), dtype=np.int64)
        gains = np.add.reduceat(saved[order], begins)[likely]
        row, *levels = np.unravel_index(places[order[begins[likely]]], [len(rows), *numbers])
        labels = np.column_stack([above[level, rows[row]] for above, level in zip(self.above, levels, strict=True)])
        losses = sum(own[labels[:, at]] for at, own in enumerate(classes.losses))
        worth = gains - np.maximum(0, classes.k - gainers[likely]) * np.maximum(0, losses - USUAL)
        return labels[np.argsort(-worth)[: min(TRIALS, int((worth > 0).sum()))]]

    def _savings(self, numbers: Sequence[int]) -> tuple[Nodes, Keys, Single, Nodes]:
        """Dear rows; and for each label above one by which it would gain: the key of the label, the gain, and its place among all.

        The places are those in an array of rows and levels, shape (rows, *numbers). The levels of the first attributes are taken one after
        the other, so that the arrays stay small. Labels that too few rows share are left out, but for those that share a bucket.
        """
        classes, half, fewest = self.classes, len(numbers) // 2, LEAST_SHARE * self.classes.k
        costs = classes.costs[classes.of[classes.rows]]
        dearest = np.argsort(-costs, kind="stable")[: MOST_LABELS // int(np.prod(numbers))]
        rows = classes.rows[dearest]
        (outer, outer_keys), (inner, inner_keys) = self._combined(rows, range(half)), self._combined(rows, range(half, len(numbers)))
        left = costs[dearest, None] - np.float32(LEAST_SAVED) - inner
        gaining = np.flatnonzero(left > 0)
        left.ravel()[gaining[~_shared(inner_keys.ravel()[gaining], fewest)]] = 0
        most, width, found = left.max(axis=1, initial=0), inner.shape[1], []
        for number, (own, own_keys) in enumerate(zip(outer.T.copy(), outer_keys.T.copy(), strict=True)):
            some = np.flatnonzero(most > own)
            some = some[_shared(own_keys[some], fewest)]
            saved = left[some] - own[some, None]
            gaining = np.flatnonzero(saved > 0)
            keys = (inner_keys[some] + own_keys[some, None]).ravel()[gaining]
            shared = _shared(keys, fewest)
            gaining = gaining[shared]
            row, combination = np.divmod(gaining, width)
            found.append((keys[shared], saved.ravel()[gaining], (some[row] * outer.shape[1] + number) * width + combination))
        keys, gains, places = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return rows, keys, gains + np.float32(LEAST_SAVED), places

    def _combined(self, rows: Nodes, attributes: Sequence[int]) -> tuple[Single, Keys]:
        """The losses and the keys of all combinations of the levels of some attributes; shape (rows, combinations)."""
        losses, keys = np.zeros((len(rows), 1), dtype=np.float32), np.zeros((len(rows), 1), dtype=np.uint32)
        for at in attributes:
            labels, own = self.above[at][:, rows].T, self.prices[at][:, rows].T
            losses = (losses[:, :, None] + own[:, None, :]).reshape(len(rows), -1)
            keys = (keys[:, :, None] + self.codes[at][labels][:, None, :]).reshape(len(rows), -1)
        return losses, keys

    def _opened(self, label: Nodes) -> bool:
        """Whether the label was opened: all that changed loses less together, and keeps the demands."""
        classes = self.classes
        takers, homeless = self._plan(label.tolist())
        empty = np.flatnonzero((classes.sizes == 0) & (classes.least > 0))
        if not len(takers) or not len(empty):
            return False
        before = classes.loss
        back = dict(zip(takers.tolist(), classes.of[takers].tolist(), strict=True))
        classes.move(dict.fromkeys(back, int(empty[0])))
        for one in homeless.tolist():
            for row in list(classes.members[one]):
                costs = classes.costs_of_joining(classes.at[row : row + 1])[0]
                costs[one] = FAR
                back.setdefault(row, one)
                classes.move({row: int(costs.argmin())}, settle=one)
        changed = {*back.values(), *classes.of[list(back)].tolist()}
        small = any(0 < len(classes.members[one]) < classes.least[one] for one in changed)
        if classes.loss < before - LEAST_GAIN and not small and classes.diverse(changed):
            stale = np.isin(classes.of, list(changed)) | np.isin(self.target, list(changed))
            self._look_elsewhere(np.flatnonzero(stale & (classes.at >= 0)))
            return True
        classes.move(back)
        return False

    def _below(self, label: Sequence[int]) -> Nodes:
        """The rows that the label covers."""
        half = len(label) // 2
        return (self._covered(label, range(half)) & self._covered(label, range(half, len(label)))).nonzero()[0]

    def _covered(self, label: Sequence[int], attributes: range) -> npt.NDArray[np.bool_]:
        """The rows that some attributes of the label cover. It is kept, because many labels share it."""
        own = (attributes.start, *label[attributes.start : attributes.stop])
        if own not in self.known:
            covers = [self.above[at][self.depths[at][label[at]]] == label[at] for at in attributes]
            self.known[own] = np.logical_and.reduce(covers, initial=True)
        return self.known[own]

    def _plan(self, label: Sequence[int]) -> tuple[Nodes, Nodes]:
        """The rows that would take the label, and the classes that would be dissolved for it; no rows when that gains nothing.

        Each class gives its rows for which the label is cheaper, up to its surplus; or all of them, while its others go elsewhere.
        Surplus rows of cheaper classes fill up what is missing to k.
        """
        classes = self.classes
        below = self._below(label)
        if len(below) < classes.k:
            return NOBODY, NOBODY
        of = classes.of[below]
        numbers = np.bincount(of)
        own = numbers.nonzero()[0]
        asked, sizes = numbers[own], classes.sizes[own]
        saved = classes.costs[own] - np.float32(sum(float(losses[node]) for losses, node in zip(classes.losses, label, strict=True)))
        gaining, surplus = saved > LEAST_GAIN, sizes - classes.least[own]
        others = self.all_elsewhere[own] - np.bincount(of, self.elsewhere[below])[own]
        whole = (asked <= surplus) | (asked == sizes)
        dissolved, parts = saved * asked - others, saved * surplus
        homeless = gaining & ~whole & (dissolved > parts)
        gain = float(np.where(whole, saved * asked, np.maximum(dissolved, parts)) @ gaining)
        if gain <= LEAST_GAIN:
            return NOBODY, NOBODY
        given = np.where(gaining, np.where(whole | homeless, asked, surplus), 0)
        if (missing := classes.k - given.sum()) > 0:
            resting = np.flatnonzero(~gaining)
            cheapest = resting[np.argsort(-saved[resting], kind="stable")]
            ready = np.minimum(asked, surplus)[cheapest]
            given[cheapest] = np.clip(missing - (np.cumsum(ready) - ready), 0, ready)
            gain += float(saved[cheapest] @ given[cheapest])
        if given.sum() < classes.k or gain <= LEAST_GAIN:
            return NOBODY, NOBODY
        limits = np.zeros(len(numbers))
        limits[own] = given
        return below[_first(of, limits)], own[homeless]


def _shared(keys: Keys, fewest: float) -> npt.NDArray[np.bool_]:
    """The keys in a bucket of as many keys, or more: all that stand there so often, and a few others.

    Examples
    --------
    >>> _shared(np.array([7, 7, 2**31], dtype=np.uint32), 2).tolist()
    [True, True, False]
    """
    buckets = keys >> np.uint32(32 - len(keys).bit_length())
    return np.asarray(np.bincount(buckets)[buckets] >= fewest)


def _once(above: npt.NDArray[np.uint16], losses: Single) -> Single:
    """The losses of labels; FAR where a label repeats the one before."""
    found = losses[above]
    found[1:][above[1:] == above[:-1]] = FAR
    return found


def _first(own: Nodes, limits: Floats) -> Nodes:
    """The first rows of each class, up to its limit.

    Examples
    --------
    >>> _first(np.array([1, 0, 1, 1]), np.array([1, 2])).tolist()
    [1, 0, 2]
    """
    numbers = np.bincount(own, minlength=len(limits))
    order = np.argsort(own.astype(np.min_scalar_type(len(limits))), kind="stable")  # small numbers are sorted by their digits
    place = np.arange(len(own)) - (np.cumsum(numbers) - numbers)[own[order]]
    return np.asarray(order[place < limits[own[order]]])
