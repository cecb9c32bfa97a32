"""All results from a study's answers: every method, and what its bootstrap resamples. Pure computation over `People`.

Results from background answers are not protected by the die; they carry `for_publication: False`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.answers.balance import answered_by_arm, in_steps
from analysis.answers.datasets import Alike, People
from analysis.models import ChunkFamily
from analysis.runs.sequence_plans import SequencePlan
from analysis.stored_results import Balance, NotYet, QuestionEstimate
from candor.adjustment.adjusted_study import AdjustedStudy, adjusted_study
from candor.adjustment.balance import standardised_differences
from candor.adjustment.doubly_robust import DOUBLY_ROBUST, adjusted_cells
from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.missing_answers import MissingAnswers, missing_answers
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople, ResampledQuestion
from candor.results import EFFICIENT_WITH_COVARIATES
from candor.sequences.looks import sequential_estimate
from candor.studies.answers import Answers
from surveys.definition import StudyDefinition

REPLICATES = 5000
Outcomes = dict[str, QuestionEstimate | NotYet]
Resampled = dict[tuple[str, str], ResampledCounts | ResampledPeople]
"""By family and question: the counts of each question, and, with background answers, the people of all of them, under an empty name."""
USES_COVARIATES = frozenset({DOUBLY_ROBUST, EFFICIENT_WITH_COVARIATES})


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionAnalysis:
    """One sensitive question of one set of people, and its estimates; raises MethodError where there are too few answers."""

    people: People
    design: Design
    plan: SequencePlan
    question: str

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        arms, subsamples = self.design.shape
        return self.people.counts(self.question, arms=arms, subsamples=subsamples)

    @cached_property
    def alike(self) -> Alike:
        arms, subsamples = self.design.shape
        return self.people.alike(self.question, arms=arms, subsamples=subsamples)

    @cached_property
    def adjusted(self) -> AdjustedStudy | None:
        """With background answers, which make estimates sharper; None without any, and in a survey, which has no effect to adjust."""
        if not self.people.backgrounds.covariates or self.design.is_survey:
            return None
        rows = self.alike
        return adjusted_study(rows.reported, rows.arm, rows.subsample, rows.covariates, design=self.design, frequencies=rows.frequencies)

    @property
    def missing(self) -> MissingAnswers | None:
        """The test and the bounds of answers that people did not give."""
        arms, subsamples = self.design.shape
        absent = self.people.assigned(arms=arms, subsamples=subsamples) - self.counts.sum(axis=-1)
        return missing_answers(self.counts, absent, design=self.design)

    def results(self) -> QuestionEstimate:
        """The estimates, without a bootstrap."""
        adjusted = {} if self.adjusted is None else {EFFICIENT_WITH_COVARIATES: adjusted_cells(self.adjusted).fit}
        return QuestionEstimate.of(
            Answers(design=self.design, counts=self.counts, adjusted=self.adjusted).estimate(),
            private_methods=USES_COVARIATES,
            sequence=sequential_estimate(
                self.counts,
                design=self.design,
                planned_n=self.plan.planned_n,
                questions=self.plan.sharing(self.question),
                adjusted=adjusted,
            ),
            missing=self.missing,
            test_with_covariates=adjusted[EFFICIENT_WITH_COVARIATES].specification_test() if adjusted else None,
        )

    def patterns(self) -> tuple[ResampledQuestion, NDArray[np.int32]] | None:
        """The patterns that the bootstrap with background answers resamples; None without any."""
        return None if self.adjusted is None else ResampledQuestion.of(self.adjusted, self.alike.row)


def study_analysis(people: People, definition: StudyDefinition, *, plan: SequencePlan) -> tuple[Outcomes, Resampled]:
    """The results of all sensitive questions of one set of people, without a bootstrap, and what the bootstrap resamples.

    Each question takes the place of the one before, so that working models of one alone are held.
    """
    outcomes: Outcomes = {}
    resampled: Resampled = {}
    patterns = {}
    design = definition.design()
    for asked in definition.yes_no_questions:
        question = QuestionAnalysis(people=people, design=design, plan=plan, question=asked.name)
        try:
            outcomes[asked.name] = question.results()
        except MethodError as error:
            outcomes[asked.name] = NotYet(n=int(question.counts.sum()), not_yet=str(error))
            continue
        if not design.identification.effect or design.is_survey:
            continue
        resampled[ChunkFamily.COUNTS, asked.name] = ResampledCounts(question.counts, design=design)
        if (found := question.patterns()) is not None:
            patterns[asked.name] = found
    if patterns:
        resampled[ChunkFamily.PATTERNS, ""] = ResampledPeople.with_patterns(patterns)
    return outcomes, resampled


def balance_of(people: People, definition: StudyDefinition, *, shown: Balance | None = None) -> Balance:
    """Standardised differences of all assigned people: the background answers came before the assignment. `shown`: the last ones."""
    arms = [arm.name for arm in definition.arms]
    fresh = Balance(
        differences=standardised_differences(people.covariates, people.arm, arms=arms, control=definition.control),
        answered=answered_by_arm(people.covariates, people.arm, arms=arms),
    )
    return in_steps(fresh, shown)
