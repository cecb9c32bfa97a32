"""Figures 1 to 3 of Nguyen and Zhang, *Optimal and private learning from human response data*."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import expit

from benchmarks.panels import Panel
from candor.privacy.losses import Loss
from candor.privacy.noise import discrete_laplace
from candor.rasch.answers import FloatArray, QuizAnswers
from candor.rasch.baselines import RESPONSE, baseline_difficulties
from candor.rasch.before_spending import GAUSSIAN, PAIRS
from candor.rasch.pairs.release import all_pairs, difficulties_of_pairs, of_pairs
from candor.rasch.releases import release_difficulties
from candor.rasch.spectral import spectral_difficulties
from tests.unit.candor.rasch.quizzes import lsat6

EPSILONS, DELTA = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), 1e-4
CLASSES = ((200, 10), (200, 50), (1000, 10), (1000, 50))
"""People and items of Fig. 1; the text of the paper names only 200 and 1,000 people."""
RATINGS = ((943, 20), (943, 100))
"""The number of users of ML-100K, and few or many items."""
DENSE, SPARSE, LAPLACE, TURNED, DEFAULT = "all pairs", "few pairs", "all pairs, Laplace", "randomised response", "Candor's default"
PUBLISHED = "all pairs, as published"
X, ERROR = "ε (δ = .0001)", "root mean squared error"

Method = Callable[[QuizAnswers, float, np.random.Generator], FloatArray]


def released(mechanism: str, *, sparse: bool = False) -> Method:
    """A mechanism of Candor, at the ρ that ε and δ allow."""

    def method(answers: QuizAnswers, epsilon: float, _rng: np.random.Generator) -> FloatArray:
        loss = Loss.within(epsilon, DELTA)
        found = release_difficulties(answers, loss=loss, mechanism=mechanism, sparse=sparse, although_noise=True)
        return np.array([item.difficulty for item in found.items])

    return method


def with_laplace_noise(answers: QuizAnswers, epsilon: float, _rng: np.random.Generator) -> FloatArray:
    """Pure ε: discrete Laplace noise of scale ⌊m²/2⌋/ε on the counts of all pairs."""
    graph = all_pairs(answers.m)
    noisy = discrete_laplace(answers.solved_first_not_second()[graph], sensitivity=of_pairs(graph), epsilon=epsilon)
    return difficulties_of_pairs(noisy.values, graph=graph, variance=noisy.noise_sd**2)


def by_turned_answers(answers: QuizAnswers, epsilon: float, _rng: np.random.Generator) -> FloatArray:
    """Pure ε: each answer is turned around with a known chance."""
    return np.array(baseline_difficulties(answers, method=RESPONSE, loss=Loss.pure(epsilon)).difficulties)


def as_published(answers: QuizAnswers, epsilon: float, rng: np.random.Generator) -> FloatArray:
    """Noise of Lemma 4.1's variance √(m(m − 1))/ε*², where ε*²/2 is the ρ that ε and δ allow."""
    graph, m = all_pairs(answers.m), answers.m
    variance = float(np.sqrt(m * (m - 1))) / (2 * Loss.within(epsilon, DELTA).rho)
    exact = answers.solved_first_not_second()[graph]
    noisy = np.rint(exact + rng.normal(0, np.sqrt(variance), len(exact))).astype(np.int64)
    return difficulties_of_pairs(noisy, graph=graph, variance=variance)


METHODS: dict[tuple[str, str], Method] = {
    ("curve-teal", DEFAULT): released(GAUSSIAN),
    ("curve-orange", DENSE): released(PAIRS),
    ("dashed-orange", PUBLISHED): as_published,
    ("curve-green", SPARSE): released(PAIRS, sparse=True),
    ("curve-plum", LAPLACE): with_laplace_noise,
    ("curve-grey", TURNED): by_turned_answers,
}


def simulated(n: int, m: int, rng: np.random.Generator) -> tuple[QuizAnswers, FloatArray]:
    """Standard normal abilities and difficulties."""
    truth = rng.normal(size=m)
    truth -= truth.mean()
    return QuizAnswers.of((rng.random((n, m)) < expit(rng.normal(size=(n, 1)) - truth)).astype(float)), truth


def spectral(answers: QuizAnswers) -> FloatArray:
    """Without noise; a pair that nobody told apart counts one."""
    return spectral_difficulties(np.maximum(answers.solved_first_not_second(), 1).astype(np.float64))


def panel(name: str, title: str, quiz: Callable[[np.random.Generator], tuple[QuizAnswers, FloatArray]], trials: int, seed: int) -> Panel:
    """Errors against what `quiz` gives as the truth."""
    errors: dict[tuple[str, str], list[list[float]]] = {key: [[] for _ in EPSILONS] for key in METHODS}
    without = []
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        answers, truth = quiz(rng)
        without.append(np.sqrt(np.mean((spectral(answers) - truth) ** 2)))
        for key, method in METHODS.items():
            for place, epsilon in enumerate(EPSILONS):
                errors[key][place].append(float(np.sqrt(np.mean((method(answers, epsilon, rng) - truth) ** 2))))
    curves = {
        key: [(epsilon, float(np.mean(found))) for epsilon, found in zip(EPSILONS, lists, strict=True)] for key, lists in errors.items()
    }
    levels = {("comparison", "all pairs, no noise"): float(np.mean(without))} if np.mean(without) > 0 else {}
    return Panel(name=name, title=title, x=X, y=ERROR, curves=curves, levels=levels, logarithmic="xy")


def panels(trials: int, seed: int) -> list[Panel]:
    """All figures of the paper that the data at hand allow."""
    law_school = QuizAnswers.of(lsat6())

    def of_size(n: int, m: int) -> Callable[[np.random.Generator], tuple[QuizAnswers, FloatArray]]:
        return lambda rng: simulated(n, m, rng)

    def ratings(n: int, m: int) -> Callable[[np.random.Generator], tuple[QuizAnswers, FloatArray]]:
        def quiz(rng: np.random.Generator) -> tuple[QuizAnswers, FloatArray]:
            answers, _ = simulated(n, m, rng)
            return answers, spectral(answers)

        return quiz

    return [
        *(panel(f"001-1-{n}-{m}", f"{n} people, {m} items", of_size(n, m), trials, seed) for n, m in CLASSES),
        panel("001-2-lsat", "LSAT 6: 1000 people, 5 items", lambda _rng: (law_school, spectral(law_school)), trials, seed),
        *(panel(f"001-3-{n}-{m}", f"{n} people, {m} items, simulated", ratings(n, m), trials, seed) for n, m in RATINGS),
    ]


CAPTIONS: Sequence[tuple[str, str]] = (
    ("001-1", "Fig. 1: simulated quizzes, error against the truth"),
    ("001-2", "Fig. 2: LSAT, distance from the spectral estimate without noise"),
    ("001-3", "Fig. 3: few and many items, distance from the spectral estimate without noise"),
)
