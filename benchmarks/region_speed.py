"""How long does the likelihood region take? Processor time of everything for one question, and its part for one interval.

    python -m benchmarks.region_speed

The promise is 20 ms for one contrast.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median

import click
import numpy as np

from benchmarks.coverage import DESIGNS, Setting
from candor.likelihood.region import likelihood_region
from candor.planning.simulation import simulate_counts

REPEATS = 30
PROMISED = 20.0


def milliseconds(work: Callable[[], object]) -> float:
    """The median processor time of many repeats."""
    found = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        found.append(1000 * (time.process_time() - started))
    return median(found)


@click.command()
def main() -> None:
    """Print a line for each design; exit 1 when one contrast takes longer than promised."""
    slowest = 0.0
    for name in DESIGNS:
        setting = Setting(design=name, n=400, cheaters=0.15, effect=0.2)
        design = setting.trial_design
        (counts,) = simulate_counts(design, setting.model, n=400, trials=1, rng=np.random.default_rng(1)).astype(float)
        everything = milliseconds(partial(likelihood_region, counts, design))
        # One contrast, the honest share and two prevalences take alike long each.
        one = everything / 4
        slowest = max(slowest, one)
        click.echo(f"{name:36} one interval {one:5.1f} ms   the whole region {everything:5.1f} ms")
    raise SystemExit(int(slowest > PROMISED))


if __name__ == "__main__":
    main()
