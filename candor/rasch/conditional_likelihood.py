"""Conditional maximum likelihood of item difficulties: given the scores, the answers say nothing about abilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from candor.errors import MethodError
from candor.rasch.answers import BoolArray, FloatArray, IntArray, QuizAnswers
from candor.rasch.score_tree import ScoreTree, item_leaves

STEPS = 100
HALVINGS = 40
LONGEST_STEP = 2.0
"""The farthest that one step of Newton's moves a difficulty, in logits."""
CONVERGED = 1e-6
"""Largest step, in logits, after which the maximum is found: Newton's next step would be about its square."""
ROUNDING = 1e-14
"""The error of a log-likelihood in floating point, relative to its size."""
NUMBERS_AT_ONCE = 1_000_000
"""Numbers held at a time: each pattern of given answers needs the square of the number of items, several times."""


class Derivatives(NamedTuple):
    """The conditional log-likelihood, its gradient, shape (m,), and minus its second derivatives, shape (m, m)."""

    log_likelihood: float
    gradient: FloatArray
    information: FloatArray


class Fit(NamedTuple):
    """Difficulties with sum 0, shape (m,), and their covariance, shape (m, m)."""

    difficulties: FloatArray
    covariance: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreGroups:
    """All that the conditional likelihood needs to know of the answers.

    People who solved nothing or everything that they answered say nothing and are left out.

    Attributes
    ----------
    given : ndarray of bool, shape (B, m)
        The patterns of given answers that occur: one, when all rows are complete.
    pattern, score, people : ndarray of int, shape (G,)
        The groups of people with one pattern and one score, in the order of patterns, and their sizes.
    totals : ndarray of int, shape (m,)
        How many of these people solved each item.
    """

    given: BoolArray
    pattern: IntArray
    score: IntArray
    people: IntArray
    totals: IntArray

    @classmethod
    def of(cls, answers: QuizAnswers) -> ScoreGroups:
        """Count people by pattern and score."""
        scores, answered = answers.scores(), np.count_nonzero(answers.given, axis=1)
        telling = (scores > 0) & (scores < answered)
        if answered.min() == answers.m:
            given, pattern = np.ones((1, answers.m), dtype=bool), np.zeros(len(scores), dtype=np.int64)
        else:
            given, pattern = np.unique(answers.given, axis=0, return_inverse=True)
        groups, people = np.unique((pattern.ravel() * (answers.m + 1) + scores)[telling], return_counts=True)
        totals = np.count_nonzero(answers.right[telling], axis=0)
        return cls(given=given, pattern=groups // (answers.m + 1), score=groups % (answers.m + 1), people=people, totals=totals)

    def derivatives(self, difficulties: FloatArray) -> Derivatives:
        """Evaluate the conditional log-likelihood and its derivatives by the difficulties, shape (m,).

        Notes
        -----
        ln L = −Σ sᵢδᵢ − Σ_g n_g ln γ_g(e^{−δ}) over groups g of one pattern and one score. The gradient is Σ_g n_g P(i|g) − sᵢ, minus the
        second derivatives Σ_g n_g (P(i, j|g) − P(i|g)P(j|g)).
        """
        m = len(difficulties)
        at_once = max(1, NUMBERS_AT_ONCE // m**2)
        parts = [self._part(difficulties, first, first + at_once) for first in range(0, len(self.given), at_once)]
        log_likelihood, expected, information = (sum(numbers) for numbers in zip(*parts, strict=True))
        return Derivatives(log_likelihood - float(self.totals @ difficulties), expected - self.totals, information)

    def _part(self, difficulties: FloatArray, first: int, last: int) -> tuple[float, FloatArray, FloatArray]:
        """The sums over the groups of some patterns."""
        m = len(difficulties)
        here = slice(*np.searchsorted(self.pattern, [first, last]))
        pattern, score, people = self.pattern[here] - first, self.score[here], self.people[here]
        leaves = item_leaves(difficulties, self.given[first:last])
        tree = ScoreTree(leaves)
        chances = tree.scores[pattern, score]
        if not np.all(chances > 0):
            raise MethodError(f"difficulties between {difficulties.min():.3g} and {difficulties.max():.3g} are too far apart for {m} items")
        # The chances carry Π σ(δᵢ) over the items of a pattern, which γ does not.
        constants = np.log(leaves[:, :, 0]).sum(axis=1)
        log_likelihood = -float(people @ (np.log(chances) - constants[pattern]))

        right = leaves[:, :m, 1]
        solved = right[pattern] * tree.without[pattern, :m, score - 1] / chances[:, None]
        weights = np.zeros_like(tree.scores)
        weights[pattern, score] = people / chances
        both = (right[:, :, None] * right[:, None, :] * tree.without_two(weights)[:, :m, :m]).sum(axis=0)
        expected = people @ solved
        return log_likelihood, expected, both + np.diag(expected) - solved.T @ (people[:, None] * solved)


def most_likely_difficulties(groups: ScoreGroups, *, ridge: float = 0.0, slope: FloatArray | float = 0.0) -> tuple[FloatArray, Derivatives]:
    """Difficulties with sum 0 at which ln L − ridge/2 · ‖δ‖² − slope·δ is largest.

    Parameters
    ----------
    groups : ScoreGroups
    ridge : float
        Zero for maximum likelihood, which must exist then (`candor.rasch.comparable.check_comparable`).
    slope : float or ndarray, shape (m,)

    Returns
    -------
    difficulties : ndarray, shape (m,)
    derivatives : Derivatives
        Of the likelihood alone, at the maximum.

    Raises
    ------
    MethodError
        When the maximum is not reached: a step that stops early is no answer.

    Notes
    -----
    The function is concave. Newton's step is cut to 2 logits, and halved while the function falls.
    """
    m = len(groups.totals)
    if not len(groups.people) and not ridge:
        raise MethodError("nobody solved some items and not others: the answers say nothing about the difficulties")

    def height(at: FloatArray, found: Derivatives) -> float:
        return found.log_likelihood - ridge / 2 * float(at @ at) - float(np.sum(slope * at))

    share = np.clip(groups.totals / max(groups.people.sum(), 1), 0.01, 0.99)
    difficulties = np.log1p(-share) - np.log(share)
    difficulties -= difficulties.mean()
    found = groups.derivatives(difficulties)
    for _ in range(STEPS):
        gradient = found.gradient - ridge * difficulties - slope
        gradient -= gradient.mean()
        # Adding the direction (1, …, 1), of which the likelihood knows nothing, leaves steps with sum 0 as they are.
        step = np.linalg.solve(found.information + ridge * np.eye(m) + found.information.trace() / m**2, gradient)
        step -= step.mean()
        step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        before = height(difficulties, found)
        for _ in range(HALVINGS):
            there = groups.derivatives(difficulties + step)
            if height(difficulties + step, there) >= before - ROUNDING * abs(before):
                break
            step /= 2
        difficulties, found = difficulties + step, there
        if np.abs(step).max() < CONVERGED:
            return difficulties - difficulties.mean(), found
    raise MethodError(f"the difficulties did not converge within {STEPS} steps; the last moved one by {np.abs(step).max():.2g} logits")


def covariance_with_sum_zero(information: FloatArray) -> FloatArray:
    """The covariance of estimates whose sum is 0, of an information matrix whose rows have sum 0; shape (m, m)."""
    m = len(information)
    scale = information.trace() / m**2
    return np.asarray(np.linalg.inv(information + scale) - 1 / (scale * m**2))
