"""Deposits of releases with services that give DOIs."""

from typing import ClassVar, Self

from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from analysis.models.results import Release, ReleaseStatus
from jobs.models import Lease


class DepositStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting for a worker")
    WORKING = "working", _("At work")
    RESERVED = "reserved", _("DOI reserved")
    PUBLISHED = "published", _("DOI registered")
    FAILED = "failed", _("Not done")
    GIVEN_BACK = "given_back", _("Given back")
    WITHDRAWN = "withdrawn", _("Marked as retracted")


class DepositTask(models.TextChoices):
    """The step that waits, is under way, or was done last."""

    RESERVE = "reserve", _("Reserve a DOI")
    PUBLISH = "publish", _("Publish the deposit")
    GIVE_BACK = "give_back", _("Give the reserved DOI back")
    WITHDRAW = "withdraw", _("Mark the deposit as retracted")


class Deposit(Lease):
    """One release with a service that gives DOIs: the next step, and what the service calls the deposit.

    A version of a study has one deposit however often it is tried: a new build takes over that of a release that ended before it was
    public, if it was not given back yet.
    """

    release = models.OneToOneField(Release, on_delete=models.PROTECT, related_name="deposit")
    service = models.CharField(max_length=20)
    task = models.CharField(max_length=10, choices=DepositTask, default=DepositTask.RESERVE)
    status = models.CharField(max_length=10, choices=DepositStatus, default=DepositStatus.WAITING)
    number = models.CharField(max_length=200, blank=True, default="", help_text="The service's own name of the deposit.")
    doi = models.CharField(max_length=200, blank=True, default="")
    stage = models.CharField(max_length=30, blank=True, default="", help_text="Files sent so far, and of how many.")
    published_on = models.DateField(null=True, blank=True)

    KEEPS_ITS_TIME = True
    RELATED = ("release", "release__study")
    WAITING: ClassVar = {"status": DepositStatus.WAITING}
    HELD: ClassVar = {"status": DepositStatus.WORKING}
    DONE: ClassVar = {"status": DepositStatus.RESERVED, "error": ""}
    FAILED: ClassVar = {"status": DepositStatus.FAILED}

    class Meta(Lease.Meta):
        constraints = (
            *Lease.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(due_at__isnull=True) | models.Q(status__in=("waiting", "working")), name="ended_deposit_keeps_no_time"
            ),
        )

    def __str__(self) -> str:
        return f"{self.release}: {self.get_status_display()}"

    @classmethod
    @transaction.atomic
    def end(cls, rows: models.QuerySet[Self], **values: object) -> int:
        """A release that waited for its DOI waits no longer, whatever became of it."""
        waiting = list(rows.values_list("release_id", flat=True))
        ended = super().end(rows, **values)
        Release.objects.filter(pk__in=waiting, status=ReleaseStatus.QUEUED, holder=None, due_at=None).update(due_at=timezone.now())
        return ended

    @property
    def progress(self) -> str:
        return self.stage

    @property
    def is_under_way(self) -> bool:
        return self.status in (DepositStatus.WAITING, DepositStatus.WORKING)

    @property
    def stands(self) -> bool:
        """Whether the DOI is reserved or registered, so that files may name it."""
        gone = self.status in (DepositStatus.GIVEN_BACK,) or self.task == DepositTask.GIVE_BACK
        return bool(self.doi) and not gone
