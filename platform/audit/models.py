"""Records of staff actions (actor, action, subject, time) in a chain that shows every later change."""

from typing import ClassVar, NoReturn

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from audit import chain


class AppendOnlyError(TypeError):
    """The log can only grow."""

    def __init__(self) -> None:
        super().__init__("Audit entries can be neither changed nor deleted.")


class EntryQuerySet(models.QuerySet["Entry"]):
    """A queryset for reading only."""

    def update(self, **kwargs: object) -> NoReturn:
        raise AppendOnlyError

    def delete(self) -> NoReturn:
        raise AppendOnlyError


class Entry(models.Model):
    """One action of one member of staff, or of the platform itself. Participants' actions are never entries."""

    sequence = models.PositiveBigIntegerField(primary_key=True)
    at = models.DateTimeField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    actor_name = models.CharField(max_length=150, blank=True)
    action = models.CharField(max_length=64)
    subject_kind = models.CharField(max_length=64, blank=True)
    subject_id = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict, blank=True)
    salt = models.CharField(max_length=32, blank=True, default="", db_default="")
    """Random, and covered by the hash: nobody who sees the hash alone can try contents until one fits."""
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)

    objects: ClassVar[models.Manager["Entry"]] = EntryQuerySet.as_manager()

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering: ClassVar = ["sequence"]
        indexes: ClassVar = [
            models.Index(fields=["subject_kind", "subject_id"], name="audit_entries_of_a_subject"),
            models.Index(fields=["action", "sequence"], name="audit_entries_by_action"),
            models.Index(fields=["actor_name", "sequence"], name="audit_entries_by_person"),
            models.Index(fields=["at"], name="audit_entries_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence}. {self.actor_name or '—'} {self.action} {self.subject_kind} {self.subject_id}".rstrip()

    def save(self, *args: object, using: str | None = None, **kwargs: object) -> None:
        if not self._state.adding:
            raise AppendOnlyError
        super().save(force_insert=True, using=using)

    def delete(self, *args: object, **kwargs: object) -> NoReturn:
        raise AppendOnlyError

    def expected_hash(self) -> str:
        """The `hash` that belongs to this content."""
        return chain.hash_of(
            sequence=self.sequence,
            at=self.at,
            actor_id=self.actor_id,
            actor_name=self.actor_name,
            action=self.action,
            subject_kind=self.subject_kind,
            subject_id=self.subject_id,
            details=self.details,
            previous_hash=self.previous_hash,
            salt=self.salt,
        )


class Head(models.Model):
    """The chain's end, in a single row: locking it puts writers in line, and its absence betrays entries cut off at the end."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    sequence = models.PositiveBigIntegerField(default=0)
    hash = models.CharField(max_length=64, default=chain.GENESIS)

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=models.Q(id=1), name="the_audit_log_has_one_head")]

    def __str__(self) -> str:
        return f"{self.sequence}: {self.hash}"


class PublishedHead(models.Model):
    """The log's end as anybody could read it on a day: whoever kept a copy can tell later whether the log still leads there."""

    day = models.DateField(primary_key=True)
    sequence = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)

    class Meta:
        ordering: ClassVar = ["day"]

    def __str__(self) -> str:
        return f"{self.day}: {self.sequence}, {self.hash}"
