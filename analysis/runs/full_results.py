"""All results from a study's answers: every method, with its bootstrap. Pure computation over `People`.

Results from background answers are not protected by the die; they carry `for_publication: False`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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
from candor.resampling.bootstrap import (
    BootstrapChunk,
    BootstrapReplicates,
    ResampledStudy,
    bootstrap_chunk,
    chunk_count,
    merge,
    with_bootstrap,
)
from candor.resampling.resampled_counts import ResampledCounts
from candor.resampling.resampled_people import ResampledPeople
from candor.resampling.seeds import seed_of
from candor.results import EFFICIENT_WITH_COVARIATES, OutcomeEstimate
from candor.sequences.looks import NO_FITS, sequential_estimate
from candor.studies.answers import Answers, resampled_people
from surveys.definition import StudyDefinition

REPLICATES = 5000
USES_COVARIATES = frozenset({DOUBLY_ROBUST, EFFICIENT_WITH_COVARIATES})


class Resampled(NamedTuple):
    """The replicates of a study to resample, and the question, where it is one of several of this study."""

    study: ResampledStudy
    replicates: BootstrapReplicates
    question: str = ""


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

    def results(self, resampled: Iterable[Resampled] = ()) -> QuestionEstimate:
        """The estimates as JSON values, with the bootstraps that are given."""
        effects = self.outcome.effects
        adjusted = {EFFICIENT_WITH_COVARIATES: adjusted_cells(self.adjusted).fit} if self.has_covariates else NO_FITS
        for study, replicates, question in resampled:
            effects = with_bootstrap(effects, replicates, study=study, question=question)
        return QuestionEstimate.of(
            self.outcome,
            effects=effects,
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
    """All sensitive questions of one set of people: each is resampled by its counts, and all together by people with their background."""

    def study(self, family: str, question: str) -> ResampledStudy:
        """Give what a chunk resamples; `question` is empty where it is all of them."""
        if family == ChunkFamily.PATTERNS:
            return self.people
        return ResampledCounts(self[question].counts, design=self[question].design)

    @cached_property
    def people(self) -> ResampledPeople:
        """One draw of people for every question that can be estimated with covariates."""
        found = resampled_people({name: one.answers for name, one in self.items() if one.can_be_estimated})
        if found is None:
            raise ValueError("Expected a question with covariates.")
        return found

    def chunks(self) -> list[tuple[str, str, int]]:
        """Family, question and index of every chunk of the bootstrap."""
        able = [name for name, one in self.items() if one.can_be_estimated and one.can_be_resampled]
        families = [(str(ChunkFamily.COUNTS), name) for name in able]
        if any(self[name].has_covariates for name in able):
            families.append((str(ChunkFamily.PATTERNS), ""))
        return [(*one, index) for one in families for index in range(chunk_count(self.study(*one), replicates=REPLICATES))]

    def chunk(self, family: str, question: str, index: int, *, seed: int) -> BootstrapChunk:
        return bootstrap_chunk(self.study(family, question), replicates=REPLICATES, seed=seed, chunk_index=index)

    def results(self, chunks: Mapping[tuple[str, str], Iterable[BootstrapChunk]]) -> dict[str, QuestionEstimate | NotYet]:
        """The results of all questions, with the bootstrap of these chunks by family and question."""
        replicates = {one: merge(parts) for one, parts in chunks.items()}
        found = {}
        for name, analysis in self.items():
            own = [
                Resampled(self.study(family, question), of, name if family == ChunkFamily.PATTERNS else "")
                for (family, question), of in replicates.items()
                if question in (name, "")
            ]
            found[name] = outcome_results(analysis, own)
        return found

    @property
    def seed(self) -> int:
        """The bootstrap's seed: that of these answers."""
        return seed_of((one.counts for one in self.values()), key=SEED_KEY)


def study_analysis(people: People, definition: StudyDefinition, *, plan: SequencePlan) -> StudyAnalysis:
    names = [question.name for question in definition.yes_no_questions]
    return StudyAnalysis({name: QuestionAnalysis(people=people, definition=definition, plan=plan, question=name) for name in names})


def outcome_results(analysis: QuestionAnalysis, resampled: Iterable[Resampled] = ()) -> QuestionEstimate | NotYet:
    """The question's results; an expected error becomes part of them."""
    try:
        return analysis.results(resampled)
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
