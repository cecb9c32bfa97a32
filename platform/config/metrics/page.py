"""The page of numbers: what follows staff as it is now, what follows participants as it was up to five minutes ago.

Two looks at the latter are at least five minutes apart, whoever asks. A monitoring program keeps the time of each number, and would else
keep the second in which the last person of a batch came.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from django.core.cache import cache
from django.db.models import Count
from prometheus_client import generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from analysis.models import Run, RunKind, RunStatus
from candor.software import __version__
from config.health import states_of_parts
from config.metrics.requests import VISITORS, collected
from jobs.registry import JOBS
from jobs.selectors import load_by_kind
from surveys.batches.selectors import people_in_tens
from surveys.models import Study

KEPT = timedelta(minutes=5)
_KEPT_PAGE = "metrics:participants"


class Families:
    """Numbers in the form in which `prometheus_client` writes them."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterator[Metric]:
        yield from self._families

    def written(self) -> bytes:
        return generate_latest(self)  # it asks for no more than `collect`


def page() -> bytes:
    kept = cache.get_or_set(_KEPT_PAGE, lambda: Families(of_participants()).written(), KEPT.total_seconds())
    return Families(of_staff()).written() + bytes(kept or b"")


def of_staff() -> Iterator[Metric]:
    """Numbers that do not follow participants."""
    yield gauge("candor_info", "The version of this installation", ["version"], [((__version__,), 1)])
    alive = [((part,), float(state == "ok")) for part, state in states_of_parts().items()]
    yield gauge("candor_alive", "Whether a part of the installation answers", ["part"], alive)
    yield from (one for one in collected() if not one.name.startswith(VISITORS))


def of_participants() -> Iterator[Metric]:
    """Numbers that follow participants: in whole tens, by batches, and in blocks of requests."""
    people = people_in_tens()
    steps = [((slug, step), number) for slug, numbers in people.items() for step, number in numbers.items()]
    yield gauge("candor_people", "People of a running study who have come to a step, in whole tens", ["study", "step"], steps)
    running = Run.objects.filter(kind=RunKind.FIRST_RESULTS, status__in=(RunStatus.QUEUED, RunStatus.RUNNING)).values("study__slug")
    waiting = {row["study__slug"] for row in running}
    batches = [((slug,), float(slug in waiting)) for slug in people]
    yield gauge("candor_batch_waiting", "Whether a complete batch waits to be computed", ["study"], batches)
    studies = Study.objects.filter(rehearsal_of=None).values_list("status").annotate(Count("pk")).order_by()
    yield gauge("candor_studies", "Studies", ["status"], [((status,), number) for status, number in studies])
    loads = [((JOBS[kind].queue, kind), load) for kind, load in load_by_kind().items()]
    for state in ("waiting", "running", "failed"):
        yield gauge(f"candor_jobs_{state}", f"Work that is {state}", ["queue", "kind"], [(of, getattr(load, state)) for of, load in loads])
    oldest = [(of, load.oldest // timedelta(minutes=1) * 60) for of, load in loads]
    yield gauge("candor_jobs_oldest_seconds", "How long the oldest waiting work has been due, in whole minutes", ["queue", "kind"], oldest)
    yield from (one for one in collected() if one.name.startswith(VISITORS))


def gauge(name: str, description: str, labels: list[str], values: Iterable[tuple[Sequence[str], float]]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, description, labels=labels)
    for label, value in sorted(values):
        family.add_metric(label, value)
    return family
