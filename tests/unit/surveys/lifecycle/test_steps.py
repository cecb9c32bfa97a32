"""A study takes the steps of a table alone, and each obstacle keeps it from recruiting."""

from datetime import timedelta
from itertools import product

import pytest
from django.utils import timezone

from surveys.errors import TransitionError
from surveys.lifecycle.steps import obstacles_to_recruiting, take_step
from surveys.models import Study, StudyStatus

FOLLOW = {
    "draft": {"in_review"},
    "in_review": {"approved", "draft"},
    "approved": {"recruiting", "draft"},
    "recruiting": {"paused", "closed"},
    "paused": {"recruiting", "closed"},
    "closed": {"archived"},
    "archived": set(),
}


@pytest.mark.parametrize("is_rehearsal", [False, True])
def test_a_study_takes_the_steps_of_the_table_and_a_rehearsal_takes_none(is_rehearsal: bool) -> None:
    """A study that is closed never recruits again, and none recruits that nobody has approved."""
    for before, after in product(StudyStatus, StudyStatus):
        study = Study(status=before, rehearsal_of_id=1 if is_rehearsal else None)
        if after in FOLLOW[before] and not is_rehearsal:
            take_step(study, after)
            assert study.status == after
        else:
            with pytest.raises(TransitionError):
                take_step(study, after)
            assert study.status == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"approved_until": None}, "No IRB officer has approved this study."),
        ({"approved_until": timezone.localdate() - timedelta(days=1)}, "The approval ended on"),
        ({"suspended": True}, "An IRB officer suspended this study."),
        ({"submitted_id": 2}, "An amendment waits for the IRB officers."),
        ({}, ""),
    ],
)
def test_each_obstacle_is_told(changes: dict[str, object], said: str) -> None:
    found = obstacles_to_recruiting(Study(**{"approved_until": timezone.localdate(), **changes}))
    assert (len(found), " ".join(found)[: len(said)]) == (bool(said), said)
