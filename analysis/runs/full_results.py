"""All results from a study's answers: every method, with its bootstrap. Pure computation over `People`.

Results from background answers are not protected by the die; they carry `for_publication: False`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from analysis.answers.balance import answered_by_arm, in_steps, standardised_differences
from analysis.answers.datasets import People
from candor.adjustment.adjusted_study import AdjustedStudy, adjusted_study
from candor.adjustment.doubly_robust import DOUBLY_ROBUST, EFFICIENT_WITH_COVARIATES, adjusted_cells
from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.sequential import anytime_effects
from candor.resampling.bootstrap import BootstrapChunk, ResampledStudy, bootstrap_chunk, chunk_count, merge, with_bootstrap
from candor.studies.answers import Answers
from surveys.definition import StudyDefinition

REPLICATES = 5000
USES_COVARIATES = frozenset({DOUBLY_ROBUST, EFFICIENT_WITH_COVARIATES})


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionAnalysis:
    """One sensitive question of one set of people: its estimates, and its two families of resamples."""

    people: People
    definition: StudyDefinition
    question: str

    @cached_property
    def design(self) -> Design:
        return self.definition.design()

    @cached_property
    def counts(self) -> Any:
        arms, subsamples = self.design.shape
        return self.people.counts(self.question, arms=arms, subsamples=subsamples)

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
        return Answers(design=self.design, counts=self.counts, adjusted=self.adjusted if self.people.covariates else None)

    @property
    def by_family(self) -> Mapping[str, ResampledStudy]:
        """The studies to resample, by the family of their chunks."""
        return self.answers.resampled

    def chunks(self) -> list[tuple[str, int]]:
        """Family and index of every chunk of the bootstrap."""
        return [(family, index) for family, study in self.by_family.items() for index in range(chunk_count(study, replicates=REPLICATES))]

    def chunk(self, family: str, index: int, *, seed: int) -> BootstrapChunk:
        return bootstrap_chunk(self.by_family[family], replicates=REPLICATES, seed=seed, chunk_index=index)

    def results(self, chunks: Mapping[str, Iterable[BootstrapChunk]] | None = None) -> dict[str, Any]:
        """The estimates as JSON values, with the bootstrap of all its chunks by family, where these are given."""
        outcome = self.answers.estimate()
        effects = outcome.effects
        adjusted_test = adjusted_cells(self.adjusted).fit.specification_test() if self.people.covariates else None
        for family, parts in (chunks or {}).items():
            effects = with_bootstrap(effects, merge(parts), study=self.by_family[family])
        anytime = anytime_effects(self.counts, design=self.design, planned_n=self.definition.planned_with_die)
        return asdict(outcome) | {
            "effects": [asdict(effect) | {"for_publication": effect.method not in USES_COVARIATES} for effect in effects],
            "anytime": [asdict(one) for one in anytime],
            "specification_test_with_covariates": adjusted_test and asdict(adjusted_test),
        }


def question_analyses(people: People, definition: StudyDefinition) -> dict[str, QuestionAnalysis]:
    return {one.name: QuestionAnalysis(people=people, definition=definition, question=one.name) for one in definition.questions}


def outcome_results(analysis: QuestionAnalysis, chunks: Mapping[str, Iterable[BootstrapChunk]] | None = None) -> dict[str, Any]:
    """The question's results; an expected error becomes part of them."""
    try:
        return analysis.results(chunks)
    except MethodError as error:
        return {"n": int(analysis.counts.sum()), "not_yet": str(error)}


def balance_of(people: People, definition: StudyDefinition, *, shown: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Standardised differences of all assigned people: the background answers came before the assignment. `shown`: the last ones."""
    arms = [arm.name for arm in definition.arms]
    fresh = {
        "differences": standardised_differences(people.covariates, people.arm, arms=arms, control=definition.control),
        "answered": answered_by_arm(people.covariates, people.arm, arms=arms),
        "for_publication": False,
    }
    return in_steps(fresh, shown)
