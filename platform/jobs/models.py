"""Work that one worker holds at a time. The row is the truth; the queue may forget. No clock time outlives the work."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import ClassVar, Self
from uuid import uuid4

from django.db import IntegrityError, models, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from jobs.errors import TakenError
from jobs.heartbeats import beating

LONGEST_ERROR = 2000
CLOCKS_DIFFER = timedelta(hours=1)
"""At most, between hosts that are right."""


class Lease(models.Model):
    """A piece of work: it waits, a worker holds it, it has ended. A worker that falls silent loses it to the next one.

    A kind of work inherits from this, and says in mappings of its own columns how it shows its state.
    """

    due_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Waiting: not before. Held: until when its worker is believed to live. Empty: nothing to do.",
    )
    holder = models.UUIDField(null=True, blank=True, editable=False, help_text="Drawn for each attempt; only its worker may write.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it since it last got on.")
    error = models.TextField(blank=True)

    TERM: ClassVar[timedelta] = timedelta(seconds=15)
    MOST_WAIT: ClassVar[timedelta] = timedelta(days=2)
    """No work waits or is held for longer."""
    MOST_ATTEMPTS: ClassVar[int] = 5
    GIVEN_UP: ClassVar[str] = "Given up after {attempts} workers fell silent."
    KEEPS_ITS_TIME: ClassVar[bool] = False
    """Whether a message that comes early is ignored; otherwise the time only gathers several requests into one."""
    HAS_PARTS: ClassVar[bool] = False
    """Whether it can be split into rows of another kind; while these are being done, it is shown as held."""
    RELATED: ClassVar[tuple[str, ...]] = ()
    ENDED_ON: ClassVar[str] = ""
    """The column for the day of the end, which is all that stays of its time."""
    ASKED_ON: ClassVar[str] = ""
    """The column that stands for it in a kind of work without one."""
    WAITING: ClassVar[Mapping[str, object]] = {}
    HELD: ClassVar[Mapping[str, object]] = {}
    DONE: ClassVar[Mapping[str, object]] = {}
    FAILED: ClassVar[Mapping[str, object]] = {}
    SUPERSEDED: ClassVar[Mapping[str, object]] = {}

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(condition=Q(holder=None) | Q(due_at__isnull=False), name="held_%(class)s_has_a_term"),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(fields=("due_at",), condition=Q(due_at__isnull=False), name="%(class)s_by_due_time"),
        )

    @classmethod
    def waiting(cls) -> QuerySet[Self]:
        return cls._default_manager.filter(holder=None, due_at__isnull=False)

    @classmethod
    def claimable(cls) -> QuerySet[Self]:
        """The waiting work that a worker may take now."""
        return cls.waiting().filter(due_at__lte=timezone.now()) if cls.KEEPS_ITS_TIME else cls.waiting()

    @classmethod
    def of_a_clock_ahead(cls, now: datetime) -> Q:
        """Finds the work whose time was written while the clock was ahead: it would rest until that time comes."""
        return Q(due_at__gt=now + cls.MOST_WAIT)

    @classmethod
    def claim(cls, key: object) -> Self | None:
        """Claim this waiting work. None: it was claimed before, has ended, or another piece of work excludes it for now."""
        return cls._held(cls.claimable(), key)

    @classmethod
    def claim_spread(cls, key: object) -> Self | None:
        """Claim work again whose parts are done, to combine them."""
        return cls._held(cls.spread_out(), key)

    @classmethod
    def spread_out(cls) -> QuerySet[Self]:
        """The work whose parts are being done."""
        return cls._default_manager.filter(due_at=None, **cls.HELD)

    @classmethod
    def _held(cls, free: QuerySet[Self], key: object) -> Self | None:
        holder, until = uuid4(), timezone.now() + cls.TERM
        try:
            with transaction.atomic():  # the update locks the row; only one of two finds it free
                if not free.filter(pk=key).update(holder=holder, due_at=until, attempts=F("attempts") + 1, **cls.HELD):
                    return None
        except IntegrityError:  # some kinds of work allow only one at a time
            return None
        return cls._default_manager.select_related(*cls.RELATED).filter(pk=key, holder=holder).first()

    @classmethod
    def end(cls, rows: QuerySet[Self], **values: object) -> int:
        """End the work in `rows`, whoever holds it; return how many rows there were. Clock time and holder are deleted."""
        day = {cls.ENDED_ON: timezone.localdate()} if cls.ENDED_ON else {}
        return rows.update(holder=None, due_at=None, **day, **values)

    @property
    def progress(self) -> str:
        """The progress, for people who look after the server."""
        return ""

    @property
    def is_spread(self) -> bool:
        """Whether it is left to its parts."""
        shown_as_held = all(getattr(self, name) == value for name, value in self.HELD.items())
        return self.HAS_PARTS and self.due_at is None and shown_as_held

    def mine(self) -> QuerySet[Self]:
        """The row, while this worker's claim on it stands."""
        return type(self)._default_manager.filter(pk=self.pk, holder__isnull=False, holder=self.holder)

    def beating(self) -> AbstractContextManager[None]:
        """Keep the work while the block runs."""
        return beating(lambda: self.mine().update(due_at=timezone.now() + self.TERM))

    def write(self, **values: object) -> None:
        """Store this in the row, which the worker keeps."""
        self._written(self.mine().update(due_at=timezone.now() + self.TERM, **values), values)

    def finish(self, **values: object) -> None:
        values = {**self.DONE, **values}
        self._written(self.end(self.mine(), **values), values | {"holder": None, "due_at": None})

    def wait(self, after: timedelta = timedelta(0), **values: object) -> None:
        """Return the work to the queue."""
        values = {**self.WAITING, **values, "holder": None, "due_at": timezone.now() + after}
        self._written(self.mine().update(**values), values)

    def spread(self, **values: object) -> None:
        """Leave the work to its parts; after the last one, somebody claims it again."""
        values |= {"holder": None, "due_at": None, "attempts": 0}
        self._written(self.mine().update(**values), values)

    def fail(self, error: str) -> None:
        values = {**self.FAILED, "error": error[:LONGEST_ERROR]}
        self._written(self.end(self.mine(), **values), values | {"holder": None, "due_at": None})

    def take_over(self) -> bool:
        """Take the work from a silent worker: it waits for another one, or is given up. False: the worker gave a heartbeat."""
        holder, until = uuid4(), timezone.now() + self.TERM
        if not self.mine().filter(due_at=self.due_at).update(holder=holder, due_at=until):
            return False
        self.holder = holder
        try:
            if self.attempts >= self.MOST_ATTEMPTS:
                self.fail(self.GIVEN_UP.format(attempts=self.attempts))
            else:
                with transaction.atomic():
                    self.wait()
        except IntegrityError:  # a newer request waits already and will see everything
            self.end(self.mine(), **self.SUPERSEDED)
        return True

    def _written(self, rows: int, values: Mapping[str, object]) -> None:
        """Raises `TakenError` if the row was no longer this worker's; a surrounding transaction then rolls back all of it."""
        if not rows:
            raise TakenError
        for name, value in values.items():
            setattr(self, name, value)


class Routine(Lease):
    """Work repeated at intervals, by the name of its kind. It never ends: done or failed, it waits for its next time."""

    name = models.CharField(max_length=50, primary_key=True)
    place = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="How far work in parts is: there it goes on when its worker was killed."
    )

    EVERY: ClassVar[dict[str, timedelta]] = {}
    AT_START: ClassVar[set[str]] = set()
    KEEPS_ITS_TIME = True
    DONE: ClassVar[Mapping[str, object]] = {"error": "", "place": {}}

    class Meta(Lease.Meta):
        pass

    def __str__(self) -> str:
        return self.name

    @property
    def progress(self) -> str:
        return f"{self.place['done']} of {self.place['of']}" if self.place else ""

    @classmethod
    def of_a_clock_ahead(cls, now: datetime) -> Q:
        late = (Q(pk=name, due_at__gt=now + every + CLOCKS_DIFFER) for name, every in cls.EVERY.items())
        return reduce(or_, late, Q(pk__in=()))

    @classmethod
    def end(cls, rows: QuerySet[Self], **values: object) -> int:
        now = timezone.now()
        return sum(rows.filter(pk=name).update(holder=None, due_at=now + every, attempts=0, **values) for name, every in cls.EVERY.items())
