"""The kinds of work. A new one is a model that inherits from `Lease`, and a function with `@job`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Generic, TypeVar, cast

from django.db.models import QuerySet

from jobs.models import Lease, Routine
from jobs.queues import Queue

T = TypeVar("T", bound=Lease)

# Redis knows 0 (first) to 9 (last), in these steps.
FIRST, QUICK, HEAVY, LAST = 0, 3, 6, 9


@dataclass(frozen=True, kw_only=True)
class Job(Generic[T]):
    """A kind of work, and the decorator of its function, which gets a row that its worker holds and writes the outcome.

    It applies to rows that match `where`. `expects` are the errors that are no bugs. `part_of` names the foreign key to the work that was
    split into such rows; `lanes` is how many workers that have other work, too, may be at the parts of one piece at once. `queue` is where
    its messages wait, `priority` its place among those of a worker that takes several queues. Errors of work `of_its_owner` may quote
    records that only their owner reads.
    """

    kind: str
    model: type[T]
    where: Mapping[str, object] = field(default_factory=dict)
    expects: tuple[type[Exception], ...] = ()
    queue: Queue = Queue.FIRST
    priority: int = QUICK
    most_seconds: int | None = None
    part_of: str = ""
    lanes: int = 1
    of_its_owner: bool = False
    do: Callable[[T], None] = field(default=lambda _row: None)

    def __call__(self, do: Callable[[T], None]) -> Callable[[T], None]:
        if self.kind in JOBS:
            raise ValueError(f"Expected a new kind of work, found {self.kind} twice.")
        JOBS[self.kind] = cast("Job[Lease]", replace(self, do=do))  # it is given rows of its own model only
        return do

    def rows(self) -> QuerySet[T]:
        return self.model._default_manager.filter(**self.where)

    def parts_of(self, key: object) -> QuerySet[T]:
        """The unfinished parts of one piece of work."""
        return self.rows().filter(**{self.part_of: key}, due_at__isnull=False)

    @property
    def whole(self) -> type[Lease]:
        """The model of the whole to which this part belongs."""
        return cast(type[Lease], self.model._meta.get_field(self.part_of).related_model)


JOBS: dict[str, Job[Lease]] = {}
job = Job


def routine(
    *, kind: str, every: timedelta, at_start: bool = False, queue: Queue = Queue.FILES
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function that workers call at intervals, and some `at_start`, whatever the time since the last one."""

    def register(do: Callable[[], None]) -> Callable[[], None]:
        routine_in_parts(kind=kind, every=every, at_start=at_start, queue=queue)(lambda _row: do())
        return do

    return register


def routine_in_parts(
    *, kind: str, every: timedelta, at_start: bool = False, queue: Queue = Queue.FILES
) -> Callable[[Callable[[Routine], None]], Callable[[Routine], None]]:
    """As `routine`, of a function that gets the row of its work, in whose `place` it notes how far it is."""
    Routine.EVERY[kind] = every
    if at_start:
        Routine.AT_START.add(kind)
    return job(kind=kind, model=Routine, where={"pk": kind}, queue=queue, priority=HEAVY)


def job_of(lease: Lease) -> Job[Lease]:
    """The kind of work that a row is."""
    return next(
        one
        for one in JOBS.values()
        if isinstance(lease, one.model) and all(getattr(lease, column) == value for column, value in one.where.items())
    )
