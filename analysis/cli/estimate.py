"""``candor estimate``: everything that collected answers say about the effects, with or without covariates."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, replace
from pathlib import Path

import click

from analysis.cli.estimate_text import estimate_text, forest_rows
from analysis.cli.options import design_option, format_option, level_option
from analysis.cli.progress import progress_bar
from analysis.cli.reading import AnswerFile, read_design
from analysis.methods.designs import Design
from analysis.methods.effects import estimate_outcome
from analysis.methods.forest import forest_svg
from analysis.methods.results import OutcomeEstimate


@click.command()
@click.argument("data", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@design_option
@click.option("--outcome", "outcomes", multiple=True, help="Column of 0/1 answers; repeat for several. Default: every such column.")
@click.option("--covariate", "covariates", multiple=True, help="Column measured before the assignment; repeat for several.")
@click.option("--bootstrap", "replicates", type=click.IntRange(min=0), default=5000, show_default=True, help="Resamples; 0 for none.")
@level_option
@click.option("--seed", type=click.IntRange(min=0), help="Of the bootstrap; default: a fresh one, reported with the results.")
@format_option
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write a forest plot to this SVG file.")
def estimate(
    data: Path,
    design_path: Path,
    outcomes: tuple[str, ...],
    covariates: tuple[str, ...],
    replicates: int,
    level: float,
    seed: int | None,
    output_format: str,
    plot: Path | None,
) -> None:
    """Estimate the effects on sensitive yes/no outcomes.

    DATA is a CSV file with the columns arm and subsample, one column of 0/1 per outcome, and covariates; empty means missing.
    """
    design = read_design(design_path)
    answers = AnswerFile(data, design=design, outcomes=outcomes, covariates=covariates)
    seed = secrets.randbits(32) if seed is None else seed
    results = _from_counts(answers, design, level=level, replicates=replicates, seed=seed)
    if plot is not None:
        plot.write_text(forest_svg(forest_rows(results), title=f"Effects and {100 * level:g} % intervals"), encoding="utf-8")
    if output_format == "json":
        document = {"design": design.to_document(), "outcomes": {name: asdict(result) for name, result in results.items()}}
        click.echo(json.dumps(document, allow_nan=False, ensure_ascii=False, indent=2))
    else:
        click.echo(estimate_text(results, design))


def _from_counts(answers: AnswerFile, design: Design, *, level: float, replicates: int, seed: int) -> dict[str, OutcomeEstimate]:
    """Estimates without covariates; memory does not grow with the number of rows."""
    with progress_bar(answers.path.stat().st_size, label="Reading") as advance:
        found = answers.counts(advance)
    results = {}
    for name in answers.outcomes:
        with answers.about(name):
            results[name] = _with_missing(estimate_outcome(found.counts[name], design=design, level=level), found.missing[name])
    return results


def _with_missing(result: OutcomeEstimate, missing: int) -> OutcomeEstimate:
    """Say how many rows have no answer: they are left out of this outcome only."""
    if not missing:
        return result
    rows = "row has" if missing == 1 else "rows have"
    return replace(result, notes=(f"{missing} {rows} no answer and {'is' if missing == 1 else 'are'} left out.", *result.notes))
