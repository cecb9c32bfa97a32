"""When operational data are deleted."""

from calendar import monthrange
from datetime import date, timedelta

from django.db.models import Q
from django.utils import timezone

from surveys.batches.rules import LEAST
from surveys.models import Participant, Step, Study
from surveys.protocols import frozen_protocol, versions_that_recruited

REMINDER_DAYS = timedelta(days=30)


def months_kept(study: Study) -> int:
    """How long after closing: no longer than any version says to which people could agree. Everybody can read this number, so that it must
    not hang on whether somebody did.
    """
    versions = versions_that_recruited(study).values()
    return min(frozen_protocol(version).definition.retention.months_after_closing for version in versions)


def day_of_forgetting(study: Study) -> date | None:
    """The day on which operational data are deleted; None while the study is not closed."""
    return None if study.closed_on is None else day_of_forgetting_if_closed_on(study, study.closed_on)


def day_of_forgetting_if_closed_on(study: Study, closed_on: date) -> date:
    """The day on which operational data would be deleted if the study were closed on this day."""
    months = closed_on.month - 1 + months_kept(study)
    year, month = closed_on.year + months // 12, months % 12 + 1
    return date(year, month, min(closed_on.day, monthrange(year, month)[1]))


def forgets_soon(study: Study) -> bool:
    """Whether operational data are still there and will be deleted within `REMINDER_DAYS`."""
    day = day_of_forgetting(study)
    return study.forgotten_on is None and day is not None and day <= timezone.localdate() + REMINDER_DAYS


def people_left_to_forget(study: Study) -> int:
    """How many people's rows the deletion has still to reach; 0 before it begins and after its end.

    People in the shown numbers are counted: all who are stored would count the withdrawals since the end one by one. If none but others are
    left, it is told as `LEAST`, however many they are.
    """
    if study.forgotten_on is None:
        return 0
    left = Participant.objects.filter(Q(consented_on__isnull=False) | ~Q(step=Step.FINISHED), study=study)
    return left.filter(counted=True).count() or (LEAST if left.exists() else 0)
