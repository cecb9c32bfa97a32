"""The actions a person can take on a study now, by its status and by whether they run or review it. The page and the API share them."""

from collections.abc import Mapping

from django.utils.translation import gettext

from surveys.access import Seat
from surveys.allocation.selectors import is_being_launched
from surveys.errors import TransitionError
from surveys.languages.labels import within_sentence
from surveys.lifecycle.steps import Action, conditions_wait, open_now, was_submitted
from surveys.models import RUNNING, StudyStatus
from surveys.review import services as reviews
from surveys.review.decisions import decisions_of
from surveys.studies import services as studies

S = StudyStatus
OWNER_ACTIONS: Mapping[str, Action] = {
    "submit": Action(statuses=(S.DRAFT,), take=studies.submit_for_review),
    "amend": Action(
        statuses=RUNNING, take=studies.submit_for_review, when=lambda study: not was_submitted(study) and studies.is_amended(study)
    ),
    "renew": Action(
        statuses=RUNNING, take=studies.submit_for_review, when=lambda study: not was_submitted(study) and not studies.is_amended(study)
    ),
    "take-back": Action(statuses=(S.IN_REVIEW, *RUNNING), take=studies.take_back, when=was_submitted),
    "acknowledge": Action(statuses=(S.APPROVED, *RUNNING), take=reviews.acknowledge_conditions, when=conditions_wait),
    "launch": Action(statuses=(S.APPROVED,), take=studies.launch, when=lambda study: not is_being_launched(study)),
    "stop-launch": Action(statuses=(S.APPROVED,), take=studies.stop_launch, when=is_being_launched),
    "pause": Action(statuses=(S.RECRUITING,), take=studies.pause),
    "resume": Action(statuses=(S.PAUSED,), take=studies.resume, when=lambda study: not study.suspended),
    "close": Action(statuses=RUNNING, take=studies.close),
    "archive": Action(statuses=(S.CLOSED,), take=studies.archive),
}


def actions_of(seat: Seat) -> dict[str, Action]:
    """The actions this person can take on the study now, by name."""
    return open_now(seat.study, OWNER_ACTIONS) if seat.may_change else decisions_of(seat)


def open_action(seat: Seat, name: str) -> Action:
    """The action, if it is open to this person; a TransitionError says which are."""
    open_to_them = actions_of(seat)
    if name not in open_to_them:
        status = within_sentence(seat.study.get_status_display())
        raise TransitionError(
            gettext("This cannot be done now. The study may have changed in the meantime.")
            + f" “{name}”: expected {' or '.join(open_to_them) or 'nothing'}; the study is {status}."
        )
    return open_to_them[name]
