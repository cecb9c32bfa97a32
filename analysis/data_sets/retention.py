"""The day on which the rows of a data set are deleted: its owner proposes it, an IRB officer approves it with the budget."""

import logging
from contextlib import suppress
from datetime import date, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from analysis.data_sets.errors import DataSetError
from analysis.data_sets.services import delete, delete_again
from analysis.models import DataSet
from jobs.registry import routine

USUAL, LONGEST = timedelta(days=365), timedelta(days=3652)

logger = logging.getLogger(__name__)


def usual_day() -> date:
    return timezone.localdate() + USUAL


def typed_day(typed: str) -> date:
    """A day in the future, at most ten years away. Raises ValueError with a sentence."""
    today = timezone.localdate()
    try:
        day = date.fromisoformat(typed.strip())
    except ValueError:
        day = today
    if not today < day <= today + LONGEST:
        raise ValueError(
            _("Write a day after today and within ten years, such as %(day)s, not “%(found)s”.")
            % {"day": usual_day().isoformat(), "found": typed.strip()[:20]}
        )
    return day


@routine(kind="data_set_retention", every=timedelta(hours=1))
def delete_due() -> None:
    """Delete the rows whose day has come, and those that a restore brought back. Answers and ledgers stay."""
    delete_again()
    for data_set in DataSet.objects.filter(forgotten_on=None, delete_on__lte=timezone.localdate()):
        with suppress(DataSetError):  # its owner was faster
            delete(data_set, actor=None)
            logger.info("The rows of the data set %s are deleted", data_set.slug)
