"""The decisions that an IRB officer can take on a study now."""

from collections.abc import Mapping

from surveys.access import Seat
from surveys.lifecycle.steps import Action, open_now, was_submitted
from surveys.models import RUNNING, StudyStatus
from surveys.review import services as reviews

UNDER_REVIEW = (StudyStatus.IN_REVIEW, *RUNNING)
DECISIONS: Mapping[str, Action] = {
    "approve": Action(statuses=UNDER_REVIEW, take=reviews.approve, when=was_submitted),
    "return": Action(statuses=UNDER_REVIEW, take=reviews.ask_for_changes, when=was_submitted),
    "reject": Action(statuses=UNDER_REVIEW, take=reviews.reject, when=was_submitted),
    "suspend": Action(statuses=RUNNING, take=reviews.suspend, when=lambda study: not study.suspended),
    "lift": Action(statuses=(StudyStatus.PAUSED,), take=reviews.lift_suspension, when=lambda study: study.suspended),
}


def decisions_of(seat: Seat) -> dict[str, Action]:
    """The decisions that are open to this person, by name."""
    return open_now(seat.study, DECISIONS) if seat.may_review else {}
