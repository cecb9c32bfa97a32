"""The results of questions with categories: one analysis, of the planned number of people or of the end.

No interval that holds at every look is known for them, so nothing is computed before.
"""

import numpy as np

from analysis.answers.datasets import assigned_counts, category_counts
from analysis.stored_results import ONCE, NotYet
from candor.categories.estimates import estimate_categories
from candor.categories.results import CategoryOutcome
from candor.errors import MethodError
from surveys.definition import StudyDefinition
from surveys.models import Study


def category_outcomes(
    study: Study, definition: StudyDefinition, *, answered: int, planned: int, has_ended: bool
) -> dict[str, CategoryOutcome | NotYet]:
    """The results of every question with categories; before their moment, why there are none.

    `answered` is the number of people behind the yes/no results, which reaches the plan in the same batch.
    """
    counts = category_counts(study, definition)
    n = max([answered, *(int(one.sum()) for one in counts.values())])
    assigned = assigned_counts(study, definition) if counts else np.zeros(0)
    found: dict[str, CategoryOutcome | NotYet] = {}
    for question in definition.category_questions:
        table = counts[question.name]
        try:
            if not (has_ended or n >= planned):
                raise MethodError(ONCE)
            absent = assigned - table.sum(axis=-1)
            found[question.name] = estimate_categories(table, design=definition.category_design(question), missing=absent)
        except MethodError as error:
            found[question.name] = NotYet(n=int(table.sum()), not_yet=str(error))
    return found
