"""The results of questions with categories: one analysis, of the planned number of people or of the end.

No interval that holds at every look is known for them, so nothing is computed before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.answers.datasets import People, assigned_counts, category_counts
from analysis.runs.section_results import LEVEL, people_in_sections
from analysis.seeds import SEED_KEY
from analysis.stored_results import AT_THE_END, ONCE, NotYet
from candor.adjustment.adjusted_categories import adjusted_categories
from candor.categories.distribution import estimate_distribution
from candor.categories.estimates import estimate_categories
from candor.categories.results import AdjustedCategories, CategoryOutcome
from candor.clusters.clustered_categories import estimate_categories_assigned_together
from candor.designs.design import Design
from candor.errors import MethodError
from candor.resampling.seeds import seed_of
from surveys.definition import StudyDefinition
from surveys.models import Study


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoryAnswers:
    """The answers to all questions with categories, by arm, subsample and answer, and how many people were asked in each cell.

    Full results also have the people, with their background answers. So have those of sections, which are assigned as a whole.
    """

    counts: Mapping[str, NDArray[np.int64]]
    assigned: NDArray[np.int64]
    people: People | None = None

    @classmethod
    def counted(cls, study: Study, definition: StudyDefinition) -> "CategoryAnswers":
        return cls(counts=category_counts(study, definition), assigned=assigned_counts(study, definition))

    @classmethod
    def of(cls, people: People, definition: StudyDefinition) -> "CategoryAnswers":
        arms, subsamples = len(definition.arms), len(definition.die.subsamples)
        shape = {"arms": arms, "subsamples": subsamples}
        counts = {one.name: people.counts(one.name, answers=len(one.categories), **shape) for one in definition.category_questions}
        return cls(counts=counts, assigned=people.assigned(**shape), people=people)

    def adjusted(self, question: str, *, design: Design) -> AdjustedCategories | None:
        """With background answers, where there are any and an effect to adjust."""
        if self.people is None or not self.people.backgrounds.covariates or design.is_survey:
            return None
        there = self.people.who_answered(question)
        answers = self.people.reported[question][there].astype(np.intp), self.people.arm[there], self.people.subsample[there]
        return adjusted_categories(*answers, {name: values[there] for name, values in self.people.covariates.items()}, design=design)


def category_outcomes(
    answers: CategoryAnswers, definition: StudyDefinition, *, answered: int, planned: int, has_ended: bool
) -> dict[str, CategoryOutcome | NotYet]:
    """The results of every question with categories; before their moment, why there are none.

    `answered` is the number of people behind the yes/no results, which reaches the plan in the same batch.
    """
    n = max([answered, *(int(one.sum()) for one in answers.counts.values())])
    found: dict[str, CategoryOutcome | NotYet] = {}
    for question in definition.category_questions:
        table, design = answers.counts[question.name], definition.category_design(question)
        try:
            if definition.in_sections:
                found[question.name] = _in_sections(answers, question.name, design=design, has_ended=has_ended)
                continue
            if not (has_ended or n >= planned):
                raise MethodError(ONCE)
            if question.is_background:
                found[question.name] = estimate_distribution(table, design=design)
                continue
            outcome = estimate_categories(table, design=design, missing=answers.assigned - table.sum(axis=-1))
            found[question.name] = replace(outcome, with_covariates=answers.adjusted(question.name, design=design))
        except MethodError as error:
            found[question.name] = NotYet(n=int(table.sum()), not_yet=str(error))
    return found


def _in_sections(answers: CategoryAnswers, question: str, *, design: Design, has_ended: bool) -> CategoryOutcome:
    """The one analysis of sections that were assigned as a whole, after the end."""
    if not has_ended or answers.people is None:
        raise MethodError(AT_THE_END)
    together = people_in_sections(answers.people, question, design=design)
    seed = seed_of(answers.counts.values(), key=SEED_KEY)
    return estimate_categories_assigned_together(together, rng=np.random.default_rng(seed), level=LEVEL)
