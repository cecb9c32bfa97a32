"""The kinds of work. A new one is a model that inherits from `Lease`, and a function with `@job`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast

from django.db.models import QuerySet

from jobs.models import Lease, Routine

T = TypeVar("T", bound=Lease)

# Redis knows 0 (first) to 9 (last), in these steps.
FIRST, QUICK, HEAVY, LAST = 0, 3, 6, 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A kind of work: `do` is given what a worker holds, and writes what came of it."""

    kind: str
    model: type[Lease]
    do: Callable[[Any], None]
    where: Mapping[str, Any]
    expects: tuple[type[Exception], ...]
    priority: int
    most_seconds: float | None
    part_of: str
    lanes: int

    def rows(self) -> QuerySet[Lease]:
        return self.model._default_manager.filter(**self.where)

    def parts_of(self, key: object) -> QuerySet[Lease]:
        """The parts that are not done yet of one piece of work."""
        return self.rows().filter(**{self.part_of: key}, due_at__isnull=False)

    @property
    def whole(self) -> type[Lease]:
        """The model of what this is a part of."""
        return cast(type[Lease], self.model._meta.get_field(self.part_of).related_model)


JOBS: dict[str, Job] = {}


def job(
    *,
    kind: str,
    model: type[T],
    where: Mapping[str, Any] | None = None,
    expects: tuple[type[Exception], ...] = (),
    heavy: bool = False,
    priority: int | None = None,
    most_seconds: float | None = None,
    part_of: str = "",
    lanes: int = 1,
) -> Callable[[Callable[[T], None]], Callable[[T], None]]:
    """Register a function as what workers do with the rows of a model, or only with those of them that are as `where` says.

    `expects` are the errors that are no bugs. Heavy work goes after everything quick. `part_of` names the foreign key to work that was
    spread over such rows; `lanes` is how many workers may be at the parts of one piece at once.
    """

    def register(do: Callable[[T], None]) -> Callable[[T], None]:
        if kind in JOBS:
            raise ValueError(f"Expected a new kind of work, found {kind} twice.")
        JOBS[kind] = Job(
            kind=kind,
            model=model,
            do=do,
            where=where or {},
            expects=expects,
            priority=priority if priority is not None else HEAVY if heavy else QUICK,
            most_seconds=most_seconds,
            part_of=part_of,
            lanes=lanes,
        )
        return do

    return register


def routine(*, kind: str, every: timedelta) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function that workers call at intervals."""

    def register(do: Callable[[], None]) -> Callable[[], None]:
        Routine.EVERY[kind] = every
        job(kind=kind, model=Routine, where={"pk": kind}, heavy=True)(lambda _row: do())
        return do

    return register


def job_of(lease: Lease) -> Job:
    """The kind of work that a row is."""
    return next(
        job
        for job in JOBS.values()
        if isinstance(lease, job.model) and all(getattr(lease, column) == value for column, value in job.where.items())
    )
