"""Figures 2 to 6 of Steiner, Nyrnberg and Hansen, *A differential privacy workflow for inference of parameters in the Rasch model*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from benchmarks.panels import Panel
from candor.privacy.losses import Loss
from candor.rasch.answers import FloatArray, QuizAnswers
from candor.rasch.baselines import TOTALS, baseline_difficulties
from candor.rasch.before_spending import PURE
from candor.rasch.feedback import ABILITIES, LOGISTIC_VARIANCE
from candor.rasch.noise_aware import NoisyStatistics, estimate_from_noisy_statistics
from candor.rasch.persons_and_items.release import difficulties_of_persons_and_items
from candor.rasch.perturbed_objective.minimiser import perturbed_difficulties
from candor.rasch.releases import release_difficulties
from tests.audits.published_calibrations import Algorithm1

ITEMS, CLASSES, EPSILONS, OF_REAL_QUIZ = 20, (40, 80, 120, 160, 200), (1.0, 5.0, 10.0), 5.0
DIFFICULTY_SD = 2.0
DEFAULT, OBJECTIVE, STATISTICS = "Candor's default (cube)", "objective perturbation", "noisy scores and totals"
COLOUR = {DEFAULT: "teal", OBJECTIVE: "orange", STATISTICS: "green"}
PUBLISHED = ", as published"
NO_NOISE = 1e-6
"""The variance that stands for no noise."""
DOTS, ALIKE = 80, 1e-9
WITHOUT_A_DENSITY = 10.0
"""The SD of abilities where a method releases none: the paper's ridge of .01."""
X, CORRELATION, WRONG = "students", "correlation of chances", "share predicted wrongly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Difficulties, how sure they are, and mean and spread of the abilities by which students estimate their own."""

    difficulties: FloatArray
    deviations: FloatArray | float = 0.0
    mean: float = 0.0
    sd: float = WITHOUT_A_DENSITY

    def chances(self, right: FloatArray) -> FloatArray:
        """The chance of each person, shape (n, m), to solve each item, at the ability of `candor.rasch.feedback.ability`."""
        spread = np.sqrt(1 + (LOGISTIC_VARIANCE * np.asarray(self.deviations)) ** 2)
        abilities = self.mean + self.sd * ABILITIES
        logits = (abilities[:, None] - self.difficulties) / spread
        fit = right @ -np.logaddexp(0, -logits).T + (1 - right) @ -np.logaddexp(0, logits).T - ABILITIES**2 / 2
        posterior = np.exp(fit - fit.max(axis=1, keepdims=True))
        own = posterior @ abilities / posterior.sum(axis=1)
        return np.asarray(expit((own[:, None] - self.difficulties) / spread))


Method = Callable[[QuizAnswers, float, np.random.Generator], Released]


def without_noise(answers: QuizAnswers) -> Released:
    """The default's estimator, told that there is no noise."""
    found = estimate_from_noisy_statistics(
        NoisyStatistics(
            n=answers.n,
            totals=tuple(answers.totals().tolist()),
            totals_variance=NO_NOISE,
            score_counts=tuple(answers.score_counts().tolist()),
            score_variance=NO_NOISE,
        )
    )
    return Released(
        difficulties=np.array(found.difficulties),
        deviations=np.array(found.standard_deviations),
        mean=found.abilities.mean,
        sd=found.abilities.standard_deviation,
    )


def joint(answers: QuizAnswers) -> Released:
    """The paper's joint likelihood without noise."""
    return Released(difficulties=difficulties_of_persons_and_items(np.concatenate([answers.scores(), answers.totals()]), m=answers.m))


def default(answers: QuizAnswers, epsilon: float, _rng: np.random.Generator) -> Released:
    """The difficulties that Candor releases."""
    found = release_difficulties(answers, loss=Loss.pure(epsilon), mechanism=PURE, although_noise=True)
    difficulties, deviations = zip(*((item.difficulty, item.standard_deviation or 0.0) for item in found.items), strict=True)
    spread = found.abilities
    assert spread is not None, "only the spectral release has no density"
    return Released(difficulties=np.array(difficulties), deviations=np.array(deviations), mean=spread.mean, sd=spread.standard_deviation)


def objective(answers: QuizAnswers, epsilon: float, _rng: np.random.Generator) -> Released:
    """Objective perturbation as Candor has it, for comparison."""
    return Released(difficulties=np.array(perturbed_difficulties(answers, epsilon=epsilon).difficulties))


