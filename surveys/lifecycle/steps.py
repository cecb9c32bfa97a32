"""The allowed changes of status, and what blocks recruiting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from accounts.models import User
from surveys.access import Seat
from surveys.errors import TransitionError
from surveys.languages.labels import within_sentence
from surveys.lifecycle.selectors import approval_of
from surveys.models import RUNNING, Study, StudyStatus
from surveys.privacy.limits import refusal
from surveys.protocols import frozen_protocol

STEPS: Mapping[StudyStatus, frozenset[StudyStatus]] = {
    StudyStatus.DRAFT: frozenset({StudyStatus.IN_REVIEW}),
    StudyStatus.IN_REVIEW: frozenset({StudyStatus.APPROVED, StudyStatus.DRAFT}),
    StudyStatus.APPROVED: frozenset({StudyStatus.RECRUITING, StudyStatus.DRAFT}),
    StudyStatus.RECRUITING: frozenset({StudyStatus.PAUSED, StudyStatus.CLOSED}),
    StudyStatus.PAUSED: frozenset({StudyStatus.RECRUITING, StudyStatus.CLOSED}),
    StudyStatus.CLOSED: frozenset({StudyStatus.ARCHIVED}),
    StudyStatus.ARCHIVED: frozenset(),
}

DAYS_TO_RENEW = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action that people can take on a study while it has one of these statuses and `when` holds."""

    statuses: tuple[StudyStatus, ...]
    take: Callable[..., Study]
    when: Callable[[Study], bool] = lambda study: True


def open_now(study: Study, actions: Mapping[str, Action]) -> dict[str, Action]:
    """The actions that the study's state allows."""
    return {name: action for name, action in actions.items() if study.status in action.statuses and action.when(study)}


def locked(study: Study, *, by: User | None = None, owning: bool = False, no_key: bool = False) -> Study:
    """The study as stored now, locked until the transaction ends. `no_key`: rows that name it may still be written.

    `by` is for somebody who runs it, or, `owning`, who owns it: they may have lost it since they were let in.
    """
    study = Study.objects.select_for_update(no_key=no_key).get(pk=study.pk)
    seat = Seat(by, study) if by is not None else None
    if seat and owning and not seat.owns:
        raise TransitionError(_("You do not own this study any more."))
    if seat and not seat.may_change:
        raise TransitionError(_("You do not run this study any more."))
    return study


def each_held(
    studies: QuerySet[Study], act: Callable[[Study], object], *, first: Callable[[Study], object] = lambda study: None
) -> list[str]:
    """Act on each of these studies in its own transaction, which locks the study and checks that it is still one of them; return their
    names. `first` holds people in the same transaction, who are held before their study everywhere.
    """
    done = []
    for found in studies.only("pk"):
        with transaction.atomic():
            first(found)
            if (study := studies.select_for_update(of=("self",)).filter(pk=found.pk).first()) is not None:
                act(study)
                done.append(study.slug)
    return done


def take_step(study: Study, status: StudyStatus) -> None:
    """Give the locked study its next status, or a TransitionError."""
    if study.rehearsal_of_id is not None:
        raise TransitionError(_("A rehearsal takes no steps; delete it when it is not needed any more."))
    if status not in STEPS[StudyStatus(study.status)]:
        raise TransitionError(
            _("A study that is %(status)s cannot become %(wanted)s.")
            % {"status": within_sentence(study.get_status_display()), "wanted": within_sentence(status.label)}
        )
    study.status = status


def day_of_lapse(approved_until: date) -> date:
    """The day on which a running study with an ended, unrenewed approval is closed: its participants were told that it ends."""
    return approved_until + timedelta(days=DAYS_TO_RENEW + 1)


def was_submitted(study: Study) -> bool:
    """Whether a version lies before the officers."""
    return study.submitted_id is not None


def amendment_waits(study: Study) -> bool:
    """Whether another version than the one in force lies before the officers; a mere renewal is the same version."""
    return study.submitted_id is not None and study.submitted_id != study.protocol_id


def conditions_wait(study: Study) -> bool:
    """Whether the approval has conditions that nobody has acknowledged yet."""
    approval = approval_of(study)
    return approval is not None and bool(approval.conditions) and approval.acknowledged_on is None


def obstacles_to_recruiting(study: Study) -> list[str]:
    """Why an approved study must not take in participants now, one sentence each."""
    found = []
    if study.suspended:
        found.append(gettext("An IRB officer suspended this study. Only an officer can lift that."))
    if study.protocol_id is not None and (refused := refusal(frozen_protocol(study.protocol_id).definition)):
        found.append(refused)
    if amendment_waits(study):
        found.append(gettext("An amendment waits for the IRB officers."))
    if study.approved_until is None:
        found.append(gettext("No IRB officer has approved this study."))
    elif study.approved_until < timezone.localdate():
        ended = gettext("The approval ended on %(day)s. Ask the IRB officers to renew it.") % {"day": date_format(study.approved_until)}
        over = gettext(
            "If the study is over, close it. Without a renewal it is closed by itself on %(day)s, so that the data of its participants "
            "are deleted in time."
        ) % {"day": date_format(day_of_lapse(study.approved_until))}
        found.append(f"{ended} {over}" if study.status in RUNNING else ended)
    if conditions_wait(study):
        found.append(gettext("The approval has conditions that nobody has acknowledged."))
    return found


def require_no_obstacle(study: Study) -> None:
    if obstacles := obstacles_to_recruiting(study):
        raise TransitionError(" ".join(obstacles))
