"""Are the sequences with background answers ever wrong? Classes watched from the first look to the last, models chosen anew at each look.

    python -m benchmarks.adjusted_sequences                five minutes

The settings are those of `benchmarks.covariates`; the boundary is that of `benchmarks.sequences`, apart from the library's own.
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from zlib import crc32

import click
import numpy as np

from benchmarks.covariates import COVARIATES, EFFECT, Setting
from benchmarks.sequences import LEAST, LEVEL, log_evidence
from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.doubly_robust import adjusted_cells
from candor.planning.simulation import simulate_trial

PEOPLE, STEP = 300, 25
SETTINGS = [Setting(n=PEOPLE, treated=treated, signals=signals) for signals, treated in product((0, 2), (1, 3))]


def missed(setting: Setting, studies: int, seed: int) -> tuple[float, float, float]:
    """Shares of studies that ever start, in which τ is ever outside of its sequence, and in which a fixed-n interval ever misses it."""
    rng = np.random.default_rng([seed, crc32(setting.key.encode())])
    started = wrong = once = 0
    for _ in range(studies):
        trial = simulate_trial(setting.design, setting.model, n=setting.n, rng=rng)
        noise = {f"noise {index}": rng.standard_normal(setting.n) for index in range(COVARIATES - setting.signals)}
        covariates = {name: np.asarray(values) for name, values in {**trial.covariates, **noise}.items()}
        largest, seen = -math.inf, 0.0
        for n in range(STEP, setting.n + 1, STEP):
            cells = np.bincount((trial.arm[:n] * 2 + trial.subsample[:n]) * 2 + np.asarray(trial.reported[:n], dtype=int), minlength=8)
            if cells.min() < LEAST:
                continue
            background = {name: values[:n] for name, values in covariates.items()}
            study = adjusted_study(trial.reported[:n], trial.arm[:n], trial.subsample[:n], background, design=setting.design)
            joint = adjusted_cells(study).fit.joint_estimates()
            variance = (
                joint.honest_times_effect_variance[0] - 2 * EFFECT * joint.covariance[0] + EFFECT**2 * joint.honest_proportion_variance
            )
            squared = (joint.honest_times_effect[0] - EFFECT * joint.honest_proportion) ** 2 / variance
            largest = max(largest, float(log_evidence(np.asarray(squared), np.asarray(float(n)), setting.n)))
            seen = max(seen, float(squared))
        started += largest > -math.inf
        wrong += largest > math.log(1 / (1 - LEVEL))
        once += seen > 1.96**2
    return started / studies, wrong / studies, once / studies


@click.command()
@click.option("--studies", default=300, show_default=True, help="Studies per setting.")
@click.option("--seed", default=20261123, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), help="Processes; default: one per core. The numbers do not depend on it.")
def main(studies: int, seed: int, workers: int | None) -> None:
    """Print the table."""
    click.echo("| setting | ever start | τ, efficient with covariates | fixed-n interval, looked at as often |\n|---|---|---|---|")
    with ProcessPoolExecutor(workers) as pool:
        found = pool.map(missed, SETTINGS, [studies] * len(SETTINGS), [seed] * len(SETTINGS))
        for setting, (started, wrong, once) in zip(SETTINGS, found, strict=True):
            click.echo(f"| {setting.key} | {started:.0%} | {wrong:.3f} | {once:.3f} |")


if __name__ == "__main__":
    main()
