"""Course platforms, our keys for them, and credit on its way. A student is known here from handing in until the credit is sent."""

import re
from datetime import timedelta
from typing import ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from candor.errors import what_came
from jobs.models import Lease
from surveys.batches.rules import up_to_tens
from surveys.models import Study
from webhooks.addresses import check_address
from webhooks.errors import WebhookError

WAITS = tuple(timedelta(minutes=minutes) for minutes in (5, 30, 120, 360, 900))
"""The waits between attempts: about a day together."""
HOST_ALONE = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:[0-9]+)?/?", re.IGNORECASE)
"""A host of pages, with its port: it stands in the rules that browsers keep."""


class Platform(models.Model):
    """A course platform that an administrator registered: Moodle, Canvas, Blackboard, ILIAS or another one with LTI 1.3."""

    name = models.CharField(max_length=100)
    issuer = models.URLField(max_length=300, help_text="“Platform ID”: it says who signs.")
    client_id = models.CharField("client ID", max_length=200)
    deployment_id = models.CharField("deployment ID", max_length=200)
    login_address = models.URLField("authentication request URL", max_length=300)
    token_address = models.URLField("access token URL", max_length=300)
    keys_address = models.URLField("public keyset URL", max_length=300)
    page_addresses = models.CharField(
        "hosts of the course pages",
        max_length=1000,
        blank=True,
        db_default="",
        help_text="Only where people see their courses at another host than that of the authentication request URL, as in the cloud of "
        "Canvas: https://school.instructure.com. Several are separated by spaces. Their pages can show those of Candor in a frame.",
    )

    class Meta:
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("issuer", "client_id", "deployment_id"), name="platform_is_registered_once"),)

    def __str__(self) -> str:
        return self.name

    @property
    def origins(self) -> list[str]:
        """The places from which its pages come, as browsers compare them."""
        parts = (urlsplit(address) for address in (self.login_address, *self.page_addresses.split()))
        return [f"{one.scheme}://{one.netloc}" for one in parts]

    def clean(self) -> None:
        """This server asks at no other addresses than those of webhooks, and a browser carries what is known of a student to the third.
        Pages are named by whole hosts: a browser would take `*` for those of everybody.
        """
        super().clean()
        refused = {}
        for field in ("login_address", "token_address", "keys_address", "page_addresses"):
            try:
                for address in getattr(self, field).split():
                    check_address(address, private_is_allowed=settings.WEBHOOKS_MAY_STAY_PRIVATE)
            except WebhookError as error:
                refused[field] = str(error)
        if others := [address for address in self.page_addresses.split() if not HOST_ALONE.fullmatch(address)]:
            found = {"found": what_came(others[0], most=100)}
            refused["page_addresses"] = gettext("Expected hosts alone, such as https://school.example.org, found %(found)s.") % found
        if refused:
            raise ValidationError(refused)


class ToolKey(models.Model):
    """A key for what this installation says to platforms. One signs; earlier ones stay published until they are withdrawn."""

    private_key = models.TextField(help_text="Encrypted.")
    made_on = models.DateField(auto_now_add=True)
    signs = models.BooleanField(default=True, db_default=False, help_text="Whether messages are signed with it.")
    withdrawn_at = models.DateTimeField(null=True, blank=True, help_text="When it ceases to be published; empty: not yet decided.")

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(fields=("signs",), condition=models.Q(signs=True), name="one_platform_key_signs"),
            models.CheckConstraint(condition=models.Q(signs=False) | models.Q(withdrawn_at=None), name="a_key_that_signs_is_published"),
        )

    def __str__(self) -> str:
        return f"of {self.made_on}"


class BatchStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    SENT = "sent", _("Sent")
    FAILED = "failed", _("Given up")


class CreditBatch(Lease):
    """Credit of several students, sent together and in an order drawn by chance. Nothing of a student stays once theirs has arrived."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="credit_batches")
    status = models.CharField(max_length=10, choices=BatchStatus, default=BatchStatus.WAITING)
    people = models.PositiveIntegerField(help_text="How many there were.")
    places = models.JSONField(default=list, help_text="Where credit is still to be sent.")
    made_on = models.DateField(auto_now_add=True)
    ended_on = models.DateField(null=True, blank=True)

    MOST_ATTEMPTS = len(WAITS) + 1
    GIVEN_UP = "no answer"
    KEEPS_ITS_TIME = True
    RELATED = ("study",)
    ENDED_ON = "ended_on"
    DONE: ClassVar = {"status": BatchStatus.SENT, "error": ""}
    FAILED: ClassVar = {"status": BatchStatus.FAILED}

    class Meta(Lease.Meta):
        verbose_name_plural = "credit batches"
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.people} of {self.study}: {self.status}"

    @property
    def left_at_most(self) -> int:
        """For how many students credit is still to be sent, as pages show it."""
        return up_to_tens(len(self.places))
