"""The simulations of a diagnosis, a few parts at a time by whichever worker is free. Done twice, a part gives the same numbers."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from analysis.models import Diagnosis
from candor.errors import MethodError
from jobs.queues import Queue
from jobs.registry import HEAVY, job

if TYPE_CHECKING:
    from candor.diagnosis.diagnose import Plan
    from candor.diagnosis.tallies import Tally

FEW = 4
"""Parts between two looks at the row: about a quarter of a second."""


@job(kind="diagnosis", model=Diagnosis, expects=(MethodError,), queue=Queue.BOOTSTRAP, priority=HEAVY)
def simulate_few(diagnosis: Diagnosis) -> None:
    """Simulate the next few parts. The diagnosis then waits for its next few, so that other work comes in between."""
    plan = plan_of(diagnosis)
    done, tallies = diagnosis.parts_done, tallies_of(diagnosis)
    for number, sums in islice(plan.carry_on(tallies, done=done), FEW):
        done, tallies = number, sums
    documents = {str(setting): asdict(tally) for setting, tally in tallies.items()}
    if done < len(plan.parts):
        diagnosis.wait(attempts=0, parts_done=done, tallies=documents)
    else:
        diagnosis.finish(parts_done=done, tallies=documents)


def plan_of(diagnosis: Diagnosis) -> Plan:
    """All settings of a diagnosis, from its row."""
    from candor.designs.design import Design
    from candor.diagnosis.diagnose import Plan, settings_for  # SciPy, which web processes can do without
    from candor.diagnosis.people import Expected

    design = Design.from_document(diagnosis.design)
    return Plan(
        design=design,
        expected=Expected(
            n=diagnosis.people,
            prevalence=diagnosis.prevalence,
            effects=(diagnosis.effect,) * len(design.treatments),
            cheater_proportion=diagnosis.cheater_proportion,
            drop_out=diagnosis.drop_out,
            cluster_size=diagnosis.cluster_size,
            intraclass_correlation=diagnosis.intraclass_correlation,
        ),
        settings=settings_for(design),
        studies=diagnosis.studies,
        seed=diagnosis.seed,
    )


def tallies_of(diagnosis: Diagnosis) -> dict[int, Tally]:
    """The sums so far, by the number of the setting."""
    from candor.diagnosis.tallies import Tally  # SciPy, which web processes can do without

    return {int(setting): Tally.from_document(document) for setting, document in diagnosis.tallies.items()}
