"""Counts of direct answers, after the study has ended, and never for groups below the minimum size.

While a study runs its results are computed again after every few people, and the difference between two exact counts would tell what
those few said. With the die that is harmless; without it, only how many people were asked is shown until nobody comes any more, except
in a rehearsal, which only bots answer.
"""

from collections import Counter

import numpy as np
from django.db.models import Count
from numpy.typing import NDArray

from analysis.answers.datasets import category_counts, cell_counts
from analysis.selectors import latest_results
from analysis.stored_results import DirectGroup, DirectOutcome, read_results
from surveys.batches.tally import tally_of
from surveys.definition import DIRECT, StudyDefinition
from surveys.models import ENDED, DirectAnswer, Step, Study

Counts = dict[str, NDArray[np.int64]]


def direct_results(study: Study, definition: StudyDefinition) -> DirectGroup:
    """The comparison of a study that asks some people directly, as JSON values; the previous one once the answers are deleted."""
    before = latest_results(study) if study.forgotten_on else None
    if before and (found := read_results(before.results)) and found.direct_group:
        return found.direct_group
    from candor.categories.direct import direct_comparisons  # SciPy, which web processes can do without
    from candor.estimators.direct_comparison import SMALLEST_CELL, direct_comparison

    agreed = Counter[bool | None]()
    for one, people in tally_of(study.pk).people.items():
        agreed[one.agrees_to_direct] += people if one.subsample == DIRECT and one.step == Step.FINISHED else 0
    outcomes = []
    ended = study.status in ENDED
    if (ended or study.rehearsal_of_id is not None) and study.forgotten_on is None:  # bots have nothing to hide
        with_die = cell_counts(study, definition, only_who_agreed_to_direct=True)
        with_die |= category_counts(study, definition, only_who_agreed_to_direct=True)
        direct = _direct_counts(study, definition)
        for question in definition.questions:
            both, design = (direct[question.name], with_die[question.name]), definition.design_of(question)
            if question.categories:
                by_answer = direct_comparisons(*both, design=design)
                outcomes += [DirectOutcome.of(one, question=question.name, category=name) for name, one in by_answer.items()]
            else:
                outcomes.append(DirectOutcome.of(direct_comparison(*both, design=design), question=question.name))
    return DirectGroup(
        asked=agreed[True],
        drawn_but_refused=agreed[False],
        ended=ended,
        smallest_cell=SMALLEST_CELL,
        outcomes=tuple(outcomes),
    )


def _direct_counts(study: Study, definition: StudyDefinition) -> Counts:
    """Per question the number of people by arm and answer, shape (arms, answers): no and yes, or the categories."""
    arms = {arm.name: index for index, arm in enumerate(definition.arms)}
    counts = {one.name: np.zeros((len(arms), len(one.categories) or 2), dtype=np.int64) for one in definition.questions}
    rows = (
        DirectAnswer.objects.filter(participant__study=study, participant__counted=True)
        .values_list("question", "participant__arm", "yes", "category")
        .annotate(Count("pk"))
    )
    for question, arm, yes, category, count in rows:
        counts[question][arms[arm], int(yes) if category is None else category] = count
    return counts
