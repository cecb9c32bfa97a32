"""``candor diagnose``: `candor.diagnose` for a file with a design."""

from __future__ import annotations

from pathlib import Path

import click

from candor.cli.inputs import Input, OutputFile
from candor.cli.options import (
    PROPORTION,
    SEED,
    WHOLE,
    OneOf,
    Whole,
    all_of,
    cheaters_option,
    cluster_size_option,
    design_option,
    effect_option,
    effects_by_arm,
    format_option,
    icc_option,
    level_option,
    prevalence_option,
)
from candor.cli.reading import read_design
from candor.diagnosis.diagnose import MOST_STUDIES
from candor.diagnosis.people import Cheating, DropOut
from candor.studies.diagnoses import diagnose as diagnosed
from candor.terminal import progress_bar, say_document


@click.command()
@design_option
@click.option("--answer", help="The answer that counts as yes, where the design names categories; every other one counts as no.")
@click.option("--n", type=WHOLE, required=True, help="People who are assigned to an arm.")
@all_of(effect_option, prevalence_option, cheaters_option)
@click.option("--drop-out", type=PROPORTION, default=0.1, show_default=True, help="Share of those who may leave who do.")
@all_of(cluster_size_option, icc_option)
@click.option("--cheating", multiple=True, type=OneOf([one.value for one in Cheating]), help="A way to cheat, repeated; default: all.")
@click.option("--leaving", multiple=True, type=OneOf([one.value for one in DropOut]), help="A way to leave, repeated; default: all.")
@click.option("--studies", type=Whole(2, MOST_STUDIES), default=4000, show_default=True, help="Simulated studies for each setting.")
@click.option("--seed", type=SEED, help="The same seed gives the same numbers; default: a fresh one, told at the end.")
@click.option(
    "--resume",
    type=OutputFile(),
    help="A file to keep the work in: the same command goes on from there after an interruption.",
)
@all_of(level_option, format_option)
def diagnose(
    design_path: Input,
    answer: str | None,
    n: int,
    effects: tuple[str, ...],
    prevalence: float,
    cheaters: float,
    drop_out: float,
    cluster_size: float,
    icc: float,
    cheating: tuple[str, ...],
    leaving: tuple[str, ...],
    studies: int,
    seed: int | None,
    resume: Path | None,
    level: float,
    output_format: str,
) -> None:
    """Bias, coverage, power and wrong signs of a design when people cheat and leave."""
    design = read_design(design_path)
    design = design if answer is None else design.of_one_answer(answer)
    ways, leavings = cheating or tuple(Cheating), leaving or tuple(DropOut)
    with progress_bar(len(set(ways)) * len(set(leavings)) * studies, label="Simulating") as advance:
        found = diagnosed(
            design,
            n=n,
            effects=effects_by_arm(effects, treatments=design.treatments),
            prevalence=prevalence,
            cheater_proportion=cheaters,
            drop_out=drop_out,
            cluster_size=cluster_size,
            intraclass_correlation=icc,
            cheating=ways,
            leaving=leavings,
            studies=studies,
            level=level,
            seed=seed,
            resume=resume,
            progress=advance,
        )
    say_document(found.to_dict(), str(found).split("\n"), output_format=output_format)
