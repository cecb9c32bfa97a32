"""Difficulties without noise, for staff alone: to publish them would publish what single people answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from candor.errors import DataError
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.comparable import comparable_items
from candor.rasch.conditional_likelihood import Fit, ScoreGroups, covariance_with_sum_zero, most_likely_difficulties
from candor.rasch.spectral import spectral_covariance, spectral_difficulties

CONDITIONAL, SPECTRAL = "conditional_ml", "spectral"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDifficulty:
    """One item. ``difficulty`` and ``standard_error``, in logits, are None where everybody solved the item, or nobody."""

    item: str
    right: int
    answered: int
    difficulty: float | None
    standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDifficulties:
    """Difficulties of all items by one method, in the order of the quiz; their sum is 0. They carry no noise: not for publication."""

    method: str
    n: int
    omitted: Omitted
    items: tuple[ItemDifficulty, ...]
    log_likelihood: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HardestItems:
    """The K hardest items, hardest first, and how far the last of them is from the next one.

    ``gap`` is the difference of the K-th and the K+1-th difficulty, with its standard error: a small gap means that chance chose the last.
    """

    items: tuple[str, ...]
    gap: float
    gap_standard_error: float


def item_difficulties(answers: QuizAnswers, *, method: str = CONDITIONAL) -> ItemDifficulties:
    """Estimate the difficulties of a quiz, without noise and for staff alone.

    Parameters
    ----------
    answers : QuizAnswers
    method : {"conditional_ml", "spectral"}

    Raises
    ------
    NotIdentifiedError
        When the answers do not tell how far groups of items are apart.
    DataError
        For another method.

    Notes
    -----
    Both assume the Rasch model, P(right) = σ(β − δ), and nothing about the abilities β. The conditional likelihood [1]_ is the efficient
    one. The spectral estimate [2]_ needs counts of pairs alone.

    References
    ----------
    .. [1] Andersen, E. B. (1972). The numerical solution of a set of conditional estimation equations. JRSS B 34, 42–54.
    .. [2] Nguyen, D. and Zhang, A. Y. (2022). A spectral approach to item response theory. NeurIPS 35.

    Examples
    --------
    Thirty people solved only the first item, ten only the second: the items are ln 3 apart.

    >>> found = item_difficulties(QuizAnswers.of([[1, 0]] * 30 + [[0, 1]] * 10 + [[1, 1]] * 5))
    >>> [round(item.difficulty, 4) for item in found.items], round(float(np.log(3)) / 2, 4)
    ([-0.5493, 0.5493], 0.5493)
    """
    if method not in _FITS:
        raise DataError(f"expected the method {' or '.join(_FITS)}, found {method}")
    kept = comparable_items(answers, answers.solved_first_not_second())
    fit, log_likelihood = _FITS[method](answers if kept.all() else answers.only(kept))
    places = np.cumsum(kept) - 1
    errors = np.sqrt(np.diag(fit.covariance))
    right, answered = answers.totals(), answers.answered()
    left_out = [name for name, keep in zip(answers.items, kept, strict=True) if not keep]
    return ItemDifficulties(
        method=method,
        n=answers.n,
        omitted=answers.omitted,
        items=tuple(
            ItemDifficulty(
                item=name,
                right=int(right[place]),
                answered=int(answered[place]),
                difficulty=float(fit.difficulties[places[place]]) if kept[place] else None,
                standard_error=float(errors[places[place]]) if kept[place] else None,
            )
            for place, name in enumerate(answers.items)
        ),
        log_likelihood=log_likelihood,
        notes=(f"no finite difficulty, because all or none solved it: {', '.join(left_out)}",) if left_out else (),
    )


def hardest_items(answers: QuizAnswers, *, k: int) -> HardestItems:
    """Find the K hardest items by the spectral estimate, without noise and for staff alone.

    Raises
    ------
    DataError
        When K is below 1, or no item would be left over.
    NotIdentifiedError
        When the answers do not tell how far groups of items are apart. Items that all or none solved are left out.

    References
    ----------
    .. [1] Private spectral estimation of item response theory, 2024, Theorem 3.2: n = O(ln m/gap²) people are enough, and needed.
    """
    kept = comparable_items(answers, answers.solved_first_not_second())
    if not kept.all():
        answers = answers.only(kept)
    if not 1 <= k < answers.m:
        raise DataError(f"expected 1 to {answers.m - 1} of {answers.m} items with a difficulty, found {k}")
    fit, _ = _spectral(answers)
    order = np.argsort(-fit.difficulties, kind="stable")
    last, following = order[k - 1], order[k]
    contrast = np.zeros(answers.m)
    contrast[last], contrast[following] = 1.0, -1.0
    return HardestItems(
        items=tuple(answers.items[place] for place in order[:k]),
        gap=float(contrast @ fit.difficulties),
        gap_standard_error=float(np.sqrt(contrast @ fit.covariance @ contrast)),
    )


def _conditional(answers: QuizAnswers) -> tuple[Fit, float | None]:
    difficulties, found = most_likely_difficulties(ScoreGroups.of(answers))
    return Fit(difficulties, covariance_with_sum_zero(found.information)), found.log_likelihood


def _spectral(answers: QuizAnswers) -> tuple[Fit, float | None]:
    difficulties = spectral_difficulties(answers.solved_first_not_second().astype(np.float64))
    return Fit(difficulties, spectral_covariance(answers, difficulties)), None


_FITS: dict[str, Callable[[QuizAnswers], tuple[Fit, float | None]]] = {CONDITIONAL: _conditional, SPECTRAL: _spectral}
