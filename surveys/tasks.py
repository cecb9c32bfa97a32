"""What beat asks of surveys."""

import logging

from celery import shared_task

from surveys.services.order_of_arrival import forget_order_of_arrival

logger = logging.getLogger(__name__)


@shared_task(name="surveys.tasks.forget_order")
def forget_order() -> None:
    """See to it that the order of the rows does not tell who came when."""
    if busy := forget_order_of_arrival():
        logger.warning("Too busy to be laid anew, will be tried again: %s", ", ".join(busy))