def statistics(answers: QuizAnswers, epsilon: float, _rng: np.random.Generator) -> Released:
    """Noisy scores and totals with the scale 2m/ε that their sensitivity asks for."""
    return Released(difficulties=np.array(baseline_difficulties(answers, method=TOTALS, loss=Loss.pure(epsilon)).difficulties))


def published_objective(answers: QuizAnswers, epsilon: float, rng: np.random.Generator) -> Released:
    """Algorithm 1 of the paper."""
    table = answers.right.astype(np.int64)
    direction = rng.normal(size=(1, answers.m))
    noise = direction / np.linalg.norm(direction) * rng.gamma(answers.m, np.sqrt(answers.m) / epsilon)
    found = Algorithm1((table, table), epsilon).minimum(noise, table)[0]
    return Released(difficulties=found)


def published_statistics(answers: QuizAnswers, epsilon: float, rng: np.random.Generator) -> Released:
    """Laplace noise of the paper's scale m/ε."""
    exact = np.concatenate([answers.scores(), answers.totals()])
    noisy = np.rint(exact + rng.laplace(0, answers.m / epsilon, len(exact))).astype(np.int64)
    return Released(difficulties=difficulties_of_persons_and_items(noisy, m=answers.m))


METHODS: dict[tuple[str, str], Method] = {
    (f"curve-{COLOUR[DEFAULT]}", DEFAULT): default,
    (f"curve-{COLOUR[OBJECTIVE]}", OBJECTIVE): objective,
    (f"dashed-{COLOUR[OBJECTIVE]}", OBJECTIVE + PUBLISHED): published_objective,
    (f"curve-{COLOUR[STATISTICS]}", STATISTICS): statistics,
    (f"dashed-{COLOUR[STATISTICS]}", STATISTICS + PUBLISHED): published_statistics,
}


def simulated(n: int, rng: np.random.Generator) -> tuple[QuizAnswers, FloatArray]:
    """A class of the paper, and everybody's true chances."""
    chances = expit(rng.normal(size=(n, 1)) - rng.normal(0, DIFFICULTY_SD, ITEMS))
    return QuizAnswers.of((rng.random(chances.shape) < chances).astype(float)), chances


def correlation(one: FloatArray, other: FloatArray) -> float:
    """Pearson's, over all people and items; 0 where the noise left one chance for all."""
    if min(one.std(), other.std()) < ALIKE:
        return 0.0
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


def wrongly(chances: FloatArray, right: FloatArray) -> float:
    """The share of answers on the other side of one half."""
    return float(np.mean((chances > 0.5) != (right > 0.5)))


def of_simulated_classes(trials: int, seed: int) -> list[Panel]:
    """Figures 2, 3 and 4."""
    found: dict[tuple[str, str, int], list[float]] = {}

    def keep(figure: str, method: str, n: int, value: float) -> None:
        found.setdefault((figure, method, n), []).append(value)

    for n in CLASSES:
        for trial in range(trials):
            rng = np.random.default_rng([seed, n, trial])
            answers, true = simulated(n, rng)
            right, again = answers.right.astype(float), (rng.random(true.shape) < true).astype(float)
            reference = without_noise(answers).chances(right)
            for method, chances in (("own", reference), ("joint", joint(answers).chances(right)), ("true", true)):
                keep("2a", method, n, correlation(chances, true))
                keep("2b", method, n, wrongly(chances, again))
            for epsilon in EPSILONS:
                for (_, label), method in METHODS.items():
                    chances = method(answers, epsilon, rng).chances(right)
                    keep(f"3a-{epsilon:g}", label, n, correlation(chances, reference))
                    keep(f"3b-{epsilon:g}", label, n, correlation(chances, true))
                    keep(f"4-{epsilon:g}", label, n, wrongly(chances, again))

    def curve(figure: str, method: str) -> list[tuple[float, float]]:
        return [(n, float(np.mean(found[figure, method, n]))) for n in CLASSES]

    two = {("curve-teal", "own ability, Candor's estimator"): "own", ("curve-orange", "own ability, joint likelihood"): "joint"}
    panels = [
        Panel(
            name="000-2a",
            title="Without noise",
            x=X,
            y=f"{CORRELATION} with the true ones",
            curves={key: curve("2a", way) for key, way in two.items()},
        ),
        Panel(
            name="000-2b",
            title="Without noise",
            x=X,
            y=WRONG,
            curves={key: curve("2b", way) for key, way in (two | {("comparison", "the true chances"): "true"}).items()},
        ),
    ]
    for figure, against in (("3a", "those without noise"), ("3b", "the truth")):
        panels += [
            Panel(
                name=f"000-{figure}-epsilon-{epsilon:g}",
                title=f"ε = {epsilon:g}, correlation with {against}",
                x=X,
                y=CORRELATION,
                curves={key: curve(f"{figure}-{epsilon:g}", key[1]) for key in METHODS},
            )
            for epsilon in EPSILONS
        ]
    for letter, method in (("a", OBJECTIVE), ("b", STATISTICS), ("c", DEFAULT)):
        lines = {}
        for epsilon, colour in zip(EPSILONS, ("orange", "green", "teal"), strict=True):
            lines[f"curve-{colour}", f"ε = {epsilon:g}"] = curve(f"4-{epsilon:g}", method)
            if method != DEFAULT:
                lines[f"dashed-{colour}", f"ε = {epsilon:g}{PUBLISHED}"] = curve(f"4-{epsilon:g}", method + PUBLISHED)
        levels = {("comparison", "the true chances, 200 students"): curve("2b", "true")[-1][1]}
        panels.append(Panel(name=f"000-4{letter}", title=method, x=X, y=WRONG, curves=lines, levels=levels))
    return panels


