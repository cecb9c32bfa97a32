"""What a person can do with a study now: by its status, and by whether they own it or review it. The same for the page and the API."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Role, User
from surveys.errors import TransitionError
from surveys.models import Study, StudyStatus
from surveys.selectors import may_change
from surveys.services import studies


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A step that is open while the study has this status."""

    status: StudyStatus
    label: Promise
    take: Callable[[Study, User], Study]


def _return(study: Study, user: User) -> Study:
    return studies.return_to_draft(study, actor=user, reason="returned without a written reason")


def _action(status: StudyStatus, label: Promise, take: Callable[[Study, User], Study]) -> Action:
    return Action(status=status, label=label, take=take)


OWNER_ACTIONS = {
    "submit": _action(StudyStatus.DRAFT, gettext_lazy("Submit for review"), lambda s, u: studies.submit_for_review(s, actor=u)),
    "launch": _action(StudyStatus.APPROVED, gettext_lazy("Launch"), lambda s, u: studies.launch(s, actor=u)),
    "pause": _action(StudyStatus.RECRUITING, gettext_lazy("Pause recruiting"), lambda s, u: studies.pause(s, actor=u)),
    "resume": _action(StudyStatus.PAUSED, gettext_lazy("Resume recruiting"), lambda s, u: studies.resume(s, actor=u)),
    "close": _action(StudyStatus.RECRUITING, gettext_lazy("Close the study for good"), lambda s, u: studies.close(s, actor=u)),
    "close-paused": _action(StudyStatus.PAUSED, gettext_lazy("Close the study for good"), lambda s, u: studies.close(s, actor=u)),
    "archive": _action(StudyStatus.CLOSED, gettext_lazy("Archive"), lambda s, u: studies.archive(s, actor=u)),
}
OFFICER_ACTIONS = {
    "approve": _action(StudyStatus.IN_REVIEW, gettext_lazy("Approve"), lambda s, u: studies.approve(s, actor=u)),
    "return": _action(StudyStatus.IN_REVIEW, gettext_lazy("Return to the investigator"), _return),
}


def actions_of(study: Study, user: User) -> dict[str, Action]:
    """What this person can do with the study now, by name."""
    others = OFFICER_ACTIONS if user.role == Role.IRB_OFFICER else {}
    allowed = OWNER_ACTIONS if may_change(user, study) else others
    return {name: action for name, action in allowed.items() if action.status == study.status}


def take_action(study: Study, name: str, *, actor: User) -> Study:
    """Take a step that is open to this person; a TransitionError says which are."""
    open_now = actions_of(study, actor)
    if name not in open_now:
        raise TransitionError(
            gettext("This cannot be done now. The study may have changed in the meantime.")
            + f" “{name}”: expected {' or '.join(open_now) or 'nothing'}; the study is {study.get_status_display().lower()}."
        )
    return open_now[name].take(study, actor)
