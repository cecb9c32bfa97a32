"""Difficulties for the public: noise first, everything else computed from what has noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candor.errors import DataError
from candor.estimators.intervals import normal_quantile
from candor.privacy.losses import Loss
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.before_spending import GAUSSIAN, MECHANISMS, NOT_GIVEN, PAIRS, PURE, NoiseError, predicted_error, pure_epsilon, warning
from candor.rasch.noise_aware import AbilityDensity, NoisyStatistics, estimate_from_noisy_statistics
from candor.rasch.pairs.release import all_pairs, difficulties_of_pairs, private_pairs, sparse_pairs
from candor.rasch.pure_totals_and_scores.release import pure_totals_and_scores
from candor.rasch.right_and_answered.release import private_right_and_answered
from candor.rasch.totals_and_scores.release import private_totals_and_scores

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyPairs:
    """All that a spectral release tells: `counts` of (first, second), how many solved the first item and not the second, with noise."""

    n: int
    m: int
    pairs: tuple[tuple[int, int], ...]
    counts: tuple[int, ...]
    variance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedDifficulty:
    """The difficulty of one item in logits, and its 95 % interval, which includes sampling and noise (None for the spectral release)."""

    item: str
    difficulty: float
    standard_deviation: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyRelease:
    """Difficulties that may be published.

    Attributes
    ----------
    mechanism : str
        One of `candor.rasch.before_spending.MECHANISMS`.
    n : int
    omitted : Omitted
        The declared rule for omitted answers.
    loss : Loss
        What it cost.
    predicted_error : float
        What was said before it was spent.
    statistics : NoisyStatistics or NoisyPairs
        The noisy numbers: everything else follows from these.
    items : tuple of ReleasedDifficulty
        Their sum is 0.
    abilities : AbilityDensity or None
        None for the spectral release.
    """

    mechanism: str
    n: int
    omitted: Omitted
    loss: Loss
    predicted_error: float
    statistics: NoisyStatistics | NoisyPairs
    items: tuple[ReleasedDifficulty, ...]
    abilities: AbilityDensity | None


def release_difficulties(
    answers: QuizAnswers, *, loss: Loss, mechanism: str = GAUSSIAN, sparse: bool = False, although_noise: bool = False
) -> DifficultyRelease:
    """Release the difficulties of a quiz at a privacy loss.

    Parameters
    ----------
    answers : QuizAnswers
        Under the rule "omitted = not given" only the mechanism ``"right_and_answered"`` and ``"pairs"`` protect what was left out.
    loss : Loss
        To be spent, from `candor.rasch.before_spending.budget` or a ledger.
    mechanism : str
        ``"totals_and_scores"`` (the default), ``"pure_totals_and_scores"``, ``"right_and_answered"`` or ``"pairs"``.
    sparse : bool
        For ``"pairs"``: a graph of few pairs, drawn before the answers are read.
    although_noise : bool
        Go on when the predicted standard error is above .5.

    Raises
    ------
    NoiseError
        When the release would be noise, and `although_noise` is not said; nothing is spent.
    DataError
        When the mechanism does not fit the rule for omitted answers.
    LossError
        When a pure release is asked for without a pure ε.

    Examples
    --------
    >>> from candor.rasch.before_spending import budget
    >>> quiz = QuizAnswers.of([[1, 1, 0], [1, 0, 0], [0, 1, 1]] * 1000)
    >>> release = release_difficulties(quiz, loss=budget(n=3000, epsilon=1.0, delta=1e-5))
    >>> [item.difficulty > 0 for item in release.items], release.loss.rho <= budget(n=3000, epsilon=1.0, delta=1e-5).rho
    ([False, False, True], True)
    """
    if mechanism not in MECHANISMS:
        raise DataError(f"expected one of {', '.join(MECHANISMS)}, found {mechanism}")
    if mechanism != PAIRS and (answers.omitted is Omitted.NOT_GIVEN) != (mechanism == NOT_GIVEN):
        raise DataError(
            f"the mechanism {mechanism} does not fit the rule that an omitted answer is {answers.omitted.value.replace('_', ' ')}"
        )
    said = warning(n=answers.n, m=answers.m, loss=loss, mechanism=mechanism)
    if said and not although_noise:
        raise NoiseError(said)
    statistics, spent = _statistics(answers, loss=loss, mechanism=mechanism, sparse=sparse)
    items, abilities = estimate_released(statistics, items=answers.items)
    return DifficultyRelease(
        mechanism=mechanism,
        n=answers.n,
        omitted=answers.omitted,
        loss=spent,
        predicted_error=predicted_error(n=answers.n, m=answers.m, loss=loss, mechanism=mechanism),
        statistics=statistics,
        items=items,
        abilities=abilities,
    )


def estimate_released(
    statistics: NoisyStatistics | NoisyPairs, *, items: tuple[str, ...]
) -> tuple[tuple[ReleasedDifficulty, ...], AbilityDensity | None]:
    """Difficulties, and the density of abilities, from noisy numbers alone: anybody can compute them again."""
    if isinstance(statistics, NoisyPairs):
        graph = np.zeros((statistics.m, statistics.m), dtype=bool)
        graph[tuple(np.array(statistics.pairs).T)] = True
        found = difficulties_of_pairs(np.array(statistics.counts), graph=graph, variance=statistics.variance)
        return tuple(
            ReleasedDifficulty(item=item, difficulty=float(value), standard_deviation=None, low=None, high=None)
            for item, value in zip(items, found, strict=True)
        ), None
    estimate = estimate_from_noisy_statistics(statistics)
    z = normal_quantile(LEVEL)
    return tuple(
        ReleasedDifficulty(item=item, difficulty=value, standard_deviation=deviation, low=value - z * deviation, high=value + z * deviation)
        for item, value, deviation in zip(items, estimate.difficulties, estimate.standard_deviations, strict=True)
    ), estimate.abilities


def _statistics(answers: QuizAnswers, *, loss: Loss, mechanism: str, sparse: bool) -> tuple[NoisyStatistics | NoisyPairs, Loss]:
    """The noisy numbers of a mechanism, and what they cost."""
    if mechanism == PAIRS:
        graph = sparse_pairs(answers.m) if sparse else all_pairs(answers.m)
        noisy = private_pairs(answers.solved_first_not_second(), graph=graph, rho=loss.rho)
        pairs = tuple((int(first), int(second)) for first, second in np.argwhere(graph))
        counts = tuple(noisy.values.tolist())
        return NoisyPairs(n=answers.n, m=answers.m, pairs=pairs, counts=counts, variance=noisy.noise_sd**2), noisy.loss
    if mechanism == NOT_GIVEN:
        noisy = private_right_and_answered(np.stack([answers.totals(), answers.answered()]), rho=loss.rho)
        right, answered = (tuple(row) for row in noisy.values.tolist())
        return NoisyStatistics(n=answers.n, totals=right, totals_variance=noisy.noise_sd**2, answered=answered), noisy.loss
    if mechanism == PURE:
        totals, scores = pure_totals_and_scores(answers.totals(), answers.score_counts(), epsilon=pure_epsilon(loss))
    else:
        totals, scores = private_totals_and_scores(answers.totals(), answers.score_counts(), rho=loss.rho)
    return NoisyStatistics(
        n=answers.n,
        totals=tuple(totals.values.tolist()),
        totals_variance=totals.noise_sd**2,
        score_counts=tuple(scores.values.tolist()),
        score_variance=scores.noise_sd**2,
    ), totals.loss + scores.loss
