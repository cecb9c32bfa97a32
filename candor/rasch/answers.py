"""Answers to a quiz: read, held to limits, and counted as the declared rule for omitted answers says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from candor.errors import DataError, TooFewResponsesError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

FEWEST_ITEMS, MOST_ITEMS = 2, 200
FEWEST_PEOPLE = 20


class Omitted(StrEnum):
    """The rule for answers that were left out. It is declared before the data are read."""

    WRONG = "wrong"
    """An omitted answer counts as wrong: every row is complete."""
    NOT_GIVEN = "not_given"
    """An omitted answer is no answer: an item is judged by the people who answered it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuizAnswers:
    """The answers of n people to m items.

    Attributes
    ----------
    items : tuple of str
        Names of the m items.
    right, given : ndarray of bool, shape (n, m)
        Whether an answer is right, and whether it counts as given. Where nothing is given, nothing is right.
    omitted : Omitted
        The rule by which `given` was made. With ``WRONG`` it is true everywhere.
    """

    items: tuple[str, ...]
    right: BoolArray
    given: BoolArray
    omitted: Omitted

    @classmethod
    def of(cls, answers: npt.ArrayLike, *, omitted: Omitted = Omitted.WRONG, items: Sequence[str] | None = None) -> QuizAnswers:
        """Read a table of answers.

        Parameters
        ----------
        answers : array_like, shape (n, m)
            1 is right, 0 is wrong, NaN is omitted. At least 20 people, 2 to 200 items.
        omitted : Omitted
            What an omitted answer means.
        items : sequence of str, optional
            Names of the items. Default: "item 1", "item 2", …

        Raises
        ------
        DataError
            For another shape, other values, too few or too many items, or names that are not one for each item.
        TooFewResponsesError
            For fewer than 20 people.

        Examples
        --------
        >>> quiz = QuizAnswers.of([[1, 0], [1, np.nan]] * 10)
        >>> quiz.n, quiz.m, quiz.totals().tolist(), quiz.score_counts().tolist()
        (20, 2, [20, 0], [0, 20, 0])
        >>> QuizAnswers.of([[1, 0], [1, np.nan]] * 10, omitted=Omitted.NOT_GIVEN).given.sum(axis=0).tolist()
        [20, 10]
        """
        try:
            table = np.asarray(answers, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"expected a table of 0, 1 and empty answers, found {error}") from error
        if table.ndim != 2:
            raise DataError(f"expected a table with a row for each person and a column for each item, found {table.ndim} dimensions")
        n, m = table.shape
        check_size(n, m)
        missing = np.isnan(table)
        strange = ~(missing | (table == 0) | (table == 1))
        if strange.any():
            row, column = np.argwhere(strange)[0]
            raise DataError(f"answers must be 0, 1 or empty, found {table[row, column]:g} in row {row + 1}, column {column + 1}")
        names = tuple(items) if items is not None else tuple(f"item {place}" for place in range(1, m + 1))
        if len(names) != m or len(set(names)) != m:
            raise DataError(f"expected {m} different names of items, found {len(names)}, {len(set(names))} of them different")
        given = ~missing if omitted == Omitted.NOT_GIVEN else np.ones_like(missing)
        return cls(items=names, right=table == 1, given=given, omitted=Omitted(omitted))

    @property
    def n(self) -> int:
        """Number of people."""
        return len(self.right)

    @property
    def m(self) -> int:
        """Number of items."""
        return len(self.items)

    def totals(self) -> IntArray:
        """How many people solved each item, shape (m,)."""
        return np.asarray(np.count_nonzero(self.right, axis=0), dtype=np.int64)

    def answered(self) -> IntArray:
        """How many people gave an answer to each item, shape (m,)."""
        return np.asarray(np.count_nonzero(self.given, axis=0), dtype=np.int64)

    def scores(self) -> IntArray:
        """How many items each person solved, shape (n,)."""
        return np.asarray(np.count_nonzero(self.right, axis=1), dtype=np.int64)

    def score_counts(self) -> IntArray:
        """How many people have each score from 0 to m, shape (m + 1,)."""
        return np.bincount(self.scores(), minlength=self.m + 1)

    def solved_first_not_second(self) -> IntArray:
        """Y_ij, how many people solved item i and answered item j wrongly, shape (m, m), 0 on the diagonal.

        Notes
        -----
        A product of matrices of 32-bit floats, exact for fewer than 2²⁴ people.
        """
        wrong = self.given & ~self.right
        return np.rint(self.right.astype(np.float32).T @ wrong.astype(np.float32)).astype(np.int64)

    def only(self, kept: BoolArray) -> QuizAnswers:
        """The same people, some of the items."""
        names = tuple(name for name, keep in zip(self.items, kept, strict=True) if keep)
        return QuizAnswers(items=names, right=self.right[:, kept], given=self.given[:, kept], omitted=self.omitted)


def check_size(n: int, m: int) -> None:
    """Refuse a quiz that is too small to be estimated, or larger than the methods are made for.

    Raises
    ------
    DataError
        For fewer than 2 or more than 200 items.
    TooFewResponsesError
        For fewer than 20 people.
    """
    if not FEWEST_ITEMS <= m <= MOST_ITEMS:
        raise DataError(f"a quiz must have {FEWEST_ITEMS} to {MOST_ITEMS} items, found {m}")
    if n < FEWEST_PEOPLE:
        raise TooFewResponsesError(needed=FEWEST_PEOPLE, found=n, of="the quiz")
