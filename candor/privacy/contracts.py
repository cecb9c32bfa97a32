"""The contract of a mechanism: one folder each, and one suite that holds all of them to it (tests/contracts/test_mechanisms.py).

A new mechanism is a copy of a folder such as `candor/queries/histogram`: `README.md` (neighbours, proof of the sensitivity, loss, example),
the modules that compute and release, and `contract.py`, whose ``CONTRACT`` the suite finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from candor.privacy.auditing import Audit
from candor.privacy.noise import Noisy
from candor.privacy.sensitivity import Sensitivity, Whole


@dataclass(frozen=True)
class Small:
    """Data small enough to try every row in every place.

    Parameters
    ----------
    rows : int array, shape (possible rows, columns)
        Every row that a participant can have.
    statistic : callable
        From a table, shape (n, columns), to the exact numbers that get noise.
    claimed : Sensitivity
        What the mechanism calibrates its noise to for this table.
    n : int
        Rows of a table. One is enough for sums over rows, two for what depends on others.
    """

    rows: Whole
    statistic: Callable[[Whole], Whole]
    claimed: Sensitivity
    n: int = 2

    def true_sensitivity(self) -> Sensitivity:
        """Over all tables and all replacements of one row."""
        return Sensitivity.largest(self._changes())

    def _changes(self) -> Iterator[Whole]:
        for others in combinations_with_replacement(self.rows, self.n - 1):
            numbers = np.array([np.ravel(self.statistic(np.array([*others, row]))) for row in self.rows])
            one, other = np.tril_indices(len(numbers), -1)
            yield numbers[one] - numbers[other]


@dataclass(frozen=True)
class Contract:
    """All that the suite checks about one mechanism.

    Parameters
    ----------
    name : str
        In words, as pages show it.
    small : tuple of Small
        Settings whose claimed sensitivity must equal the true one.
    release : callable
        Releases from the numbers that it is given, at a small loss: the suite passes NaN and fractions, which must be refused, and compares
        `Noisy.loss` with what was asked for.
    audit : Audit
        On a worst-case pair: must hold.
    control : Audit
        The same attack on a wrong calibration: must be caught.
    runs : int
        Releases in each world in the short audit of the suite; `benchmarks/audit.py` takes a hundred times as many.
    """

    name: str
    small: tuple[Small, ...]
    release: Callable[[ArrayLike], Noisy]
    audit: Audit
    control: Audit
    runs: int = 4000


def contracts() -> dict[str, Contract]:
    """Every mechanism of the library by its folder, such as ``"queries.histogram"``."""
    root = Path(__file__).parents[1]
    found = sorted(path.parent.relative_to(root) for path in root.glob("**/contract.py"))
    return {".".join(folder.parts): import_module(".".join(("candor", *folder.parts, "contract"))).CONTRACT for folder in found}
