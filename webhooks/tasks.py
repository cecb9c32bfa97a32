"""What workers do; harmless when it comes twice."""

from uuid import UUID

from celery import shared_task

from webhooks import outbox

# Of a server that sends its answer drop by drop, more than the single time-outs allow.
MOST_SECONDS = 40


@shared_task(name="webhooks.tasks.deliver", soft_time_limit=MOST_SECONDS)
def deliver(delivery_id: str) -> None:
    """Send one message, unless somebody else has it."""
    delivery = outbox.claim(UUID(delivery_id))
    if delivery is not None:
        outbox.attempt(delivery)


@shared_task(name="webhooks.tasks.sweep")
def sweep() -> None:
    """Send what is due: again, or because the queue forgot it."""
    for delivery_id in outbox.due():
        deliver.delay(str(delivery_id))
    outbox.forget()
