"""Do the intervals cover, and do the tests keep their level? A simulation study over sample size, cheaters, effect and design.

    python -m benchmarks.coverage                      minutes; resumes where it stopped
    python -m benchmarks.coverage --replicates 2000 --doubly-robust 40 --bootstraps 40 --trials 100 --output quick.jsonl

Every setting is one line of a JSON Lines file, and its random numbers depend on the seed and the setting alone. So a run that was
interrupted goes on with the settings that are missing, and gives the same numbers as one that was not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import click
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import chi2

from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.doubly_robust import doubly_robust_estimates, efficient_estimates
from candor.designs.design import Design
from candor.estimators.cell_means import maximum_likelihood_fit
from candor.estimators.difference_in_means import difference_in_means_kernel
from candor.estimators.effects import efficient_kernel
from candor.estimators.joint_estimates import JointEstimates
from candor.planning.simulation import Behaviour, LatentModel, simulate_counts, simulate_trial
from candor.resampling.bootstrap import bootstrap
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.summaries import bootstrap_summary
from candor.sequences.boundary import anytime_multiplier, tuned_rho

Array = NDArray[np.float64]
Result = dict[str, float]

PREVALENCE, LEVEL = 0.4, 0.95
SIZES, CHEATERS, EFFECTS = (200, 500, 1000, 5000), (0.0, 0.1, 0.3), (0.0, 0.1, 0.3)
MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
SYMMETRIC = {"1": {"forced_no": "1/6", "forced_yes": "1/6"}, "2": {"forced_no": "2/6", "forced_yes": "2/6"}}
THREE = MIRRORED | {"3": {"forced_no": "1/6", "forced_yes": "1/6"}}


def _design(subsamples: dict[str, dict[str, str]], cheater_model: str) -> Design:
    return Design.of(arms=("control", "treatment"), control="control", subsamples=subsamples, cheater_model=cheater_model)


DESIGNS = {
    "mirrored": (_design(MIRRORED, "any"), Behaviour.RANDOM),
    "symmetric, q known": (_design(SYMMETRIC, "always_no"), Behaviour.ALWAYS_NO),
    "three subsamples": (_design(THREE, "any"), Behaviour.RANDOM),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One point of the grid."""

    design: str
    n: int
    cheaters: float
    effect: float

    @property
    def key(self) -> str:
        """Name of the setting in the file of results."""
        return f"{self.design}, n={self.n}, λ={self.cheaters:g}, τ={self.effect:g}"

    @property
    def model(self) -> LatentModel:
        """The population; one background variable matters to those who look at it."""
        return LatentModel(
            prevalence=PREVALENCE,
            effects={"treatment": self.effect},
            cheater_proportion=self.cheaters,
            cheater_behaviour=DESIGNS[self.design][1],
            background_effects={"ability": 1.0},
        )

    def rng(self, seed: int, task: str) -> np.random.Generator:
        """Random numbers of one task on this setting."""
        return np.random.default_rng([seed, crc32(f"{task} {self.key}".encode())])


GRID = [
    Setting(design=design, n=n, cheaters=cheaters, effect=effect)
    for design, n, cheaters, effect in product(DESIGNS, SIZES, CHEATERS, EFFECTS)
]


def fieller_covers(joint: JointEstimates, effect: float, *, multiplier: float | Array) -> NDArray[np.bool_]:
    """Whether Fieller's set contains the effect: (Δ̂ − τx̂)² ≤ z²(V_Δ − 2τC + τ²V_x), for the first contrast of a batch."""
    variance = (
        joint.honest_times_effect_variance[..., 0] - 2 * effect * joint.covariance[..., 0] + effect**2 * joint.honest_proportion_variance
    )
    return np.asarray((joint.honest_times_effect[..., 0] - effect * joint.honest_proportion) ** 2 <= multiplier**2 * variance)


def coverage_of(joint: JointEstimates, effect: float, prefix: str) -> Result:
    """Coverage of both intervals by a batch of estimates; ``reported`` counts what people see, where "unbounded" excludes nothing."""
    z = float(ndtri((1 + LEVEL) / 2))
    in_set = fieller_covers(joint, effect, multiplier=z)
    bounded = joint.honest_proportion**2 > z**2 * joint.honest_proportion_variance
    wald = np.abs(joint.effect[..., 0] - effect) <= z * joint.standard_error[..., 0]
    has_estimate = ~np.isnan(joint.effect[..., 0])
    return {
        f"{prefix}_fieller": float(in_set.mean()),
        f"{prefix}_reported": float((~bounded | (in_set & (joint.honest_proportion > 0))).mean()),
        f"{prefix}_unbounded": float((~bounded).mean()),
        f"{prefix}_wald": float(wald[has_estimate].mean()),
        f"{prefix}_no_estimate": float((~has_estimate).mean()),
    }


