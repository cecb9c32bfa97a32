"""Background tasks; harmless when delivered twice."""

from uuid import UUID

from celery import shared_task

from webhooks import outbox

# Longer than the single time-outs allow, for servers that send their answer drop by drop.
MOST_SECONDS = 40


@shared_task(name="webhooks.tasks.deliver", soft_time_limit=MOST_SECONDS)
def deliver(delivery_id: str) -> None:
    """Send one message, unless somebody else has it."""
    delivery = outbox.claim(UUID(delivery_id))
    if delivery is not None:
        outbox.attempt(delivery)


@shared_task(name="webhooks.tasks.sweep")
def sweep() -> None:
    """Send due messages: those to be retried, and those that the queue forgot."""
    for delivery_id in outbox.due():
        deliver.delay(str(delivery_id))
    outbox.forget()
