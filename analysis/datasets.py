"""A study's answers as the methods take them: counts from the database, never rows."""

from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Count
from numpy.typing import NDArray

from surveys.models import Response, Step, Study

if TYPE_CHECKING:
    from surveys.definition import StudyDefinition


def cell_counts(study: Study, definition: "StudyDefinition") -> dict[str, NDArray[np.int64]]:
    """Per sensitive question the number of people by arm, subsample and reported answer, shape (arms, subsamples, 2); last axis no, yes."""
    arms = {arm.name: index for index, arm in enumerate(definition.arms)}
    subsamples = {name: index for index, name in enumerate(definition.die.subsamples)}
    counts = {question.name: np.zeros((len(arms), len(subsamples), 2), dtype=np.int64) for question in definition.questions}
    rows = (
        Response.objects.filter(participant__study=study, participant__step=Step.FINISHED)
        .values_list("question", "participant__arm", "participant__subsample", "reported_yes")
        .annotate(Count("pk"))
    )
    for question, arm, subsample, yes, count in rows:
        counts[question][arms[arm], subsamples[subsample], int(yes)] = count
    return counts
