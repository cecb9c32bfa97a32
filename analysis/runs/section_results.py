"""The results of a study whose sections were assigned as a whole: one analysis, when the study has ended.

People of one section are alike, so sequences, which rest on independent people, say nothing here; neither do working models and bootstrap.
"""

from collections.abc import Sequence

import numpy as np

from analysis.answers.datasets import People
from analysis.runs.sequence_plans import SequencePlan
from analysis.seeds import SEED_KEY
from analysis.stored_results import AT_THE_END, NotYet, QuestionEstimate
from candor.clusters.clustered_effects import estimate_assigned_together
from candor.clusters.people import AssignedTogether, assigned_together
from candor.designs.design import Design
from candor.errors import MethodError
from candor.resampling.seeds import seed_of
from candor.results import SequentialEstimate
from candor.sequences.boundary import tuned_rho
from surveys.definition import StudyDefinition
from surveys.questions.sections import SECTION

FORGOTTEN = "the sections of people were deleted with their background answers, so nothing can be computed again"
LEVEL = 0.95


def section_outcomes(
    people: People, definition: StudyDefinition, *, plan: SequencePlan, has_ended: bool
) -> dict[str, QuestionEstimate | NotYet]:
    """The results of every question; before the end, why there are none."""
    questions = [question.name for question in definition.yes_no_questions]
    design = definition.design()
    arms, subsamples = design.shape
    counts = {name: people.counts(name, arms=arms, subsamples=subsamples) for name in questions}
    seed = seed_of(counts.values(), key=SEED_KEY)
    found: dict[str, QuestionEstimate | NotYet] = {}
    for name in questions:
        n = int(counts[name].sum())
        try:
            found[name] = _outcome(people, definition, name, plan=plan, seed=seed) if has_ended else NotYet(n=n, not_yet=AT_THE_END)
        except MethodError as error:
            found[name] = NotYet(n=n, not_yet=str(error))
    return found


def _outcome(people: People, definition: StudyDefinition, question: str, *, plan: SequencePlan, seed: int) -> QuestionEstimate:
    design = definition.design()
    together = people_in_sections(people, question, design=design)
    outcome, inference = estimate_assigned_together(together, rng=np.random.default_rng(seed), level=LEVEL)
    look = SequentialEstimate(
        n=outcome.n,
        planned_n=plan.planned_n,
        rho=tuned_rho(plan.planned_n),
        level=LEVEL,
        family=plan.sharing(question) * len(design.treatments),
        assumption=outcome.assumption,
        waits_for=AT_THE_END,
    )
    return QuestionEstimate.of(outcome, sequence=look, assignment=inference)


def people_in_sections(people: People, question: str, *, design: Design) -> AssignedTogether:
    """Everybody who answered a question, with the section.

    Raises
    ------
    MethodError
        When sections were deleted, or an arm has fewer than two.
    """
    there = people.who_answered(question)
    sections: Sequence[str] = people.groups[SECTION][there].tolist()
    if len(sections) and not all(sections):
        raise MethodError(FORGOTTEN)
    return assigned_together(
        people.reported[question][there].astype(np.intp), people.arm[there], people.subsample[there], design=design, cluster=sections
    )
