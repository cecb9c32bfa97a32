"""``candor estimate``: everything that collected answers say about the effects, with or without covariates."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from candor.adjustment.adjusted_study import adjusted_study
from candor.adjustment.doubly_robust import effects_with_covariates
from candor.cli.estimate_text import estimate_text, forest_rows
from candor.cli.options import PROPORTION, design_option, format_option, level_option
from candor.cli.progress import progress_bar
from candor.cli.reading import MISSING, AnswerFile, read_design
from candor.designs.design import Design
from candor.estimators.effects import estimate_outcome
from candor.estimators.sensitivity import CheatingSensitivity, sensitivity_to_arm_dependent_cheating
from candor.figures.forest import forest_svg
from candor.resampling.bootstrap import ResampledStudy, bootstrap, with_bootstrap
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_patterns import ResampledPatterns
from candor.results import Effect, OutcomeEstimate


def at_least_two(context: click.Context, option: click.Parameter, replicates: int) -> int:
    """Refuse the one number of resamples that has no spread."""
    if replicates == 1:
        raise click.BadParameter("expected 0 for none, or at least 2 resamples, found 1")
    return replicates


@click.command()
@click.argument("data", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@design_option
@click.option("--outcome", "outcomes", multiple=True, help="Column of 0/1 answers; repeat for several. Default: every such column.")
@click.option("--covariate", "covariates", multiple=True, help="Column measured before the assignment; repeat for several.")
@click.option(
    "--bootstrap",
    "replicates",
    type=click.IntRange(min=0),
    default=5000,
    show_default=True,
    callback=at_least_two,
    help="Resamples; 0 for none.",
)
@level_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the bootstrap; default: a fresh one, reported with the results.")
@click.option(
    "--kappa",
    type=PROPORTION,
    help="Say what remains of the effects if the yes rates of cheaters differ by up to this between two arms.",
)
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
    kappa: float | None,
    output_format: str,
    plot: Path | None,
) -> None:
    """Estimate the effects on sensitive yes/no outcomes.

    DATA is a CSV file with the columns arm and subsample, one column of 0/1 per outcome, and covariates; empty means missing.
    """
    design = read_design(design_path)
    answers = AnswerFile(data, design=design, outcomes=outcomes, covariates=covariates)
    resampling = Resampling(replicates=replicates, seed=secrets.randbits(32) if seed is None else seed, level=level)
    found = (_with_covariates if covariates else _from_counts)(answers, design, resampling=resampling, kappa=kappa)
    results = {name: one.estimate for name, one in found.items()}
    if plot is not None:
        plot.write_text(forest_svg(forest_rows(results), title=f"Effects and {100 * level:g} % intervals"), encoding="utf-8")
    if output_format == "json":
        document = {"design": design.to_document(), "outcomes": {name: one.document() for name, one in found.items()}}
        click.echo(json.dumps(document, allow_nan=False, ensure_ascii=False, indent=2))
    else:
        click.echo(estimate_text(results, design, sensitivity={name: one.sensitivity for name, one in found.items()}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One outcome: the estimates and, on request, the effects that remain if cheating depends on the arm."""

    estimate: OutcomeEstimate
    sensitivity: tuple[CheatingSensitivity, ...]

    @classmethod
    def of(cls, estimate: OutcomeEstimate, counts: NDArray[Any], *, design: Design, level: float, kappa: float | None) -> Found:
        """Without κ there is no request."""
        bounds = () if kappa is None else sensitivity_to_arm_dependent_cheating(counts, design=design, kappa=kappa, level=level)
        return cls(estimate=estimate, sensitivity=bounds)

    def document(self) -> dict[str, Any]:
        """The estimates' document, with ``sensitivity`` if it was requested."""
        return asdict(self.estimate) | ({"sensitivity": [asdict(one) for one in self.sensitivity]} if self.sensitivity else {})


def _from_counts(answers: AnswerFile, design: Design, *, resampling: Resampling, kappa: float | None) -> dict[str, Found]:
    """Estimates without covariates; memory does not grow with the number of rows."""
    with progress_bar(answers.path.stat().st_size, label="Reading") as advance:
        found = answers.counts(advance)
    results = {}
    for name in answers.outcomes:
        with answers.about(name):
            result = _from_counts_of(found.counts[name], design, resampling=resampling, missing=found.missing[name])
            results[name] = Found.of(result, found.counts[name], design=design, level=resampling.level, kappa=kappa)
    return results


def _with_covariates(answers: AnswerFile, design: Design, *, resampling: Resampling, kappa: float | None) -> dict[str, Found]:
    """Estimates with and without covariates; everybody who answered a question counts, whatever covariates are missing."""
    with progress_bar(answers.path.stat().st_size, label="Reading") as advance:
        columns = answers.columns(advance)
    results = {}
    for name, reported in columns.reported.items():
        answered = np.flatnonzero(reported != MISSING)
        with answers.about(name):
            study = adjusted_study(
                reported[answered],
                columns.arm[answered],
                columns.subsample[answered],
                {covariate: np.array(values, dtype=object)[answered] for covariate, values in columns.covariates.items()},
                design=design,
            )
            result = _from_counts_of(study.counts, design, resampling=resampling, missing=len(reported) - len(answered))
            effects = effects_with_covariates(study, level=resampling.level)
            if design.identification.effect:
                effects = resampling.of(effects, ResampledPatterns(study))
            result = _with_effects(result, (*result.effects, *effects))
            results[name] = Found.of(result, study.counts, design=design, level=resampling.level, kappa=kappa)
    return results


def _from_counts_of(counts: NDArray[Any], design: Design, *, resampling: Resampling, missing: int) -> OutcomeEstimate:
    """One outcome without covariates, resampled, saying how many rows have no answer: they are left out of this outcome only."""
    result = estimate_outcome(counts, design=design, level=resampling.level)
    if design.identification.effect:
        result = _with_effects(result, resampling.of(result.effects, ResampledCounts(counts, design=design)))
    if missing:
        about = "1 row has no answer and is left out." if missing == 1 else f"{missing} rows have no answer and are left out."
        result = replace(result, notes=(about, *result.notes))
    return result


def _with_effects(result: OutcomeEstimate, effects: tuple[Effect, ...]) -> OutcomeEstimate:
    """The result with other effects, whose notes join those that are there."""
    said = (f"{effect.method}, {effect.treatment}: {note}" for effect in effects for note in effect.notes)
    return replace(result, effects=effects, notes=tuple(dict.fromkeys((*result.notes, *said))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """Settings of the bootstrap; 0 replicates turn it off."""

    replicates: int
    seed: int
    level: float

    def of(self, effects: tuple[Effect, ...], study: ResampledStudy) -> tuple[Effect, ...]:
        """Add a bootstrap summary to every effect that has an estimate and a way to be resampled."""
        if not self.replicates or all(effect.value is None for effect in effects):
            return effects
        with progress_bar(self.replicates, label="Resampling") as advance:
            told = 0

            def progress(done: int, _: int) -> None:
                nonlocal told
                advance(done - told)
                told = done

            run = bootstrap(study, replicates=self.replicates, seed=self.seed, progress=progress)
        return with_bootstrap(effects, run, study=study, level=self.level)
