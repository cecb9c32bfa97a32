"""The ledger of a source: what may be spent in all, what was charged, and how far each charge came.

Losses are whole numbers of a trillionth, so that sums are exact and nothing exceeds a budget by rounding. Charges and their steps are
never changed: the database refuses it (`analysis/models/triggers.py`).
"""

import secrets
from typing import ClassVar, Self

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from analysis.models.sources import Source
from jobs.models import Lease


class Budget(models.Model):
    """The privacy loss that a source allows in all: (ε, δ) as approved, and the zCDP ρ that it amounts to. It can only become smaller."""

    source = models.OneToOneField(Source, on_delete=models.PROTECT, related_name="budget")
    epsilon = models.FloatField()
    delta = models.FloatField()
    epsilon_units = models.BigIntegerField(help_text="ε in trillionths, for releases of which each has a pure ε.")
    rho_units = models.BigIntegerField(help_text="The largest ρ in trillionths whose (ε, δ) equivalent is within the budget.")
    frozen_on = models.DateField(null=True, blank=True, help_text="Since this day an officer lets nothing more be spent.")
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    frozen_because = models.TextField(blank=True, max_length=2000)
    changes = models.PositiveIntegerField(default=0, db_default=0, help_text="How often officers froze, unfroze or lowered it.")

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(epsilon__gt=0, delta__gte=0, delta__lt=1, epsilon_units__gte=0, rho_units__gte=0),
                name="budget_is_a_privacy_loss",
            ),
            models.CheckConstraint(
                condition=models.Q(frozen_on=None, frozen_by=None, frozen_because="")
                | (models.Q(frozen_on__isnull=False, frozen_by__isnull=False) & ~models.Q(frozen_because="")),
                name="frozen_budget_says_by_whom_and_why",
            ),
        )

    def __str__(self) -> str:
        return f"{self.source}: ε = {self.epsilon:g}, δ = {self.delta:g}"


def new_memory() -> str:
    """A name for the file that remembers a charge beside the database."""
    return secrets.token_hex(16)


class Charge(models.Model):
    """The price of one question, taken before any noise is drawn."""

    budget = models.ForeignKey(Budget, on_delete=models.PROTECT, related_name="charges")
    number = models.PositiveIntegerField(help_text="Its place in the ledger. Two that are taken at once cannot have the same.")
    kind = models.CharField(max_length=50)
    document = models.JSONField(help_text="The question, as its kind writes it.")
    sha256 = models.CharField(max_length=64, help_text="SHA-256 of the question in canonical form: the same question has the same.")
    rho_units = models.BigIntegerField()
    epsilon_units = models.BigIntegerField(null=True, blank=True, help_text="Empty: its mechanism has no pure ε.")
    snapshot = models.PositiveIntegerField(help_text="Number of the snapshot that was there.")
    n = models.PositiveIntegerField()
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_on = models.DateField()
    memory = models.CharField(
        max_length=32, blank=True, default=new_memory, db_default="", help_text="Name of the file that remembers it beside the database."
    )

    class Meta:
        ordering = ("budget", "number")
        constraints = (
            models.UniqueConstraint(fields=("budget", "number"), name="charge_number_is_unique"),
            models.UniqueConstraint(fields=("memory",), condition=~models.Q(memory=""), name="charge_is_remembered_once"),
            models.CheckConstraint(
                condition=models.Q(rho_units__gte=0) & (models.Q(epsilon_units=None) | models.Q(epsilon_units__gte=0)),
                name="charge_is_a_privacy_loss",
            ),
        )
        indexes = (models.Index(fields=("budget", "sha256"), name="charges_by_question"),)

    def __str__(self) -> str:
        return f"charge {self.number}: {self.kind}"

    @property
    def is_free(self) -> bool:
        """Whether its answer is exact: about what the die protects, or chance made."""
        return self.rho_units == 0 and self.epsilon_units == 0


class Reached(models.TextChoices):
    DRAWN = "drawn", _("Noise drawn: spent")
    RETURNED = "returned", _("Returned: no noise was drawn")
    ANSWERED = "answered", _("Answered")


class ChargeStep(models.Model):
    """A step of a charge. First noise is drawn for it or it is returned, never both; then it may be answered, once."""

    charge = models.ForeignKey(Charge, on_delete=models.PROTECT, related_name="steps")
    place = models.PositiveSmallIntegerField()
    reached = models.CharField(max_length=10, choices=Reached)
    answer = models.JSONField(null=True, blank=True)
    reason = models.TextField(blank=True, help_text="Why it was returned.")
    reached_on = models.DateField()

    class Meta:
        ordering = ("charge", "place")
        constraints = (
            models.UniqueConstraint(fields=("charge", "place"), name="charge_takes_each_step_once"),
            models.CheckConstraint(
                condition=models.Q(place=1, reached__in=("drawn", "returned"), answer__isnull=True)
                | models.Q(place=2, reached="answered", answer__isnull=False),
                name="charge_is_drawn_or_returned_and_then_answered",
            ),
        )

    def __str__(self) -> str:
        return f"{self.charge}: {self.reached}"


class AskingStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Being answered")
    DONE = "done", _("Answered")
    FAILED = "failed", _("Not answered")


class Asking(Lease):
    """The work on one charge: a worker computes the exact numbers, marks the charge as drawn, draws the noise, and writes the answer.

    That of a free question is exact, and stays here as `released` until somebody withdraws.
    """

    charge = models.OneToOneField(Charge, on_delete=models.PROTECT, related_name="asking")
    status = models.CharField(max_length=10, choices=AskingStatus, default=AskingStatus.WAITING)
    released = models.JSONField(null=True, blank=True, help_text="The statistic with its noise, until the answer is written from it.")

    RELATED = ("charge__budget__source__study", "charge__budget__source__data_set", "charge__asked_by")
    WAITING: ClassVar = {"status": AskingStatus.WAITING}
    HELD: ClassVar = {"status": AskingStatus.RUNNING}
    DONE: ClassVar = {"status": AskingStatus.DONE, "released": None, "error": ""}
    FAILED: ClassVar = {"status": AskingStatus.FAILED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status__in=("waiting", "running")), name="ended_asking_keeps_no_time"
            ),
        )

    def __str__(self) -> str:
        return f"{self.charge}: {self.status}"

    @classmethod
    @transaction.atomic
    def end(cls, rows: "models.QuerySet[Self]", **values: object) -> int:
        """A charge for which no noise was drawn is returned with the end of the work on it. A worker that is about to draw waits here."""
        ended = dict(rows.select_for_update(of=("self",)).values_list("pk", "charge"))
        untouched = Charge.objects.filter(pk__in=ended.values(), steps=None).values_list("pk", flat=True)
        reason = str(values.get("error", ""))
        ChargeStep.objects.bulk_create(
            ChargeStep(charge_id=charge, place=1, reached=Reached.RETURNED, reason=reason, reached_on=timezone.localdate())
            for charge in untouched
        )
        return super().end(cls.objects.filter(pk__in=ended), **values)
