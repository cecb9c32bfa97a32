"""Do the intervals of the estimators with covariates cover in a class, also when most covariates say nothing?

    python -m benchmarks.covariates                      a quarter of an hour; resumes where it stopped
    python -m benchmarks.covariates --replicates 200 --output quick.jsonl

Every trial has eight covariates that are columns of noise, or two that matter and six of noise; the working models are chosen anew in
each trial. ``as fitted`` are the same intervals with the residuals of the fit, the negative control. The table in
``benchmarks/covariates.md`` is what the command prints.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zlib import crc32

import click
import numpy as np

from candor.adjustment import adjusted_study as adjusted_studies
from candor.adjustment.adjusted_study import AdjustedStudy, adjusted_study
from candor.adjustment.covariates import IntArray, ModelMatrix
from candor.adjustment.doubly_robust import doubly_robust_estimates, efficient_estimates
from candor.adjustment.held_out import AugmentedMeans
from candor.adjustment.working_models import WorkingModel
from candor.designs.design import Design, FloatArray
from candor.estimators.joint_estimates import JointEstimates
from candor.planning.simulation import LatentModel, simulate_trial

Result = dict[str, float]

SIZES, RATIOS, SIGNALS = (60, 100, 200, 500), (1, 3), (0, 2)
COVARIATES, CHEATERS, EFFECT, PREVALENCE, Z = 8, 0.1, 0.1, 0.4, 1.959964
MIRRORED = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
ESTIMATES = {"doubly robust": doubly_robust_estimates, "efficient": efficient_estimates}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One line of the table: people, treated people for each control, and how many covariates matter."""

    n: int
    treated: int
    signals: int

    @property
    def key(self) -> str:
        """Name of the setting in the file of results."""
        return f"n={self.n}, 1:{self.treated}, {self.signals} of {COVARIATES} matter"

    @property
    def design(self) -> Design:
        """Two arms and the default die."""
        shares = (1 / (1 + self.treated), self.treated / (1 + self.treated))
        return Design.of(arms=("control", "treatment"), control="control", subsamples=MIRRORED, arm_probabilities=shares)

    @property
    def model(self) -> LatentModel:
        """The population: each covariate that matters changes the odds of a true yes by e per standard deviation."""
        matters = {f"signal {index}": 1.0 for index in range(self.signals)}
        return LatentModel(prevalence=PREVALENCE, effects={"treatment": EFFECT}, cheater_proportion=CHEATERS, background_effects=matters)

    def studies(self, replicates: int, seed: int) -> Iterator[AdjustedStudy]:
        """Simulated studies; one with an empty cell, which gives no estimate, is drawn again."""
        rng = np.random.default_rng([seed, crc32(self.key.encode())])
        found = 0
        while found < replicates:
            trial = simulate_trial(self.design, self.model, n=self.n, rng=rng)
            if np.bincount(trial.arm * 2 + trial.subsample, minlength=4).min() == 0:
                continue
            noise = {f"noise {index}": rng.standard_normal(self.n) for index in range(COVARIATES - self.signals)}
            found += 1
            yield adjusted_study(trial.reported, trial.arm, trial.subsample, {**trial.covariates, **noise}, design=self.design)


SETTINGS = [Setting(n=n, treated=treated, signals=signals) for signals, n, treated in product(SIGNALS, SIZES, RATIOS)]


def as_fitted(outcome: FloatArray, group: IntArray, matrix: ModelMatrix, models: Sequence[WorkingModel]) -> AugmentedMeans:
    """Give the residuals of the fit, as `augmented_means` once did: smaller than those of people whom it has not seen."""
    predictions = np.column_stack([model.predict(matrix.values) for model in models])
    residuals = outcome - predictions[np.arange(len(group)), group]
    return AugmentedMeans(group=group, frequencies=matrix.frequencies, predictions=predictions, residuals=residuals)


def measured(setting: Setting, *, replicates: int, seed: int) -> Result:
    """Coverage of Fieller's intervals by method, the width of the standard errors of Δ̂, and the coverage of the negative control."""
    found: dict[str, list[JointEstimates]] = {f"{method}{kind}": [] for kind in ("", ", as fitted") for method in ESTIMATES}
    for study in setting.studies(replicates, seed):
        for method, estimate in ESTIMATES.items():
            found[method].append(estimate(study).joint)
            with patch.object(adjusted_studies, "augmented_means", as_fitted):
                found[f"{method}, as fitted"].append(estimate(replace(study)).joint)
    results = {name: float(np.mean([_covers(joint) for joint in joints])) for name, joints in found.items()}
    for method in ESTIMATES:
        errors = [math.sqrt(joint.honest_times_effect_variance[0]) for joint in found[method]]
        spread = np.std([joint.honest_times_effect[0] for joint in found[method]])
        results[f"{method}, error over spread"] = float(np.mean(errors) / spread)
    return results


def _covers(joint: JointEstimates) -> bool:
    variance = joint.honest_times_effect_variance[0] - 2 * EFFECT * joint.covariance[0] + EFFECT**2 * joint.honest_proportion_variance
    return bool((joint.honest_times_effect[0] - EFFECT * joint.honest_proportion) ** 2 <= Z**2 * variance)


def line_of(setting: Setting, replicates: int, seed: int) -> dict[str, Any]:
    """Do one setting and describe it as a line of the file of results."""
    return {
        "setting": setting.key,
        "seed": seed,
        "replicates": replicates,
        "date": datetime.now(UTC).date().isoformat(),
        "result": measured(setting, replicates=replicates, seed=seed),
    }


def table(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The results as a table in Markdown, in the order of the settings."""
    by_setting = {line["setting"]: line for line in lines}
    names = list(lines[0]["result"])
    yield f"| setting | {' | '.join(names)} | date |"
    yield f"|{'---|' * (len(names) + 2)}"
    for setting in SETTINGS:
        if line := by_setting.get(setting.key):
            numbers = (f"{line['result'][name]:.3f}" for name in names)
            yield f"| {setting.key} | {' | '.join(numbers)} | {line['date']} |"


@click.command()
@click.option("--replicates", default=2000, show_default=True, help="Trials per setting.")
@click.option("--seed", default=20261122, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), help="Processes; default: one per core. The numbers do not depend on it.")
@click.option("--output", type=click.Path(path_type=Path), default=Path("var/benchmarks/covariates.jsonl"), show_default=True)
def main(replicates: int, seed: int, workers: int | None, output: Path) -> None:
    """Run the settings that the output file lacks, then print the table."""
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
    lines = [line for line in lines if (line["seed"], line["replicates"]) == (seed, replicates)]
    done = {line["setting"] for line in lines}
    work = [setting for setting in SETTINGS if setting.key not in done]
    with output.open("a") as file, ProcessPoolExecutor(workers) as pool:
        for running in as_completed([pool.submit(line_of, setting, replicates, seed) for setting in work]):
            lines.append(running.result())
            file.write(json.dumps(lines[-1], ensure_ascii=False) + "\n")
            file.flush()
    click.echo("\n".join(table(lines)))


if __name__ == "__main__":
    main()
