"""``candor simulate``: a file of answers such as a study with these participants would collect."""

from __future__ import annotations

import csv
import secrets
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TextIO

import click
import numpy as np

from candor.cli.options import (
    all_of,
    cheaters_option,
    design_option,
    effect_option,
    effects_by_arm,
    prevalence_option,
)
from candor.cli.progress import progress_bar
from candor.cli.reading import read_design
from candor.designs.design import Design
from candor.planning.simulation import Behaviour, LatentModel, simulate_trial

ROWS_PER_CHUNK = 100_000


@click.command()
@design_option
@click.option("--n", type=click.IntRange(min=0), required=True, help="Number of participants.")
@all_of(effect_option, prevalence_option, cheaters_option)
@click.option(
    "--cheater-behaviour",
    type=click.Choice([str(behaviour) for behaviour in Behaviour if behaviour is not Behaviour.HONEST]),
    default=str(Behaviour.RANDOM),
    show_default=True,
    help="Behaviour of those people.",
)
@click.option("--outcome", default="outcome", show_default=True, help="Name of the answer's column.")
@click.option(
    "--covariate",
    "covariates",
    multiple=True,
    metavar="NAME=NUMBER",
    help="A standard normal covariate and its effect on the log-odds of yes.",
)
@click.option("--seed", type=click.IntRange(min=0), help="The same seed gives the same file; default: a fresh one, told on stderr.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="DATA.csv to write; default: standard output.")
def simulate(
    design_path: Path,
    n: int,
    effects: tuple[str, ...],
    prevalence: float,
    cheaters: float,
    cheater_behaviour: str,
    outcome: str,
    covariates: tuple[str, ...],
    seed: int | None,
    output: Path | None,
) -> None:
    """Simulate a trial: arm, subsample, reported answer and covariates of every participant."""
    design = read_design(design_path)
    if outcome in ("arm", "subsample"):
        raise click.BadParameter(f"the column {outcome!r} is there already: give the answer another name", param_hint="--outcome")
    model = LatentModel(
        prevalence=prevalence,
        effects=effects_by_arm(effects, treatments=design.treatments),
        cheater_proportion=cheaters,
        cheater_behaviour=Behaviour(cheater_behaviour),
        background_effects=_background_effects(covariates, taken=("arm", "subsample", outcome)),
    )
    if seed is None:
        seed = secrets.randbits(32)
        click.echo(f"seed {seed}", err=True)
    with output.open("w", encoding="utf-8", newline="") if output else nullcontext(sys.stdout) as file:
        write_trial(file, design, model, n=n, outcome=outcome, rng=np.random.default_rng(seed))


def write_trial(file: TextIO, design: Design, model: LatentModel, *, n: int, outcome: str, rng: np.random.Generator) -> None:
    """Write a simulated trial as CSV, in chunks, so that memory does not grow with n."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["arm", "subsample", outcome, *model.background_effects])
    arms, subsamples = np.array(design.arms, dtype=object), np.array(design.subsample_names, dtype=object)
    with progress_bar(n, label="Simulating") as advance:
        for first in range(0, n, ROWS_PER_CHUNK):
            trial = simulate_trial(design, model, n=min(ROWS_PER_CHUNK, n - first), rng=rng)
            covariates = [np.round(values, 4).tolist() for values in trial.covariates.values()]
            writer.writerows(
                zip(arms[trial.arm], subsamples[trial.subsample], trial.reported.astype(int).tolist(), *covariates, strict=True)
            )
            advance(len(trial.reported))


def _background_effects(texts: tuple[str, ...], *, taken: tuple[str, ...]) -> dict[str, float]:
    effects: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if not name or name in effects or name in taken:
            raise click.BadParameter(f"expected NAME=NUMBER with a new name, found {text!r}", param_hint="--covariate")
        try:
            effects[name] = float(value)
        except ValueError:
            raise click.BadParameter(f"expected NAME=NUMBER, found {text!r}", param_hint="--covariate") from None
    return effects
