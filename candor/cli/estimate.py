"""``candor estimate``: `candor.estimate` for a file of answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from candor.cli.inputs import Input, InputFile
from candor.cli.options import PROPORTION, SEED, Whole, design_of_data_option, format_option, level_option, plot_option, show
from candor.cli.planned_tests import families_by_name, planned_test_options
from candor.terminal import progress_bar

if TYPE_CHECKING:
    from candor.equivalence.margins import Worse


@click.command()
@click.argument("data", type=InputFile())
@design_of_data_option
@click.option("--outcome", "outcomes", multiple=True, help="Column of 0/1 answers; repeat for several. Default: every such column.")
@click.option("--covariate", "covariates", multiple=True, help="Column measured before the assignment; repeat for several.")
@click.option("--subgroup", "subgroups", multiple=True, help="Column by whose values effects are compared, named in the protocol; repeat.")
@click.option("--exploratory-subgroup", "exploratory", multiple=True, help="The same for a column that no protocol named; marked so.")
@click.option("--bootstrap", "replicates", type=Whole(min=0), default=5000, show_default=True, help="Resamples, 2 to 10000000; 0 for none.")
@level_option
@click.option("--seed", type=SEED, help="Seed of the bootstrap; default: follows from the answers, reported with the results.")
@click.option(
    "--kappa",
    type=PROPORTION,
    help="Say what remains of the effects if the yes rates of cheaters differ by up to this between two arms.",
)
@click.option("--cluster", help="Column of the groups that were assigned to arms as a whole, such as sections.")
@click.option("--stratum", "strata", multiple=True, help="Column within which people or clusters were assigned; repeat for several.")
@planned_test_options
@format_option
@plot_option("a forest plot")
def estimate(
    data: Input,
    design_path: Input | None,
    outcomes: tuple[str, ...],
    covariates: tuple[str, ...],
    subgroups: tuple[str, ...],
    exploratory: tuple[str, ...],
    replicates: int,
    level: float,
    seed: int | None,
    kappa: float | None,
    cluster: str | None,
    strata: tuple[str, ...],
    equivalence_margin: float | None,
    non_inferiority: float | None,
    worse: Worse | None,
    families: tuple[str, ...],
    output_format: str,
    plot: Path | None,
) -> None:
    """Estimate the effects on sensitive outcomes.

    DATA is a CSV file with the columns arm and subsample, one column of 0/1 per outcome, covariates and subgroups; empty means missing. A
    design that names categories has a column of their names per outcome instead. The ZIP file of a data package will do, and brings its
    design; candor verify says whether it is as it was signed.
    """
    from candor.cli.reading import AnswerFile, answers_and_design, read_design  # here, since the help needs no statistics
    from candor.designs.sources import designs_beside
    from candor.studies.assignment import AssignedBy, category_estimates
    from candor.studies.estimates import Analysis, with_subgroups
    from candor.studies.planned_tests import PlannedTests, named_margins

    margins = named_margins(equivalence=equivalence_margin, non_inferiority=non_inferiority, worse=worse)
    planned = PlannedTests(margins=margins, families=families_by_name(families))
    assigned = AssignedBy(cluster=cluster, strata=strata)
    analysis = Analysis(replicates=replicates, level=level, seed=seed, kappa=kappa, planned=planned, assigned=assigned)
    columns = assigned.columns_besides(covariates, by := (*subgroups, *exploratory))
    data, design_path = answers_and_design(data, design_path)
    design = read_design(design_path)
    if design.is_survey and covariates:
        raise click.BadParameter("a survey has no effect that covariates could adjust: see candor regress", param_hint="--covariate")
    file = AnswerFile(data, design=design, outcomes=outcomes, covariates=columns, subgroups=by, beside=designs_beside(design_path))
    if not design.is_yes_no:
        others = {"kappa": kappa, "equivalence_margin": equivalence_margin, "non_inferiority": non_inferiority, "worse": worse}
        with progress_bar(data.stat().st_size, label="Reading") as advance, file.named():
            everybody = file.columns(advance) if columns or by else None
            counted = everybody or file.counts(advance)
            found = category_estimates(
                counted, design=design, level=level, families=families_by_name(families), assigned=assigned, seed=seed, **others
            )
            if everybody is not None:
                found = with_subgroups(found, everybody, planned=subgroups, exploratory=exploratory)
        show(found, output_format=output_format, plot=plot)
        return
    with progress_bar(data.stat().st_size, label="Reading") as advance:
        by_person = file.columns(advance) if columns or by else None
        answers = file.counts(advance) if by_person is None else by_person
    runs = len(answers.missing) + bool(covariates) if design.identification.effect and not assigned else 0
    with file.named(), progress_bar(runs * replicates, label="Resampling") as advance:
        told = 0

        def progress(done: int, _: int) -> None:
            nonlocal told
            advance(done - told if done >= told else done)
            told = done

        result = analysis.run(answers, design=design, progress=progress)
        if by_person is not None:
            result = with_subgroups(result, by_person, planned=subgroups, exploratory=exploratory)
    show(result, output_format=output_format, plot=plot)
