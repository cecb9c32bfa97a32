"""Background tasks of studies: sending bots on, and due work at intervals. They are harmless when delivered twice."""

import logging
from dataclasses import asdict
from datetime import timedelta

from django.db import DatabaseError

from audit.services import publish_head
from jobs.models import Routine
from jobs.queues import Queue
from jobs.registry import job, routine, routine_in_parts
from surveys.allocation.drawing import draw_lines
from surveys.allocation.services import draw_lists_ahead, studies_short_of_lines
from surveys.batches.order_of_arrival import Place, forget_order_of_days, forget_recent_order, vacuum_after_changes
from surveys.batches.recount import check_counts
from surveys.batches.remembered_withdrawals import renew_withdrawals
from surveys.batches.services import ENDS_KEPT, EVERYONE_COUNTED, ORDER_OF_DAYS, count_people_of_closed_studies, renew_who_is_on_the_way
from surveys.classroom.services import delete_rooms_of_earlier_days
from surveys.errors import SurveyError
from surveys.models import BotRun, ListDrawing
from surveys.recruitment.services import MANY_IN_BOOK, hash_clear_numbers, write_down_entries
from surveys.restores.remembered import keep_ends
from surveys.restores.services import make_up_for_a_restore
from surveys.retention.services import ROUTINE, forget_what_is_due
from surveys.review.services import pause_expired_studies, remind_of_ends
from surveys.studies.services import close_lapsed_studies, open_drawn

HOURLY, DAILY = timedelta(hours=1), timedelta(days=1)

logger = logging.getLogger(__name__)


@job(kind="rehearsal", model=BotRun, queue=Queue.BOOTSTRAP)
def send_bots(bot_run: BotRun) -> None:
    """Send the next few bots of a rehearsal."""
    from surveys.bots import rehearsal  # bots need modules that web processes can do without

    rehearsal.send_few(bot_run)


@job(kind="allocation_lists", model=ListDrawing, expects=(SurveyError,))
def draw_lists(drawing: ListDrawing) -> None:
    """Store the lines of long lists, which people take as they come; then open the study that waits for them."""
    if not draw_lines(drawing):
        return
    if drawing.launched_by is None:
        drawing.finish()
    else:
        open_drawn(drawing)


@routine(kind="order_of_arrival", every=HOURLY, at_start=True)
def forget_order() -> None:
    """Make the order of the rows tell nothing about the order of arrival; a stopping server does it once more."""
    write_down_entries(more_than=MANY_IN_BOOK)
    _say(forget_recent_order())


@routine(kind="those_who_left", every=timedelta(seconds=20))
def overwrite() -> None:
    """Have the database overwrite the rows of people who withdrew, and those that batches laid anew."""
    vacuum_after_changes()


@routine_in_parts(kind=ORDER_OF_DAYS, every=DAILY)
def forget_days(night: Routine) -> None:
    """Write down codes and panel members apart from answers, and make the age of the rows tell nothing about the day."""
    hash_clear_numbers()
    write_down_entries()
    begun = Place(**night.place) if night.place else None
    _say(forget_order_of_days(lambda place: night.write(place=asdict(place), attempts=0), begun=begun))


def leave_no_order() -> None:
    """The same when a server stops, which nothing may keep from stopping."""
    try:
        _say(forget_recent_order())
    except DatabaseError:
        logger.warning("The order of those who came last could not be hidden at the end; the next start does it")


def _say(busy: list[str]) -> None:
    if busy:
        logger.warning("Too busy to be laid anew, will be tried again: %s", ", ".join(busy))


@routine(kind="shown_numbers", every=timedelta(minutes=1), queue=Queue.FIRST)
def renew_shown_numbers() -> None:
    """Renew the numbers of people on their way, of studies to which enough people have come."""
    renew_who_is_on_the_way()


@routine(kind=EVERYONE_COUNTED, every=timedelta(minutes=1), queue=Queue.FIRST)
def count_everyone_after_the_end() -> None:
    """Count the people of studies that were closed, part by part; go on where a killed worker left it."""
    count_people_of_closed_studies()


@routine(kind=ENDS_KEPT, every=HOURLY, at_start=True, queue=Queue.FIRST)
def remember_ends() -> None:
    """Write down beside the database how studies ended: with each end, or now where the disk was full. Do again what a restore has lost,
    should nobody have run `manage.py replay`.
    """
    keep_ends()
    make_up_for_a_restore()


@routine(kind="kept_counts", every=DAILY)
def compare_counts() -> None:
    """Count everybody again and compare, which no page does; after an upgrade, count those for the first time who came before."""
    check_counts()


@routine(kind="remembered_withdrawals", every=DAILY)
def forget_moments_of_withdrawals() -> None:
    """Write again what is remembered of withdrawals, so that no file tells the second of its own."""
    renew_withdrawals()


@routine(kind="lists_ahead", every=timedelta(minutes=1), queue=Queue.FIRST)
def draw_ahead() -> None:
    """See to the next allocation lists of studies of whose newest one half is used."""
    for study in studies_short_of_lines():
        draw_lists_ahead(study)


@routine(kind=ROUTINE, every=HOURLY)
def forget_due() -> None:
    """Delete due operational data, and finish deletions begun on a page or left half done by a killed worker; and rooms of classes."""
    for slug in forget_what_is_due():
        logger.info("The operational data of %s are deleted", slug)
    delete_rooms_of_earlier_days()


@routine(kind="log_head", every=HOURLY)
def publish_log_head() -> None:
    """Note the end of the audit log once a day, for everybody to read."""
    publish_head()


@routine(kind="ends_of_approvals", every=HOURLY, queue=Queue.MAIL)
def expire_approvals() -> None:
    """Announce approvals that end soon; pause studies whose approval has ended, and close those that nobody renewed.

    Newcomers are refused even before this runs.
    """
    remind_of_ends()
    if paused := pause_expired_studies():
        logger.warning("Paused because their approval has ended: %s", ", ".join(paused))
    if closed := close_lapsed_studies():
        logger.warning("Closed because nobody renewed their approval: %s", ", ".join(closed))
