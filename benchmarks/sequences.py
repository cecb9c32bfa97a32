"""Is what the live page says ever wrong? Studies watched from the first look to the last, over sample size, cheaters, effect and design.

    python -m benchmarks.sequences                                   minutes; resumes where it stopped
    python -m benchmarks.sequences --trials 200 --output quick.jsonl

Nothing here uses `candor.sequences`: the distance of the efficient estimates from the truth is put against the boundary of the published
formula, written out again. Cheaters always say no, which makes "yes" rarest. Somebody looks after each person up to 150, then after every
2 % more.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import click
import numpy as np
from numpy.typing import NDArray

from candor.designs.design import Design
from candor.estimators.cell_means import maximum_likelihood_fit
from candor.estimators.joint_estimates import JointEstimates
from candor.planning.simulation import Behaviour, LatentModel, cell_probabilities

Array = NDArray[np.float64]
LEVEL, LEAST = 0.95, 5
SIX = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
TEN = {"1": {"forced_no": "3/10", "forced_yes": "1/10"}, "2": {"forced_no": "1/10", "forced_yes": "3/10"}}
DICE = {"six-sided": SIX, "ten-sided": TEN, "three subsamples": SIX | {"3": {"forced_no": "1/6", "forced_yes": "1/6"}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One kind of study. `n` people are planned, and so many come."""

    die: str = "six-sided"
    weights: tuple[int, ...] = (1, 1)
    n: int = 200
    cheaters: float = 0.0
    effect: float = 0.0
    prevalence: float = 0.4
    behaviour: Behaviour = Behaviour.ALWAYS_NO
    cheater_model: str = "any"

    @property
    def key(self) -> str:
        """Name of the setting in the file of results."""
        shares = ":".join(map(str, self.weights))
        return f"{self.die}, {shares}, n={self.n}, λ={self.cheaters:g}, τ={self.effect:g}, p₀={self.prevalence:g}"

    @property
    def arms(self) -> tuple[str, ...]:
        return ("control", *(f"treatment {index}" for index in range(1, len(self.weights))))

    @property
    def design(self) -> Design:
        shares = [f"{weight}/{sum(self.weights)}" for weight in self.weights]
        return Design.of(
            arms=self.arms, control="control", subsamples=DICE[self.die], cheater_model=self.cheater_model, arm_probabilities=shares
        )

    @property
    def means(self) -> Array:
        """E[Ỹ | arm, subsample]."""
        effects = dict.fromkeys(self.arms[1:], self.effect)
        model = LatentModel(prevalence=self.prevalence, effects=effects, cheater_proportion=self.cheaters, cheater_behaviour=self.behaviour)
        return cell_probabilities(self.design, model)

    @property
    def looks(self) -> NDArray[np.int64]:
        """The numbers of people at which somebody looks."""
        single = np.arange(2 * LEAST, min(self.n, 150) + 1)
        later = np.round(150 * 1.02 ** np.arange(1, 200)).astype(np.int64)
        return np.unique(np.concatenate([single, later[later < self.n], [self.n]]))

    def tables(self, trials: int, *, rng: np.random.Generator, means: Array | None = None) -> Array:
        """Answers so far at every look of every study: shape (trials, looks, arms, subsamples, 2)."""
        design = self.design
        yes = self.means if means is None else means
        share = design.arm_shares[:, None] * design.subsample_shares
        cells = np.stack([share * (1 - yes), share * yes], axis=-1)
        steps = np.diff(self.looks, prepend=0)
        arrived = np.stack([rng.multinomial(step, cells.ravel(), size=trials) for step in steps], axis=1)
        return arrived.cumsum(axis=1).reshape(trials, len(steps), *cells.shape).astype(float)


def scaled(n: Array, planned: int) -> Array:
    """nρ², with ρ tuned to the planned number."""
    logarithm = -2 * math.log(1 - LEVEL)
    return n * (logarithm + math.log(1 + logarithm)) / planned


