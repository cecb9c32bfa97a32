"""``candor simulate``: `candor.simulate` to a file, in parts, so that memory does not grow with the number of participants."""

from __future__ import annotations

import csv
import secrets
import sys
from contextlib import nullcontext
from pathlib import Path

import click

from candor.cli.inputs import STANDARD_OUTPUT, Input, OutputFile, complete_file
from candor.cli.options import SEED, OneOf, Whole, all_of, cheaters_option, design_option, effect_option, effects_by_arm, prevalence_option
from candor.cli.reading import read_design
from candor.errors import what_came
from candor.planning.margins import MOST_PARTICIPANTS
from candor.planning.simulation import Behaviour, LatentModel
from candor.studies.simulations import WAYS_TO_CHEAT, simulated_parts
from candor.terminal import progress_bar, say


@click.command()
@design_option
@click.option("--n", type=Whole(0, MOST_PARTICIPANTS), required=True, help="Number of participants.")
@all_of(effect_option, prevalence_option, cheaters_option)
@click.option(
    "--cheater-behaviour",
    type=OneOf(WAYS_TO_CHEAT),
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
@click.option("--seed", type=SEED, help="The same seed gives the same file; default: a fresh one, told on stderr.")
@click.option(
    "-o", "--output", type=OutputFile(or_standard_output=True), default=STANDARD_OUTPUT, help="DATA.csv to write; default: standard output."
)
def simulate(
    design_path: Input,
    n: int,
    effects: tuple[str, ...],
    prevalence: float,
    cheaters: float,
    cheater_behaviour: str,
    outcome: str,
    covariates: tuple[str, ...],
    seed: int | None,
    output: Path,
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
        say(f"seed {seed}", err=True)
    parts = simulated_parts(design, model, n=n, outcome=outcome, seed=seed)
    with nullcontext(sys.stdout) if str(output) == STANDARD_OUTPUT else complete_file(output) as file:
        writer = csv.writer(file, lineterminator="\n")
        with progress_bar(n, label="Simulating") as advance:
            for index, part in enumerate(parts):
                if index == 0:
                    writer.writerow(part)
                writer.writerows(zip(*(column.tolist() for column in part.values()), strict=True))
                advance(len(part[outcome]))


def _background_effects(texts: tuple[str, ...], *, taken: tuple[str, ...]) -> dict[str, float]:
    effects: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if not name or name in effects or name in taken:
            raise click.BadParameter(f"expected NAME=NUMBER with a new name, found {what_came(text)}", param_hint="--covariate")
        try:
            effects[name] = float(value)
        except ValueError:
            raise click.BadParameter(f"expected NAME=NUMBER, found {what_came(text)}", param_hint="--covariate") from None
    return effects