def closed_form(setting: Setting, *, replicates: int, rng: np.random.Generator) -> Result:
    """Intervals without covariates and the specification test, from counts."""
    design = DESIGNS[setting.design][0]
    counts = simulate_counts(design, setting.model, n=setting.n, trials=replicates, rng=rng).astype(float)
    complete = (counts.sum(axis=-1) > 0).all(axis=(1, 2))
    counts = counts[complete]
    fit = maximum_likelihood_fit(counts, design)
    return {
        **coverage_of(difference_in_means_kernel(counts, design), setting.effect, "difference_in_means"),
        **coverage_of(efficient_kernel(counts, design), setting.effect, "efficient"),
        "specification_test": float((chi2.sf(fit.statistic, fit.df) < 1 - LEVEL).mean()),
        "empty_cell": float(1 - complete.mean()),
    }


def resampled(setting: Setting, *, replicates: int, rng: np.random.Generator, resamples: int = 500) -> Result:
    """Percentile and BCa intervals of the difference in means; one that has no end excludes nothing on that side."""
    design = DESIGNS[setting.design][0]
    found: dict[str, list[bool]] = {"percentile": [], "bca": []}
    for counts in simulate_counts(design, setting.model, n=setting.n, trials=replicates, rng=rng):
        if (counts.sum(axis=-1) == 0).any():
            continue
        study = ResampledCounts(counts, design=design)
        value = float(difference_in_means_kernel(study.counts, design).effect[0])
        if np.isnan(value):
            continue
        run = bootstrap(study, replicates=resamples, seed=int(rng.integers(2**32)), workers=1)
        summary = bootstrap_summary(
            run.effects["difference_in_means"][:, 0],
            estimate=float(study.estimates["difference_in_means"][0]),
            acceleration=float(study.accelerations["difference_in_means"][0]),
            level=LEVEL,
            seed=run.seed,
        )
        found["percentile"].append(_covers(summary.low, summary.high, setting.effect))
        found["bca"].append(summary.bca is None or summary.bca.contains(setting.effect))
    return {f"bootstrap_{kind}": float(np.mean(covered)) for kind, covered in found.items()} | {"bootstrap_trials": len(found["bca"])}


def with_covariates(setting: Setting, *, replicates: int, rng: np.random.Generator) -> Result:
    """Intervals of the estimators that use a covariate; working models are chosen anew in every trial."""
    design = DESIGNS[setting.design][0]
    estimates: dict[str, list[JointEstimates]] = {"doubly_robust": [], "efficient_with_covariates": []}
    for _ in range(replicates):
        trial = simulate_trial(design, setting.model, n=setting.n, rng=rng)
        study = adjusted_study(trial.reported, trial.arm, trial.subsample, trial.covariates, design=design)
        for method, estimate in (("doubly_robust", doubly_robust_estimates), ("efficient_with_covariates", efficient_estimates)):
            estimates[method].append(estimate(study).joint)
    return {
        name: share for method, found in estimates.items() for name, share in coverage_of(stacked(found), setting.effect, method).items()
    }


def stacked(estimates: Sequence[JointEstimates]) -> JointEstimates:
    """Estimates of many trials as one batch."""
    fields = ("honest_times_effect", "honest_times_effect_variance", "honest_proportion", "honest_proportion_variance", "covariance")
    columns = {field: np.stack([getattr(one, field) for one in estimates]) for field in (*fields, "honest_proportion_used")}
    numerators = [one.numerator_used for one in estimates if one.numerator_used is not None]
    return JointEstimates(**columns, numerator_used=np.stack(numerators) if numerators else None)


