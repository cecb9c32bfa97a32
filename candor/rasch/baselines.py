"""Private difficulties for comparison with what is released: objective perturbation, noisy scores and totals, randomised response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from candor.errors import DataError
from candor.privacy.losses import Loss
from candor.rasch.answers import Omitted, QuizAnswers
from candor.rasch.before_spending import pure_epsilon
from candor.rasch.noise_aware import estimate_from_noisy_statistics
from candor.rasch.persons_and_items.release import difficulties_of_persons_and_items, private_persons_and_items
from candor.rasch.perturbed_objective.minimiser import NOT_FOR_RELEASE, perturbed_difficulties
from candor.rasch.randomized_response.release import private_answers, statistics_of

OBJECTIVE, TOTALS, RESPONSE = "objective_perturbation", "noisy_totals", "randomized_response"
WORSE = "comparison: the default method is more exact at the same price"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineDifficulties:
    """Difficulties with sum 0, standard deviations where the method knows them, their loss, the noise in words, and notes."""

    difficulties: tuple[float, ...]
    loss: Loss
    noise: str
    notes: tuple[str, ...]
    standard_deviations: tuple[float, ...] | None = None


def baseline_difficulties(answers: QuizAnswers, *, method: str, loss: Loss) -> BaselineDifficulties:
    """Estimate difficulties by a method that is here for comparison.

    Parameters
    ----------
    answers : QuizAnswers
        With the rule that an omitted answer is wrong.
    method : {"objective_perturbation", "noisy_totals", "randomized_response"}
    loss : Loss
        With a pure ε.

    Raises
    ------
    DataError
        Another method, or another rule for omitted answers.
    LossError
        The loss has no pure ε.

    Examples
    --------
    >>> quiz = QuizAnswers.of([[1, 1, 0], [1, 0, 0], [0, 1, 1]] * 1000)
    >>> found = baseline_difficulties(quiz, method="randomized_response", loss=Loss.pure(10.0))
    >>> abs(sum(found.difficulties)) < 1e-9, found.difficulties[2] > max(found.difficulties[:2])
    (True, True)
    """
    if method not in BASELINES:
        raise DataError(f"expected the method {' or '.join(BASELINES)}, found {method}")
    if answers.omitted is not Omitted.WRONG:
        raise DataError(f"the method {method} needs complete rows: expected the rule that omitted answers are wrong")
    return BASELINES[method](answers, pure_epsilon(loss))


def _objective(answers: QuizAnswers, epsilon: float) -> BaselineDifficulties:
    found = perturbed_difficulties(answers, epsilon=epsilon)
    return BaselineDifficulties(
        difficulties=found.difficulties, loss=found.loss, noise="noise in the conditional likelihood", notes=(NOT_FOR_RELEASE,)
    )


def _totals(answers: QuizAnswers, epsilon: float) -> BaselineDifficulties:
    exact = np.concatenate([answers.scores(), answers.totals()])
    noisy = private_persons_and_items(exact, m=answers.m, epsilon=epsilon)
    found = difficulties_of_persons_and_items(noisy.values, m=answers.m)
    noise = "discrete Laplace noise on scores of people and totals of items"
    return BaselineDifficulties(difficulties=tuple(found.tolist()), loss=noisy.loss, noise=noise, notes=(WORSE,))


def _response(answers: QuizAnswers, epsilon: float) -> BaselineDifficulties:
    reported = private_answers(answers.right.astype(np.int64), epsilon=epsilon)
    found = estimate_from_noisy_statistics(statistics_of(reported, epsilon=epsilon))
    return BaselineDifficulties(
        difficulties=found.difficulties,
        loss=reported.loss,
        noise="randomised response of each answer, before it is collected",
        notes=(WORSE,),
        standard_deviations=found.standard_deviations,
    )


BASELINES: dict[str, Callable[[QuizAnswers, float], BaselineDifficulties]] = {OBJECTIVE: _objective, TOTALS: _totals, RESPONSE: _response}
