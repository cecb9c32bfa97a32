"""What beat and the pages ask of workers; each is harmless when it comes twice."""

import logging

from celery import shared_task

from surveys.models import Study
from surveys.rehearsal.crowds import take_over
from surveys.retention.order_of_arrival import forget_order_of_arrival
from surveys.retention.services import forget_operational_data, forget_what_is_due
from surveys.review.services import pause_expired_studies, remind_of_ends
from surveys.studies.services import close_lapsed_studies

logger = logging.getLogger(__name__)


@shared_task(name="surveys.tasks.forget_order")
def forget_order() -> None:
    """See to it that the order of the rows does not tell who came when."""
    if busy := forget_order_of_arrival():
        logger.warning("Too busy to be laid anew, will be tried again: %s", ", ".join(busy))


@shared_task(name="surveys.tasks.send_bots")
def send_bots(crowd_id: int, turn: int) -> None:
    """Send the next few bots of a rehearsal, and queue up for those after them, so that other work comes in between."""
    from surveys.bots import rehearsal  # what bots need, web processes can do without

    following = rehearsal.send_next(crowd_id, turn)
    if following is not None:
        send_bots.delay(crowd_id, following)


@shared_task(name="surveys.tasks.sweep")
def sweep() -> None:
    """Find the bots that the broker forgot or that killed workers left behind, and send them on."""
    for crowd_id, turn in take_over():
        send_bots.delay(crowd_id, turn)


@shared_task(name="surveys.tasks.forget_due")
def forget_due() -> None:
    """Delete operational data whose day has come, and finish what a killed worker left half done."""
    for slug in forget_what_is_due():
        logger.info("The operational data of %s are deleted", slug)


@shared_task(name="surveys.tasks.forget_study")
def forget_study(study_id: int) -> None:
    """Go on with what was begun on a page."""
    forget_operational_data(Study.objects.defer("definition").get(pk=study_id))


@shared_task(name="surveys.tasks.expire_approvals")
def expire_approvals() -> None:
    """Tell whose approval ends soon; pause studies whose approval has ended, and close those that nobody renewed.

    Newcomers are refused even before this runs.
    """
    remind_of_ends()
    if paused := pause_expired_studies():
        logger.warning("Paused because their approval has ended: %s", ", ".join(paused))
    if closed := close_lapsed_studies():
        logger.warning("Closed because nobody renewed their approval: %s", ", ".join(closed))
