"""Are released difficulties as precise as they should be, do their intervals cover, and how fast is the conditional likelihood?

    python -m benchmarks.rasch                            half an hour; writes benchmarks/rasch.md
    python -m benchmarks.rasch --trials 20 --output quick.md
    pip install --no-deps girth; python -m benchmarks.rasch --girth        also times girth, which the project does not need otherwise

Abilities and difficulties are standard normal, ε = 1, δ = .0001. The reference is the project's own yardstick, from a prototype, on
the same quizzes. For 10,000 people it had about ten of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path

import click
import numpy as np

from candor.privacy.losses import Loss
from candor.rasch.answers import FloatArray, QuizAnswers
from candor.rasch.before_spending import GAUSSIAN, PAIRS, PURE, predicted_error
from candor.rasch.item_difficulties import item_difficulties
from candor.rasch.noise_aware import NoisyStatistics, estimate_from_noisy_statistics
from candor.rasch.perturbed_objective.minimiser import perturbed_difficulties
from candor.rasch.releases import release_difficulties

EPSILON, DELTA, Z, MANY = 1.0, 1e-4, 1.959964, 10_000
LOSSES = {GAUSSIAN: Loss.within(EPSILON, DELTA), PAIRS: Loss.within(EPSILON, DELTA), PURE: Loss.pure(EPSILON)}
OBJECTIVE, CONDITIONAL = "perturbed_objective", "conditional likelihood, no noise"
FIRST_SEED, QUIZZES_OF_MANY, OTHER_QUIZZES = 1000, 10, 40
"""Where the quizzes of the reference begin, how many it had of 10,000 people, and how many more of these are looked at."""
COVERAGES = (0.93, 0.98)
"""The intervals must cover within these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One root mean squared error of the reference."""

    n: int
    m: int
    method: str
    reference: float

    @property
    def name(self) -> str:
        return f"{self.n} × {self.m}, {self.method}"


CELLS = tuple(
    Cell(n=n, m=m, method=method, reference=reference)
    for n, m, references in (
        (200, 20, {GAUSSIAN: 0.479, PURE: 0.413, PAIRS: 0.529, OBJECTIVE: 0.882}),
        (1000, 20, {GAUSSIAN: 0.120, PURE: 0.118, PAIRS: 0.160, OBJECTIVE: 0.258, CONDITIONAL: 0.074}),
        (1000, 100, {GAUSSIAN: 0.224, PURE: 0.369, PAIRS: 0.453, OBJECTIVE: 0.849}),
        (MANY, 20, {GAUSSIAN: 0.023}),
    )
    for method, reference in references.items()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One kind of class and quiz: how difficulties and abilities are spread."""

    n: int
    m: int
    difficulty_sd: float = 1.0
    abilities: str = "normal"
    farthest: float = 0.0
    """Difficulties are in equal steps from −`farthest` to `farthest`; where it is 0 they are drawn."""

    @property
    def name(self) -> str:
        difficulties = f"difficulties ±{self.farthest:g}" if self.farthest else f"difficulty SD {self.difficulty_sd:g}"
        return f"{self.n} × {self.m}, {difficulties}, {self.abilities} abilities"


FEW_FAR_APART = Setting(n=300, m=6, farthest=2.5, abilities="skilled")
SETTINGS = (
    Setting(n=1000, m=20),
    Setting(n=200, m=20),
    Setting(n=1000, m=100),
    Setting(n=1000, m=20, abilities="bimodal"),
    Setting(n=1000, m=20, difficulty_sd=2.0),
    Setting(n=500, m=30, difficulty_sd=2.0, abilities="bimodal"),
    Setting(n=2000, m=10, abilities="skilled"),
    Setting(n=5000, m=5),
    Setting(n=1000, m=8, farthest=3.0),
    Setting(n=5000, m=8, farthest=3.0),
    FEW_FAR_APART,
    Setting(n=100_000, m=20),
)


def abilities(kind: str, n: int, rng: np.random.Generator) -> FloatArray:
    """Abilities of n people."""
    if kind == "bimodal":
        return np.asarray(np.where(rng.random(n) < 0.4, -1.4, 0.93) + rng.normal(0, 0.45, n))
    return rng.normal(1.5, 1.5, n) if kind == "skilled" else rng.normal(size=n)


def simulated(rng: np.random.Generator, spread: FloatArray, difficulties: FloatArray) -> QuizAnswers:
    """A quiz under the Rasch model."""
    right = rng.random((len(spread), len(difficulties))) < 1 / (1 + np.exp(difficulties - spread[:, None]))
    return QuizAnswers.of(right.astype(np.float32))


def error(cell: Cell, seed: int) -> float:
    """The root mean squared error of one quiz. Noise of a release is the operating system's: no seed repeats it."""
    rng = np.random.default_rng(FIRST_SEED + seed)
    spread, truth = rng.normal(size=cell.n), rng.normal(size=cell.m)
    truth -= truth.mean()
    answers = simulated(rng, spread, truth)
    found: list[float]
    if cell.method == OBJECTIVE:
        found = list(perturbed_difficulties(answers, epsilon=EPSILON).difficulties)
    elif cell.method == CONDITIONAL:
        found = [item.difficulty or 0.0 for item in item_difficulties(answers).items]
    else:
        release = release_difficulties(answers, loss=LOSSES[cell.method], mechanism=cell.method, although_noise=True)
        found = [item.difficulty for item in release.items]
    return float(np.sqrt(np.mean((np.array(found) - truth) ** 2)))


