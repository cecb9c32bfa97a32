"""Programs that want news of a study, and their messages: the outbox, and the log of outcomes."""

import base64
import uuid
from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from jobs.models import Lease
from surveys.models import Study

# The waits between attempts: about a day together.
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 360, 900))


class Event(models.TextChoices):
    STUDY_CLOSED = "study.closed", _("The study was closed")
    N_REACHED = "n.reached", _("The planned number of people have answered")
    RESULTS_UPDATED = "results.updated", _("There are new results")
    BATCH_COUNTED = "batch.counted", _("A new batch of people is in the numbers")
    REVIEW_SUBMITTED = "review.submitted", _("A protocol was submitted for review")
    REVIEW_SIGNED = "review.signed", _("A part of the protocol was signed, or a signature was taken back")
    REVIEW_DECIDED = "review.decided", _("The officers decided about the study")
    RELEASE_BUILT = "release.built", _("A release of data was built")
    RELEASE_REQUESTED = "release.requested", _("The approval of a release was asked for")
    RELEASE_DECIDED = "release.decided", _("A release was approved or refused")
    RELEASE_PUBLISHED = "release.published", _("A release became public")
    RELEASE_RETRACTED = "release.retracted", _("A public release was retracted")


ONLY_ONCE = (Event.STUDY_CLOSED, Event.N_REACHED)
BY_PARTICIPANTS = (Event.N_REACHED, Event.RESULTS_UPDATED, Event.BATCH_COUNTED)
MARK, DAY = timedelta(minutes=5), timedelta(days=1)
"""Messages about participants leave at whole multiples of these, so that their times do not tell the minute in which somebody came."""
LONGEST_ADDRESS = 500
DAYS_OF_TWO_SECRETS = 2


def due_at(event: str, *, now: datetime, after_withdrawals: bool = False) -> datetime:
    """The moment at which a message about this event may leave. Only the day is told of results that change by withdrawals."""
    if event not in BY_PARTICIPANTS:
        return now
    seconds = (DAY if after_withdrawals else MARK).total_seconds()
    return datetime.fromtimestamp((now.timestamp() // seconds + 1) * seconds, tz=now.tzinfo)


class Webhook(models.Model):
    """An address that is told about events of one study."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="webhooks")
    address = models.URLField(max_length=LONGEST_ADDRESS)
    events = models.JSONField(help_text="Names of events.")
    site = models.CharField(max_length=200, help_text="Where this Candor is, for the links in messages.")
    created_on = models.DateField(auto_now_add=True)
    secret_number = models.PositiveSmallIntegerField(default=1, db_default=1, help_text="How many secrets it has had.")
    earlier_secret_until = models.DateField(null=True, blank=True, help_text="The last day on which the secret before signs, too.")
    signed_as_before = models.BooleanField(
        db_default=True, help_text="Its first secret was shown before Standard Webhooks: `Candor-Signature` is sent, too."
    )

    class Meta:
        ordering = ("created_on", "pk")
        constraints = (models.UniqueConstraint(fields=("study", "address"), name="webhook_address_is_unique"),)

    def __str__(self) -> str:
        return self.address

    @property
    def secret(self) -> str:
        """The newest secret, as Standard Webhooks writes it."""
        return "whsec_" + base64.b64encode(self.key(self.secret_number)).decode()

    @property
    def secret_as_before(self) -> str | None:
        """The first secret as it was written before Standard Webhooks, while a program may still check by it."""
        if not self.signed_as_before or 1 not in self.valid_secrets:
            return None
        return "whsec_" + base64.urlsafe_b64encode(self.key(1)).decode().rstrip("=")

    @property
    def valid_secrets(self) -> tuple[int, ...]:
        """The numbers of the secrets that sign today, the newest first."""
        until = self.earlier_secret_until
        if until is not None and timezone.localdate() <= until:
            return self.secret_number, self.secret_number - 1
        return (self.secret_number,)

    def key(self, number: int) -> bytes:
        """The bytes of a secret. They follow from the installation's SECRET_KEY, so that the database does not hold them."""
        named = str(self.pk) if number == 1 else f"{self.pk}/{number}"
        return salted_hmac("webhooks.secret", named, algorithm="sha256").digest()


class DeliveryStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    DELIVERED = "delivered", _("Delivered")
    FAILED = "failed", _("Given up")


class Delivery(Lease):
    """One message to one address. It holds no numbers, and once it has ended no clock time: new results tell when people answered."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=20, choices=Event)
    status = models.CharField(max_length=10, choices=DeliveryStatus, default=DeliveryStatus.WAITING)
    news = models.BooleanField(default=False, help_text="It happened again while the message was on its way, which then goes once more.")
    answered = models.PositiveSmallIntegerField(null=True, blank=True, help_text="HTTP status of the last answer.")
    queued_on = models.DateField(auto_now_add=True)
    ended_on = models.DateField(null=True, blank=True)

    MOST_ATTEMPTS = len(WAITS) + 1
    GIVEN_UP = "no answer"
    KEEPS_ITS_TIME = True
    RELATED = ("webhook__study",)
    ENDED_ON = "ended_on"
    DONE: ClassVar = {"status": DeliveryStatus.DELIVERED, "error": ""}
    FAILED: ClassVar = {"status": DeliveryStatus.FAILED}

    class Meta(Lease.Meta):
        verbose_name_plural = "deliveries"
        ordering = ("-queued_on", "pk")
        constraints = (
            *Lease.Meta.constraints,
            models.UniqueConstraint(
                fields=("webhook", "event"), condition=models.Q(status="waiting"), name="one_waiting_delivery_of_an_event"
            ),
            models.CheckConstraint(
                condition=models.Q(status="waiting", due_at__isnull=False) | (~models.Q(status="waiting") & models.Q(due_at__isnull=True)),
                name="only_a_waiting_delivery_has_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook}: {self.status}"

    def tell_of_news(self, after: timedelta = timedelta(0), **outcome: object) -> None:
        """It leaves once more and is tried for a day again, under a new number: a program that drops what it had before would miss it."""
        self.wait(after, id=uuid.uuid4(), attempts=0, news=False, **outcome)

    def fail(self, error: str) -> None:
        """Given up because its workers fell silent; but tried again where it happened again meanwhile."""
        if self.mine().filter(news=True).exists():
            self.tell_of_news(error=error)
        else:
            super().fail(error)
