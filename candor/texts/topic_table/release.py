"""The topic × affect tables of a term, with noise that is fixed for the whole term."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from candor.errors import DataError
from candor.privacy.noise import Noisy, discrete_gaussian, discrete_laplace
from candor.privacy.sensitivity import Sensitivity, Whole
from candor.texts.labelling import Affect

NOTHING = -1


def sensitivity(*, cap: int, weeks: int) -> Sensitivity:
    """When one student's whole term is replaced: in each week up to `cap` cells lose the student and up to `cap` others gain them."""
    if cap < 1 or weeks < 1:
        raise DataError(f"cap and weeks are whole numbers of at least 1: got {cap!r} and {weeks!r}")
    return Sensitivity.of_histogram(cap * weeks)


def topic_tables(labels: ArrayLike, *, topics: int, cap: int) -> Whole:
    """Exact counts of students.

    Parameters
    ----------
    labels : int array, shape (students, weeks, topics)
        The `Affect` with which a student wrote about a topic in a week, −1 where they did not.
    topics : int
        Declared topics; those that nobody wrote about count 0.
    cap : int
        At most so many topics of one student in one week.

    Returns
    -------
    int array, shape (weeks, topics, 3)

    Raises
    ------
    DataError
        The shape or a code is another, or a student has more topics in a week than the cap.
    """
    table = np.asarray(labels)
    if table.ndim != 3 or table.shape[2] != topics or table.dtype.kind not in "iu":
        raise DataError(f"expected whole numbers of shape (students, weeks, {topics}): got {table.dtype} of shape {table.shape}")
    if table.size and not (table.min() >= NOTHING and table.max() < len(Affect)):
        raise DataError(f"a label is a whole number from {NOTHING} to {len(Affect) - 1}: got {table.min()} to {table.max()}")
    if table.size and (most := int((table > NOTHING).sum(axis=2).max())) > cap:
        raise DataError(f"a student has at most {cap} topics in a week: found {most}")
    return np.stack([(table == affect).sum(axis=0) for affect in Affect], axis=2)


def private_topic_tables(tables: ArrayLike, *, cap: int, rho: float | None = None, epsilon: float | None = None) -> Noisy:
    """All tables of a term with noise, for a ρ (Gaussian) or a pure ε (Laplace) of the whole term.

    Parameters
    ----------
    tables : int array, shape (weeks, topics, 3)
        From `topic_tables`. Every declared week is released, so that the loss does not depend on what was written.
    cap : int
        As in `topic_tables`.
    rho, epsilon : float
        Exactly one: the loss of the term. A week costs the term's loss divided by the number of weeks.
    """
    if (rho is None) == (epsilon is None):
        raise DataError("say either rho (Gaussian noise) or epsilon (Laplace noise)")
    weeks = np.shape(tables)[0] if np.ndim(tables) == 3 else 0
    if rho is not None:
        return discrete_gaussian(tables, sensitivity=sensitivity(cap=cap, weeks=weeks), rho=rho)
    return discrete_laplace(tables, sensitivity=sensitivity(cap=cap, weeks=weeks), epsilon=epsilon or 0.0)
