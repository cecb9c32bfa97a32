"""``candor estimate``: `candor.estimate` for a file of answers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from candor.cli.inputs import Input, InputFile
from candor.cli.options import PROPORTION, design_option, format_option, level_option
from candor.cli.progress import progress_bar
from candor.cli.reading import AnswerFile, read_design
from candor.studies.estimates import Analysis


@click.command()
@click.argument("data", type=InputFile())
@design_option
@click.option("--outcome", "outcomes", multiple=True, help="Column of 0/1 answers; repeat for several. Default: every such column.")
@click.option("--covariate", "covariates", multiple=True, help="Column measured before the assignment; repeat for several.")
@click.option(
    "--bootstrap", "replicates", type=click.IntRange(min=0), default=5000, show_default=True, help="Resamples, at least 2; 0 for none."
)
@level_option
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the bootstrap; default: follows from the answers, reported with the results."
)
@click.option(
    "--kappa",
    type=PROPORTION,
    help="Say what remains of the effects if the yes rates of cheaters differ by up to this between two arms.",
)
@format_option
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write a forest plot to this SVG file.")
def estimate(
    data: Input,
    design_path: Input,
    outcomes: tuple[str, ...],
    covariates: tuple[str, ...],
    replicates: int,
    level: float,
    seed: int | None,
    kappa: float | None,
    output_format: str,
    plot: Path | None,
) -> None:
    """Estimate the effects on sensitive yes/no outcomes.

    DATA is a CSV file with the columns arm and subsample, one column of 0/1 per outcome, and covariates; empty means missing.
    """
    analysis = Analysis(replicates=replicates, level=level, seed=seed, kappa=kappa)
    design = read_design(design_path)
    if design.is_survey and covariates:
        raise click.BadParameter("a survey has no effect that covariates could adjust: see candor regress", param_hint="--covariate")
    file = AnswerFile(data, design=design, outcomes=outcomes, covariates=covariates)
    with progress_bar(data.stat().st_size, label="Reading") as advance:
        answers = file.columns(advance) if covariates else file.counts(advance)
    runs = len(answers.missing) + bool(covariates) if design.identification.effect else 0
    with file.named(), progress_bar(runs * replicates, label="Resampling") as advance:
        told = 0

        def progress(done: int, _: int) -> None:
            nonlocal told
            advance(done - told if done >= told else done)
            told = done

        result = analysis.run(answers, design=design, progress=progress)
    if plot is not None:
        plot.write_text(result.plot(), encoding="utf-8")
    click.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=2) if output_format == "json" else str(result))
