"""The results of questions with categories: one analysis, of the planned number of people or of the end.

No interval that holds at every look is known for them, so nothing is computed before.
"""

from analysis.answers.datasets import category_counts
from analysis.stored_results import ONCE, NotYet
from candor.categories.distribution import estimate_distribution
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
    found: dict[str, CategoryOutcome | NotYet] = {}
    for question in definition.category_questions:
        table = counts[question.name]
        try:
            if not (has_ended or n >= planned):
                raise MethodError(ONCE)
            estimate = estimate_distribution if question.is_background else estimate_categories
            found[question.name] = estimate(table, design=definition.category_design(question))
        except MethodError as error:
            found[question.name] = NotYet(n=int(table.sum()), not_yet=str(error))
    return found