def of_the_exam(table: FloatArray, trials: int, seed: int) -> list[Panel]:
    """Figures 5 (a, b) and 6: the exam of 62 students, at ε = 5."""
    sizes = (21, 42, len(table))
    correlations: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in METHODS}
    misses: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in METHODS}
    clouds: list[Panel] = []
    for size in sizes:
        values: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in METHODS}
        for trial in range(trials):
            rng = np.random.default_rng([seed, size, trial])
            answers = QuizAnswers.of(table[rng.permutation(len(table))[:size]])
            right = answers.right.astype(float)
            reference = without_noise(answers).chances(right)
            released = {key: method(answers, OF_REAL_QUIZ, rng).chances(right) for key, method in METHODS.items()}
            for key, chances in released.items():
                values[key].append((correlation(chances, reference), wrongly(chances, right)))
        for key, pairs in values.items():
            correlations[key].append((size, float(np.mean([one for one, _ in pairs]))))
            misses[key].append((size, float(np.mean([one for _, one in pairs]))))
        clouds.append(_cloud(size, reference, released, rng))
    kept = [
        Panel(name="000-5a", title="Exam, ε = 5", x=X, y=f"{CORRELATION} with those without noise", curves=correlations),
        Panel(name="000-5b", title="Exam, ε = 5", x=X, y=WRONG, curves=misses),
    ]
    return kept + clouds


def _cloud(size: int, reference: FloatArray, released: dict[tuple[str, str], FloatArray], rng: np.random.Generator) -> Panel:
    """Chances with noise against those without; of the published calibrations the straight line of best fit."""
    some = rng.permutation(reference.size)[:DOTS]
    dots, lines = {}, {("comparison", "equal"): [(0.0, 0.0), (1.0, 1.0)]}
    for (kind, label), chances in released.items():
        if label in (DEFAULT, OBJECTIVE):
            pairs = zip(reference.ravel()[some].tolist(), chances.ravel()[some].tolist(), strict=True)
            dots[kind.replace("curve", "point"), label] = list(pairs)
        else:
            slope, start = np.polyfit(reference.ravel(), chances.ravel(), 1)
            fit = [(at, float(start + slope * at)) for at in np.linspace(0, 1, 41).tolist()]
            lines[kind, f"{label}: line"] = [(x, y) for x, y in fit if 0 <= y <= 1]
    x, y = "chance without noise", "chance with noise"
    return Panel(name=f"000-6-{size}", title=f"Exam, {size} students, ε = 5", x=x, y=y, curves=lines, dots=dots)


def panels(exam: FloatArray | None, trials: int, seed: int) -> list[Panel]:
    """All figures of the paper that the data at hand allow."""
    return of_simulated_classes(trials, seed) + ([] if exam is None else of_the_exam(exam, trials, seed))


CAPTIONS: Sequence[tuple[str, str]] = (
    ("000-2", "Fig. 2: abilities that each student estimates again, without noise"),
    ("000-3a", "Fig. 3 (a): chances with noise and without"),
    ("000-3b", "Fig. 3 (b): chances with noise and the true ones"),
    ("000-4", "Fig. 4: predictions of a new quiz"),
    ("000-5", "Fig. 5 (a, b): the exam of Vahdat and others"),
    ("000-6", "Fig. 6: the exam, chance by chance"),
)
