"""``candor plan``: `candor.plan` for a file with a design."""

from __future__ import annotations

import click

from candor.cli.inputs import Input
from candor.cli.options import (
    POSITIVE,
    PROPORTION,
    WHOLE,
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
from candor.cli.planned_tests import margin_options
from candor.cli.reading import read_design
from candor.equivalence.margins import Worse
from candor.planning.pareto import LEAST_TRUTH
from candor.studies.plans import PlannedStudy, PlannedSurvey, plan_survey
from candor.studies.plans import plan as planned
from candor.terminal import say_document


@click.command()
@all_of(design_option, effect_option, prevalence_option, cheaters_option)
@click.option("--cheaters-yes-rate", type=PROPORTION, help="How often they say yes; default: as the cheater model states, otherwise 0.5.")
@click.option(
    "--r-squared", type=PROPORTION, default=0.0, show_default=True, help="Share of the variance of true answers that covariates explain."
)
@click.option("--n", type=WHOLE, help="Planned participants; default: as many as --power needs.")
@click.option("--power", type=PROPORTION, default=0.8, show_default=True, help="Target power of the test of no effect.")
@click.option(
    "--half-width",
    type=PROPORTION,
    default=0.05,
    show_default=True,
    help="For a survey: wanted half of the width of the prevalence's interval.",
)
@click.option("--questions", type=WHOLE, default=1, show_default=True, help="Sensitive questions, one roll each.")
@click.option("--epsilon-cap", type=POSITIVE, help="Largest privacy loss per question for suggested dice; default: the design's own.")
@all_of(cluster_size_option, icc_option)
@click.option("--front", is_flag=True, help="Search designs of which none beats another in people, both errors and privacy.")
@click.option(
    "--least-truth", type=PROPORTION, default=LEAST_TRUTH, show_default=True, help="Smallest share of rolls for the truth in --front."
)
@margin_options
@all_of(level_option, format_option)
def plan(
    design_path: Input,
    effects: tuple[str, ...],
    prevalence: float,
    cheaters: float,
    cheaters_yes_rate: float | None,
    r_squared: float,
    n: int | None,
    power: float,
    half_width: float,
    questions: int,
    epsilon_cap: float | None,
    cluster_size: float,
    icc: float,
    front: bool,
    least_truth: float,
    equivalence_margin: float | None,
    non_inferiority: float | None,
    worse: Worse | None,
    level: float,
    output_format: str,
) -> None:
    """Standard errors, power, participants needed, the cost of privacy and the best dice for a design.

    A design with one arm is a survey: how precisely it will know the prevalence.
    """
    design = read_design(design_path)
    by_arm = effects_by_arm(effects, treatments=design.treatments)
    result: PlannedStudy | PlannedSurvey
    if design.is_survey and (equivalence_margin is not None or non_inferiority is not None):
        raise click.UsageError("a design with one arm is a survey, which has no effect to hold against a margin")
    if design.is_survey:
        result = plan_survey(
            design,
            prevalence=prevalence,
            cheater_proportion=cheaters,
            cheater_yes_rate=cheaters_yes_rate,
            n=n,
            half_width=half_width,
            level=level,
            questions=questions,
        )
    else:
        result = planned(
            design,
            prevalence=prevalence,
            effects=by_arm,
            cheater_proportion=cheaters,
            cheater_yes_rate=cheaters_yes_rate,
            covariate_r_squared=r_squared,
            n=n,
            power=power,
            level=level,
            questions=questions,
            epsilon_cap=epsilon_cap,
            cluster_size=cluster_size,
            intraclass_correlation=icc,
            front=front,
            least_truth=least_truth,
            equivalence_margin=equivalence_margin,
            non_inferiority=non_inferiority,
            worse=worse,
        )
    say_document(result.to_dict(), str(result).split("\n"), output_format=output_format)
