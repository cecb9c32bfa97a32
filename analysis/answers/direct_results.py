"""Counts of direct answers, after the study has ended, and never for groups below the minimum size.

While a study runs its results are computed again after every few people, and the difference between two exact counts would tell what
those few said. With the die that is harmless; without it, only how many people were asked is shown until nobody comes any more, except
in a rehearsal, which only bots answer.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
from django.db.models import Count
from numpy.typing import NDArray

from analysis.answers.datasets import category_counts, cell_counts
from analysis.selectors import latest_results
from analysis.stored_results import DirectGroup, DirectOutcome, read_results
from candor.results import UnderReporting
from surveys.batches.rules import LEAST
from surveys.batches.selectors import others_are_shown_than_at_the_end
from surveys.batches.tally import Tally, tally_of
from surveys.definition import DIRECT, StudyDefinition
from surveys.models import ENDED, DirectAnswer, Step, Study

Counts = dict[str, NDArray[np.int64]]
WITHHELD = (
    "The shares with the die are withheld: they are those of people who had agreed, and would tell, beside the results of everybody, "
    "what a few others reported."
)


def direct_results(study: Study, definition: StudyDefinition) -> DirectGroup:
    """The comparison of a study that asks some people directly, as JSON values; the previous one once the answers are deleted."""
    before = latest_results(study) if study.forgotten_on else None
    if before and (found := read_results(before.results)) and found.direct_group:
        return found.direct_group
    from candor.categories.direct import direct_comparisons  # SciPy, which web processes can do without
    from candor.estimators.direct_comparison import SMALLEST_CELL, direct_comparison

    agreed, counted = Counter[bool | None](), tally_of(study.pk)
    for one, people in counted.people.items():
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
        if study.rehearsal_of_id is None and (_tells_few_apart(counted) or others_are_shown_than_at_the_end(study)):
            outcomes = [_without_the_die(one) for one in outcomes]
    return DirectGroup(
        asked=agreed[True],
        drawn_but_refused=agreed[False],
        ended=ended,
        smallest_cell=SMALLEST_CELL,
        outcomes=tuple(outcomes),
    )


def _tells_few_apart(counted: Tally) -> bool:
    """Whether in some group with the die fewer than `LEAST` people had agreed, or had not: everybody less the others are these."""
    found: dict[tuple[str, str], Counter[bool]] = {}
    for one, people in counted.people.items():
        if one.answered and one.subsample != DIRECT and not one.is_bot:
            found.setdefault((one.subsample, one.arm), Counter())[one.agrees_to_direct is True] += people
    return any(people < LEAST for group in found.values() for people in group.values())


def _without_the_die(outcome: DirectOutcome) -> DirectOutcome:
    nothing = dict.fromkeys(("with_die", "with_die_standard_error", "value", "standard_error", "interval", "p_value"))
    under_reporting = tuple(UnderReporting(arm=one.arm, **nothing) for one in outcome.under_reporting)
    return replace(outcome, under_reporting=under_reporting, notes=(*outcome.notes, WITHHELD))


def _direct_counts(study: Study, definition: StudyDefinition) -> Counts:
    """Per question the number of people by arm and answer, shape (arms, answers): no and yes, or the categories.

    Bots do not fill up a cell of few people: where one is too small without them, its arm is counted without bots, and so withheld.
    """
    from candor.estimators.direct_comparison import SMALLEST_CELL

    arms = {arm.name: index for index, arm in enumerate(definition.arms)}
    shapes = {one.name: (len(arms), len(one.categories) or 2) for one in definition.questions}
    counts, people = ({name: np.zeros(shape, dtype=np.int64) for name, shape in shapes.items()} for _whose in range(2))
    rows = (
        DirectAnswer.objects.filter(participant__study=study, participant__counted=True)
        .values_list("question", "participant__arm", "yes", "category", "participant__is_bot")
        .annotate(Count("pk"))
    )
    for question, arm, yes, category, is_bot, count in rows:
        place = arms[arm], int(yes) if category is None else category
        counts[question][place] += count
        people[question][place] += 0 if is_bot else count
    for question, said in people.items():
        few = said.any(axis=1) & (said.min(axis=1) < SMALLEST_CELL)
        counts[question][few] = said[few]
    return counts
