"""The difficulties that the answers determine: those of items that can be compared in both directions."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from candor.errors import NotIdentifiedError
from candor.rasch.answers import BoolArray, IntArray, QuizAnswers


def comparable_items(answers: QuizAnswers, solved_first: IntArray) -> BoolArray:
    """Items whose difficulties have a finite estimate without a prior, shape (m,).

    Parameters
    ----------
    answers : QuizAnswers
    solved_first : ndarray of int, shape (m, m)
        Y_ij, how many people solved item i and answered item j wrongly.

    Raises
    ------
    NotIdentifiedError
        When fewer than two items are left, or when these fall into groups, of which one was always easier than another.

    Notes
    -----
    The maximum of the conditional likelihood exists exactly when each item leads to each other along pairs with Y_ij > 0 [1]_. An item that
    everybody solved, or nobody, is infinitely far from the others. It tells nothing about them, so they are estimated without it.

    References
    ----------
    .. [1] Fischer, G. H. (1981). On the existence and uniqueness of maximum-likelihood estimates in the Rasch model. Psychometrika 46,
       59–77.
    """
    kept = np.ones(answers.m, dtype=bool)
    while True:
        edges = solved_first[np.ix_(kept, kept)] > 0
        inside = edges.any(axis=0) & edges.any(axis=1)
        if inside.all():
            break
        kept[np.flatnonzero(kept)[~inside]] = False
    if kept.sum() < 2:
        raise NotIdentifiedError("no two items can be compared: expected people who solved one and not the other, in both directions")
    groups, group = connected_components(edges, connection="strong")
    if groups > 1:
        first = [answers.items[place] for place in np.flatnonzero(kept)[group == group[0]]]
        raise NotIdentifiedError(
            f"the items fall into {groups} groups, one always easier than another: {', '.join(first)} cannot be compared with the rest"
        )
    return kept