def log_evidence(squared: Array, n: Array, planned: int, df: int = 1) -> Array:
    """ln e of a squared distance: normal mixture in `df` dimensions."""
    s = scaled(n, planned)
    return squared * s / (2 * (1 + s)) - df / 2 * np.log1p(s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Logarithms of e-values against the truth at every look; −∞ before the start, and for a prevalence that the design leaves open."""

    delta: Array
    effect: Array
    """Against τ by its own sequence, or by that of Δ, which is no larger than τ and has its sign."""
    honest: Array
    by_arm: Array
    """Against τ by the estimate for cheaters who differ by arm, where the die allows it."""
    prevalence: Array
    """Against that of the control group; in a survey, of everybody."""
    model: Array
    once: Array
    """|z| of Δ, for a test that believes it looks once."""
    n: Array


def evidence_against_truth(setting: Watched, tables: Array) -> Evidence:
    """By maximum likelihood at every look, with the truth of the setting."""
    design, batch = setting.design, tables.shape[:2]
    started = np.maximum.accumulate((tables >= LEAST).all(axis=(2, 3, 4)), axis=1)
    n = tables.sum(axis=(2, 3, 4))
    contrasts = len(setting.arms) - 1
    found = {name: np.full((*batch, contrasts), -np.inf) for name in ("delta", "effect", "by_arm", "once")}
    found |= {name: np.full(batch, -np.inf) for name in ("honest", "prevalence", "model")}
    if started.any():
        fit, people = maximum_likelihood_fit(tables[started], design), n[started]
        joint, x = fit.joint_estimates(), 1 - setting.cheaters
        delta, v_delta = joint.honest_times_effect, joint.honest_times_effect_variance
        honest, v_honest = joint.honest_proportion, joint.honest_proportion_variance
        found["delta"][started] = log_evidence((delta - x * setting.effect) ** 2 / v_delta, people[:, None], setting.n)
        found["effect"][started] = _against_effect(joint, setting.effect, people, setting.n)
        if design.identification.arm_specific_cheaters and setting.cheater_model == "any":
            by_arm = maximum_likelihood_fit(tables[started], design, arm_specific_cheaters=True).joint_estimates()
            found["by_arm"][started] = _against_effect(by_arm, setting.effect, people, setting.n)
        found["once"][started] = np.abs(delta - x * setting.effect) / np.sqrt(v_delta)
        found["honest"][started] = log_evidence((honest - x) ** 2 / v_honest, people, setting.n)
        if design.identification.prevalence and (index := fit.model.honest) is not None:
            p, covariance = setting.prevalence, fit.covariance
            gap = fit.coefficients[:, 0] - p * fit.coefficients[:, index]
            v_gap = covariance[:, 0, 0] - 2 * p * covariance[:, 0, index] + p**2 * covariance[:, index, index]
            found["prevalence"][started] = log_evidence(gap**2 / v_gap, people, setting.n)
        found["model"][started] = log_evidence(fit.statistic, people, setting.n, fit.df)
    return Evidence(**found, n=n)


def _against_effect(joint: JointEstimates, tau: float, people: Array, planned: int) -> Array:
    """Against τ by its own sequence or by that of Δ, shape (looks, contrasts)."""
    delta, variance, many = joint.honest_times_effect, joint.honest_times_effect_variance, people[:, None]
    v_gap = variance - 2 * tau * joint.covariance + tau**2 * joint.honest_proportion_variance[:, None]
    of_ratio = log_evidence((delta - tau * joint.honest_proportion[:, None]) ** 2 / v_gap, many, planned)
    beyond = np.maximum(delta - max(tau, 0), 0) + np.maximum(min(tau, 0) - delta, 0)
    return np.maximum(of_ratio, log_evidence(beyond**2 / variance, many, planned))


def missed(setting: Watched, *, trials: int, rng: np.random.Generator) -> dict[str, float]:
    """Share of studies in which each of them is wrong at some look; `started` is the share that ever says anything."""
    found: dict[str, list[NDArray[np.bool_]]] = {}
    for begin in range(0, trials, 500):
        tables = setting.tables(min(500, trials - begin), rng=rng)
        evidence, limit = evidence_against_truth(setting, tables), math.log(1 / (1 - LEVEL))
        together = limit + math.log(len(setting.arms) - 1)
        wrong = {
            "effect": (evidence.effect > together).any(axis=(1, 2)),
            "honest_times_effect": (evidence.delta > together).any(axis=(1, 2)),
            "cheater_proportion": (evidence.honest > limit).any(axis=1),
            "effect_by_arm": (evidence.by_arm > together).any(axis=(1, 2)),
            "prevalence": (evidence.prevalence > limit).any(axis=1),
            "specification": (evidence.model > limit).any(axis=1),
            "fixed_n": (evidence.once > 1.96).any(axis=(1, 2)),
            "started": (evidence.honest > -np.inf).any(axis=1),
        }
        for name, one in wrong.items():
            found.setdefault(name, []).append(one)
    return {name: float(np.concatenate(parts).mean()) for name, parts in found.items()}


GRID = [
    Watched(die=die, weights=weights, n=n, cheaters=cheaters, effect=effect, prevalence=prevalence)
    for die, n, weights, cheaters, effect, prevalence in product(
        DICE, (60, 100, 200, 500, 2000), ((1, 1), (1, 3)), (0.0, 0.1, 0.3, 0.5), (0.0, 0.05, 0.3), (0.02, 0.1, 0.4)
    )
]


def line_of(setting: Watched, trials: int, seed: int) -> dict[str, Any]:
    """Watch the studies of one setting, and describe them as a line of the file of results."""
    rng = np.random.default_rng([seed, crc32(setting.key.encode())])
    return {"setting": setting.key, "n": setting.n, "seed": seed, "trials": trials, "result": missed(setting, trials=trials, rng=rng)}


MEASURES = ("effect", "honest_times_effect", "cheater_proportion", "effect_by_arm", "prevalence", "specification", "fixed_n")


def summary(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A table of the largest shares of wrong studies by die and planned number, and where the largest of all is reached."""
    yield "| die | people | settings | ever start | τ | Δ | λ | τ, cheaters by arm | prevalence | fit | fixed-n test of Δ |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for die, n in product(DICE, sorted({line["n"] for line in lines})):
        group = [line["result"] for line in lines if line["n"] == n and line["setting"].startswith(f"{die},")]
        if group:
            started = sum(found["started"] for found in group) / len(group)
            worst = " | ".join(f"{max(found[measure] for found in group):.3f}" for measure in MEASURES)
            yield f"| {die} | {n} | {len(group)} | {started:.0%} | {worst} |"
    for measure in MEASURES[:-1]:
        largest, setting = max((line["result"][measure], line["setting"]) for line in lines)
        yield f"\nMost often wrong: {measure}, {largest:.3f} ({setting})."


@click.command()
@click.option("--trials", default=1000, show_default=True, help="Studies per setting.")
@click.option("--seed", default=20261122, show_default=True)
@click.option("--most", type=int, help="Settings to do in this run; the next run goes on.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; default: one per core. The numbers do not depend on it.")
@click.option("--output", type=click.Path(path_type=Path), default=Path("var/benchmarks/sequences.jsonl"), show_default=True)
def main(trials: int, seed: int, most: int | None, workers: int | None, output: Path) -> None:
    """Run the settings that the output file lacks, then summarise the file."""
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
    lines = list({line["setting"]: line for line in lines if line["seed"] == seed and line["trials"] == trials}.values())
    done = {line["setting"] for line in lines}
    work = [setting for setting in GRID if setting.key not in done][:most]
    with (
        output.open("a") as file,
        ProcessPoolExecutor(workers) as pool,
        click.progressbar(length=len(work), label="Watching", file=sys.stderr) as bar,
    ):
        for running in as_completed([pool.submit(line_of, setting, trials, seed) for setting in work]):
            lines.append(running.result())
            file.write(json.dumps(lines[-1], ensure_ascii=False) + "\n")
            file.flush()
            bar.update(1)
    click.echo("\n".join(summary(lines)))


if __name__ == "__main__":
    main()