def coverage(setting: Setting, seed: int, *, believed: float = 1.0) -> float:
    """The share of items whose 95 % interval contains the truth. Noise is rounded normal noise, which a seed repeats.

    `believed` is the share of the variance of the noise that the estimator is told.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.normal(0, setting.difficulty_sd, setting.m)
    truth = np.linspace(-setting.farthest, setting.farthest, setting.m) if setting.farthest else drawn - drawn.mean()
    answers = simulated(rng, abilities(setting.abilities, setting.n, rng), truth)
    of_totals, of_scores = setting.m / (2 * 0.9 * LOSSES[GAUSSIAN].rho), 2 / (2 * 0.1 * LOSSES[GAUSSIAN].rho)

    def noisy(counts: FloatArray, variance: float) -> tuple[int, ...]:
        return tuple(np.rint(counts + rng.normal(0, np.sqrt(variance), len(counts))).astype(int).tolist())

    found = estimate_from_noisy_statistics(
        NoisyStatistics(
            n=setting.n,
            totals=noisy(answers.totals().astype(np.float64), of_totals),
            totals_variance=believed * of_totals,
            score_counts=noisy(answers.score_counts().astype(np.float64), of_scores),
            score_variance=believed * of_scores,
        )
    )
    return float(np.mean(np.abs(np.array(found.difficulties) - truth) <= Z * np.array(found.standard_deviations)))


def seconds(function: object, *arguments: object) -> float:
    """The best of three runs, in processor time."""
    times = []
    for _ in range(3):
        start = time.process_time()
        function(*arguments)  # type: ignore[operator]
        times.append(time.process_time() - start)
    return min(times)


def speed(with_girth: bool, n: int = 10_000, m: int = 100) -> str:
    """How long the conditional likelihood takes, with all standard errors."""
    rng = np.random.default_rng(0)
    answers = simulated(rng, rng.normal(size=n), rng.normal(size=m))
    ours = seconds(item_difficulties, answers)
    said = f"Conditional likelihood of {n:,} × {m} answers, with standard errors: {ours:.3f} s of processor time."
    if with_girth:
        start = time.process_time()
        import_module("girth").rasch_conditional(answers.right.T.astype(int))
        theirs = time.process_time() - start
        said += f" girth, without standard errors: {theirs:.1f} s, {theirs / ours:.0f} times as long."
    return said


@click.command()
@click.option("--trials", type=click.IntRange(2), default=200, show_default=True)
@click.option("--girth", is_flag=True, help="Time girth as well.")
@click.option("--output", type=click.Path(path_type=Path), default=Path(__file__).with_suffix(".md"))
def main(trials: int, girth: bool, output: Path) -> None:
    """Print and write the tables."""
    lines = ["# Difficulties of quiz items", ""]

    def say(line: str) -> None:
        click.echo(line)
        lines.append(line)

    say(f"`python -m benchmarks.rasch`, {trials} quizzes for each line (a fifth for large ones), {date.today().isoformat()}.")
    say(f"Standard normal abilities and difficulties, ε = {EPSILON:g}, δ = {DELTA:g}.")
    say("")
    say("Root mean squared errors of the difficulties, with two standard errors; the limit is 1.05 × the reference.")
    say("")
    say("| people × items, method | error | reference | ratio | predicted before spending |")
    say("|---|---|---|---|---|")
    for cell in CELLS:
        runs = min(trials, QUIZZES_OF_MANY) if cell.n == MANY else trials if cell.n * cell.m < 100_000 else max(2, trials // 5)
        errors = np.array([error(cell, seed) for seed in range(runs)])
        said = (
            f"{predicted_error(n=cell.n, m=cell.m, loss=LOSSES[cell.method], mechanism=cell.method):.3f}" if cell.method in LOSSES else "–"
        )
        margin = 2 * errors.std() / np.sqrt(runs)
        say(f"| {cell.name} | {errors.mean():.4f} ± {margin:.4f} | {cell.reference} | {errors.mean() / cell.reference:.3f} | {said} |")
    say("")
    others = [
        np.mean([error(Cell(n=MANY, m=20, method=method, reference=0.0), QUIZZES_OF_MANY + seed) for seed in range(OTHER_QUIZZES)])
        for method in (GAUSSIAN, CONDITIONAL)
    ]
    say(f"The reference for {MANY:,} people is of about {QUIZZES_OF_MANY} quizzes, whose errors happen to be small.")
    say(f"On {OTHER_QUIZZES} others the default's error is {others[0]:.4f}; without noise the conditional likelihood has {others[1]:.4f}.")
    say("")
    say(f"Coverage of the default's 95 % intervals, with two standard errors; the limits are {COVERAGES[0]} and {COVERAGES[1]}.")
    say("")
    say("| people × items | coverage |")
    say("|---|---|")
    for setting in SETTINGS:
        runs = trials if setting.n * setting.m < 100_000 else max(2, trials // 5)
        shares = np.array([coverage(setting, seed) for seed in range(runs)])
        say(f"| {setting.name} | {shares.mean():.3f} ± {2 * shares.std() / np.sqrt(runs):.3f} |")
    say("")
    say(speed(girth))
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
