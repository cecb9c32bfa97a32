"""``candor regress``: `candor.regress` for a file of answers."""

from __future__ import annotations

from pathlib import Path

import click

from candor.cli.inputs import Input, InputFile
from candor.cli.options import OneOf, design_of_data_option, format_option, level_option, plot_option, show
from candor.cli.reading import AnswerFile, answers_and_design, read_design
from candor.designs.sources import designs_beside
from candor.regression.formulas import read_formula
from candor.regression.model_columns import ARM
from candor.regression.trait_regression import LINKS, regress_answers
from candor.terminal import progress_bar


@click.command()
@click.argument("data", type=InputFile())
@design_of_data_option
@click.option("--formula", default="", help='Such as "attention ~ arm + age * course", instead of --outcome and --covariate.')
@click.option("--outcome", "outcomes", multiple=True, help="Column of 0/1 answers; repeat for several. Default: every such column.")
@click.option("--covariate", "covariates", multiple=True, help="Column that explains the answer, besides the arms; repeat for several.")
@click.option("--link", type=OneOf(LINKS), default="logit", show_default=True, help="Odds ratios, or differences of prevalence.")
@level_option
@format_option
@plot_option("a figure of the coefficients")
def regress(
    data: Input,
    design_path: Input | None,
    formula: str,
    outcomes: tuple[str, ...],
    covariates: tuple[str, ...],
    link: str,
    level: float,
    output_format: str,
    plot: Path | None,
) -> None:
    """Regress the true answer to a sensitive question on arms and covariates, allowing for cheaters.

    DATA is a CSV file as for candor estimate.
    """
    if formula and (outcomes or covariates):
        raise click.BadParameter("give a formula, or --outcome and --covariate, not both", param_hint="--formula")
    terms: list[tuple[str, ...]] = [(ARM,), *((name,) for name in dict.fromkeys(covariates))]
    if formula:
        read = read_formula(formula)
        outcomes, terms = (read.outcome,), list(read.terms)
        covariates = tuple(name for name in read.names if name != ARM)
    data, design_path = answers_and_design(data, design_path)
    design = read_design(design_path)
    file = AnswerFile(data, design=design, outcomes=outcomes, covariates=covariates, beside=designs_beside(design_path))
    with progress_bar(data.stat().st_size, label="Reading") as advance:
        answers = file.columns(advance)
    with file.named():
        result = regress_answers(answers, design=design, terms=terms, link=link, level=level)
    show(result, output_format=output_format, plot=plot)
