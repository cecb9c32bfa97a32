"""All results from a study's answers: every method, and what its bootstrap resamples. Pure computation over `People`.

Results from background answers are not protected by the die; they carry `for_publication: False`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.answers.balance import answered_by_arm, in_steps
from analysis.answers.datasets import People
from analysis.models import ChunkFamily
from analysis.runs.sequence_plans import SequencePlan
from analysis.seeds import SEED_KEY
from analysis.stored_results import Balance, NotYet, QuestionEstimate
from candor.adjustment.adjusted_study import AdjustedStudy, adjusted_study
from candor.adjustment.balance import standardised_differences
from candor.adjustment.doubly_robust import DOUBLY_ROBUST, adjusted_cells
from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.missing_answers import MissingAnswers, missing_answers
from candor.resampling.bootstrap import chunk_count
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople
from candor.resampling.seeds import seed_of
from candor.results import EFFICIENT_WITH_COVARIATES, OutcomeEstimate
from candor.sequences.looks import NO_FITS, sequential_estimate
from candor.studies.answers import Answers, resampled_people
from surveys.definition import StudyDefinition

REPLICATES = 5000
Resampled = ResampledCounts | ResampledPeople
USES_COVARIATES = frozenset({DOUBLY_ROBUST, EFFICIENT_WITH_COVARIATES})


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionAnalysis:
    """One sensitive question of one set of people, and its estimates."""

    people: People
    definition: StudyDefinition
    plan: SequencePlan
    question: str

    @cached_property
    def design(self) -> Design:
        return self.definition.design()

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        arms, subsamples = self.design.shape
        return self.people.counts(self.question, arms=arms, subsamples=subsamples)

    @property
    def has_covariates(self) -> bool:
        """Whether background answers make the estimates sharper; in a survey there is no effect to adjust."""
        return bool(self.people.covariates) and not self.design.is_survey

    @cached_property
    def adjusted(self) -> AdjustedStudy:
        """Fits the working models too; raises MethodError where there are too few answers."""
        there = self.people.who_answered(self.question)
        return adjusted_study(
            self.people.reported[self.question][there],
            self.people.arm[there],
            self.people.subsample[there],
            {name: values[there] for name, values in self.people.covariates.items()},
            design=self.design,
        )

    @cached_property
    def answers(self) -> Answers:
        """The answers as the library takes them: with covariates where there are background questions."""
        if not self.has_covariates:
            return Answers(design=self.design, counts=self.counts)
        there = np.flatnonzero(self.people.who_answered(self.question))
        return Answers(design=self.design, counts=self.counts, adjusted=self.adjusted, people=there)

    @cached_property
    def outcome(self) -> OutcomeEstimate:
        """The estimates without a bootstrap; raises MethodError where there are too few answers."""
        return self.answers.estimate()

    @cached_property
    def can_be_estimated(self) -> bool:
        """Whether there are enough answers."""
        try:
            self.outcome  # noqa: B018  # kept for `results`
        except MethodError:
            return False
        return True

    @property
    def can_be_resampled(self) -> bool:
        """Whether there are effects whose bootstrap can be computed."""
        return self.design.identification.effect and not self.design.is_survey

    @property
    def missing(self) -> MissingAnswers | None:
        """The test and the bounds of answers that people did not give."""
        arms, subsamples = self.design.shape
        absent = self.people.assigned(arms=arms, subsamples=subsamples) - self.counts.sum(axis=-1)
        return missing_answers(self.counts, absent, design=self.design)

    def results(self) -> QuestionEstimate:
        """The estimates, without a bootstrap."""
        adjusted = {EFFICIENT_WITH_COVARIATES: adjusted_cells(self.adjusted).fit} if self.has_covariates else NO_FITS
        return QuestionEstimate.of(
            self.outcome,
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


class StudyAnalysis(dict[str, QuestionAnalysis]):
    """All sensitive questions of one set of people."""

    @cached_property
    def resampled(self) -> dict[tuple[str, str], Resampled]:
        """The studies that the bootstrap resamples, by family and question: the counts of each question, and, with background answers, the
        people of all of them, under an empty name.
        """
        able = {name: one for name, one in self.items() if one.can_be_estimated and one.can_be_resampled}
        found: dict[tuple[str, str], Resampled] = {
            (ChunkFamily.COUNTS, name): ResampledCounts(one.counts, design=one.design) for name, one in able.items()
        }
        if (people := resampled_people({name: one.answers for name, one in able.items()})) is not None:
            found[ChunkFamily.PATTERNS, ""] = people
        return found

    def chunks(self) -> list[tuple[str, str, int]]:
        """Family, question and index of every chunk of the bootstrap."""
        return [
            (family, question, index)
            for (family, question), study in self.resampled.items()
            for index in range(chunk_count(study, replicates=REPLICATES))
        ]

    @property
    def seed(self) -> int:
        """The bootstrap's seed: that of these answers."""
        return seed_of((one.counts for one in self.values()), key=SEED_KEY)


def study_analysis(people: People, definition: StudyDefinition, *, plan: SequencePlan) -> StudyAnalysis:
    names = [question.name for question in definition.yes_no_questions]
    return StudyAnalysis({name: QuestionAnalysis(people=people, definition=definition, plan=plan, question=name) for name in names})


def outcome_results(analysis: QuestionAnalysis) -> QuestionEstimate | NotYet:
    """The question's results; an expected error becomes part of them."""
    try:
        return analysis.results()
    except MethodError as error:
        return NotYet(n=int(analysis.counts.sum()), not_yet=str(error))


def balance_of(people: People, definition: StudyDefinition, *, shown: Balance | None = None) -> Balance:
    """Standardised differences of all assigned people: the background answers came before the assignment. `shown`: the last ones."""
    arms = [arm.name for arm in definition.arms]
    fresh = Balance(
        differences=standardised_differences(people.covariates, people.arm, arms=arms, control=definition.control),
        answered=answered_by_arm(people.covariates, people.arm, arms=arms),
    )
    return in_steps(fresh, shown)
