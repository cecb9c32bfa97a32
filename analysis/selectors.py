"""Reading results and the state of the work on them."""

from dataclasses import dataclass

from django.db.models import Count, Max, Q

from analysis.models import Run, RunKind, RunStatus
from analysis.stored_results import Results, read_results
from surveys.models import ENDED, Study
from surveys.protocols import protocol_at_launch

MOST_MOMENTS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The state of the work on one kind of results; `percent` of its chunks, once they are known."""

    status: str
    percent: int | None
    done: int
    chunks: int


def latest_results(study: Study, kind: RunKind = RunKind.FIRST_RESULTS) -> Run | None:
    """The newest finished run."""
    return Run.objects.filter(study=study, kind=kind, status=RunStatus.DONE).order_by("-pk").first()


def finished_runs(study: Study) -> tuple[tuple[str, int, int], ...]:
    """For each kind of run how many are done, and the newest: another value whenever other results are shown, without reading them."""
    done = Run.objects.filter(study=study, status=RunStatus.DONE)
    return tuple(done.values_list("kind").annotate(Count("pk"), Max("pk")).order_by("kind"))


def planned_results(study: Study, *, planned: int, kind: RunKind = RunKind.FIRST_RESULTS) -> tuple[Run, Results] | None:
    """The run whose fixed-n numbers are looked at, once, and what it found.

    It is the first one with the planned number of answers, and none that came after it. The moment does not depend on anybody's answer,
    because batches do not; so its intervals and p-values mean what they say, and those of a later moment, which somebody chose after
    seeing these, would not. In a study that ended before, or whose sections were assigned as a whole, it is the last one.
    """
    done = Run.objects.filter(study=study, kind=kind, status=RunStatus.DONE)
    at_the_end = protocol_at_launch(study).definition.in_sections
    for key in () if at_the_end else done.filter(n__gte=planned).order_by("pk").values_list("pk", flat=True):
        run = done.get(pk=key)
        if (found := read_results(run.results)) is not None:  # an older version may have stored what this one cannot read
            return run, found
    if study.status not in ENDED or Run.objects.filter(study=study, kind=kind, status__in=(RunStatus.QUEUED, RunStatus.RUNNING)).exists():
        return None
    last = done.order_by("-pk").first()
    found = read_results(last.results) if last else None
    return None if last is None or found is None else (last, found)


def state_of_work(study: Study, kind: RunKind = RunKind.FIRST_RESULTS) -> Work:
    """Whether something is being computed, waits, or how the last one ended."""
    of_interest = Run.objects.filter(study=study, kind=kind).exclude(status=RunStatus.SUPERSEDED)
    finished = Count("chunks", filter=Q(chunks__isnull=False, chunks__due_at=None))
    runs = {
        status: (done, chunks)
        for status, done, chunks in of_interest.order_by("-pk")
        .annotate(done=finished, all=Count("chunks"))
        .values_list("status", "done", "all")[:2][::-1]
    }
    status = next((one for one in (RunStatus.RUNNING, RunStatus.QUEUED) if one in runs), list(runs)[-1] if runs else "")
    done, chunks = runs.get(status, (0, 0))
    percent = 100 * done // chunks if status == RunStatus.RUNNING and chunks else None
    return Work(status=status, percent=percent, done=done, chunks=chunks)


def history(study: Study) -> list[tuple[int, Results]]:
    """n and results of the first results as answers came in: at most `MOST_MOMENTS`, spread evenly, the last one among them."""
    runs = Run.objects.filter(study=study, kind=RunKind.FIRST_RESULTS, status=RunStatus.DONE, n__gt=0)
    newest: dict[int, int] = {n: pk for n, pk in runs.order_by("pk").values_list("n", "pk") if n is not None}
    moments = sorted(newest.items())
    if len(moments) > MOST_MOMENTS:
        step = (len(moments) - 1) / (MOST_MOMENTS - 1)
        moments = [moments[round(index * step)] for index in range(MOST_MOMENTS)]
    results = dict(Run.objects.filter(pk__in=[pk for _n, pk in moments]).values_list("pk", "results"))
    return [(n, found) for n, pk in moments if (found := read_results(results.get(pk))) is not None]