def monitored(setting: Setting, *, replicates: int, rng: np.random.Generator, first_look: int = 100) -> Result:
    """Share of trials in which the sequence covers the effect after every single participant from the first look on."""
    design = DESIGNS[setting.design][0]
    looks = np.arange(first_look, setting.n + 1)
    rho = tuned_rho(setting.n, level=LEVEL)
    multipliers = np.array([anytime_multiplier(float(n), rho=rho, level=LEVEL) for n in looks])
    always = {"anytime": 0, "fixed_n": 0}
    for _ in range(replicates):
        trial = simulate_trial(design, setting.model, n=setting.n, rng=rng)
        steps = np.zeros((setting.n, *design.shape, 2))
        steps[np.arange(setting.n), trial.arm, trial.subsample, trial.reported.astype(int)] = 1
        joint = difference_in_means_kernel(np.cumsum(steps, axis=0)[looks - 1], design)
        always["anytime"] += bool(fieller_covers(joint, setting.effect, multiplier=multipliers).all())
        always["fixed_n"] += bool(fieller_covers(joint, setting.effect, multiplier=float(ndtri((1 + LEVEL) / 2))).all())
    return {f"always_covered_{kind}": covered / replicates for kind, covered in always.items()}


def _covers(low: float | None, high: float | None, effect: float) -> bool:
    return (low is None or low <= effect) and (high is None or effect <= high)


Task = Callable[[Setting, int, np.random.Generator], Result]
TASKS: dict[str, Task] = {
    "closed form": lambda setting, replicates, rng: closed_form(setting, replicates=replicates, rng=rng),
    "bootstrap": lambda setting, replicates, rng: resampled(setting, replicates=replicates, rng=rng),
    "covariates": lambda setting, replicates, rng: with_covariates(setting, replicates=replicates, rng=rng),
    "monitoring": lambda setting, replicates, rng: monitored(setting, replicates=replicates, rng=rng),
}


def missing_work(done: set[tuple[str, str]], replicates: dict[str, int]) -> list[tuple[str, Setting]]:
    """Tasks that the file of results does not have; the sequence is watched at the largest n with most cheaters."""
    return [
        (task, setting)
        for task in TASKS
        for setting in GRID
        if replicates[task]
        and (task, setting.key) not in done
        and (task != "monitoring" or (setting.n == max(SIZES) and setting.cheaters == max(CHEATERS)))
    ]


def line_of(task: str, setting: Setting, replicates: int, seed: int) -> dict[str, Any]:
    """Do one piece of work and describe it as a line of the file of results."""
    result = TASKS[task](setting, replicates, setting.rng(seed, task))
    return {"task": task, "setting": setting.key, "seed": seed, "replicates": replicates, "result": result}


def summary(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Range of every measure over the settings, with the settings at which it is reached."""
    for measure in dict.fromkeys(name for line in lines for name in line["result"]):
        found = sorted((line["result"][measure], line["setting"]) for line in lines if measure in line["result"])
        middle = sum(value for value, _ in found) / len(found)
        yield f"{measure:38} {found[0][0]:.4f} … {middle:.4f} … {found[-1][0]:.4f}   ({found[0][1]}; {found[-1][1]})"


@click.command()
@click.option("--replicates", default=20_000, show_default=True, help="Trials per setting for intervals from counts.")
@click.option("--bootstraps", default=200, show_default=True, help="Trials per setting that are resampled 500 times.")
@click.option("--doubly-robust", default=200, show_default=True, help="Trials per setting with a covariate.")
@click.option("--trials", default=400, show_default=True, help="Trials watched after every participant.")
@click.option("--seed", default=20211205, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), help="Processes; default: one per core. The numbers do not depend on it.")
@click.option("--output", type=click.Path(path_type=Path), default=Path("var/benchmarks/coverage.jsonl"), show_default=True)
def main(replicates: int, bootstraps: int, doubly_robust: int, trials: int, seed: int, workers: int | None, output: Path) -> None:
    """Run the settings that the output file lacks, then summarise the file."""
    wanted = {"closed form": replicates, "bootstrap": bootstraps, "covariates": doubly_robust, "monitoring": trials}
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
    lines = [line for line in lines if line["seed"] == seed and line["replicates"] == wanted[line["task"]]]
    work = missing_work({(line["task"], line["setting"]) for line in lines}, wanted)
    with (
        output.open("a") as file,
        ProcessPoolExecutor(workers) as pool,
        click.progressbar(length=len(work), label="Simulating", file=sys.stderr) as bar,
    ):
        for running in as_completed([pool.submit(line_of, task, setting, wanted[task], seed) for task, setting in work]):
            lines.append(running.result())
            file.write(json.dumps(lines[-1], ensure_ascii=False) + "\n")
            file.flush()
            bar.update(1)
    click.echo("\n".join(summary(lines)))


if __name__ == "__main__":
    main()
