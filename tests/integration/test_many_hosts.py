"""Workers that take some queues each, and two beats: one message for each period, whichever of them is killed."""

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import redis
from django.core.exceptions import ImproperlyConfigured

from jobs.queues import Queue, queues_in
from jobs.registry import JOBS
from tests.processes import Site, built

PERIOD = 3.0
"""Between two messages of the beats here; 15 s elsewhere."""
BEAT = f"from config.celery import app; app.conf.beat_schedule['sweep']['schedule'] = {PERIOD}; app.start(['beat'])"
# Kinds of work that speak to other computers, so that nothing else needs a way out.
GO_OUT = {"delivery", "credit_batch", "deposit", "ends_of_approvals"}


@pytest.fixture
def site(tmp_path: Path, built_site: Site) -> Iterator[Site]:
    """A production site without a web process."""
    with built(tmp_path, like=built_site) as site:
        with redis.Redis.from_url(site.environment["REDIS_URL"]) as broker:
            broker.flushdb()
        yield site


def wait_until(happened: Callable[[], object], *, seconds: float, site: Site) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        logs = {name: site.log(name)[-1500:] for name in site.processes}
        assert time.monotonic() < deadline, f"not within {seconds} s: {logs}"
        time.sleep(0.1)


def test_a_worker_takes_the_queues_that_it_is_told_and_no_others(site: Site) -> None:
    site.commands["worker"][site.commands["worker"].index("2")] = "1"
    site.commands["first"] = site.commands["worker"]
    site.alone = {"worker": {"CANDOR_QUEUES": "files, mail,bootstrap"}, "first": {"CANDOR_QUEUES": "first"}}
    routines = {kind: job.queue for kind, job in JOBS.items() if job.where.get("pk") == kind}
    done = "SELECT name FROM jobs_routine WHERE due_at > now() + interval '1 second'"

    def names_done() -> set[str]:
        return {name for (name,) in site.rows(done)}

    site.rows(f"INSERT INTO jobs_routine (name, due_at, attempts, error) VALUES {values_of(routines)} RETURNING name")
    site.launch("worker")
    with redis.Redis.from_url(site.environment["REDIS_URL"]) as broker:
        wait_until(lambda: broker.llen(Queue.FIRST), seconds=40, site=site)  # its own sweep waits for somebody else
        site.launch("first")
        wait_until(lambda: names_done() == set(routines), seconds=40, site=site)
    site.stop("first")
    # Later work for the queue whose worker has gone waits; other queues go on.
    site.rows("UPDATE jobs_routine SET due_at = now() - interval '1 minute' RETURNING name")
    site.manage("shell", "-c", "from jobs.tasks import send; from jobs.models import Routine; [send(one) for one in Routine.objects.all()]")
    elsewhere = {kind for kind, queue in routines.items() if queue != Queue.FIRST}
    wait_until(lambda: names_done() == elsewhere, seconds=20, site=site)
    time.sleep(1)
    assert names_done() == elsewhere


def values_of(routines: dict[str, Queue]) -> str:
    return ", ".join(f"('{name}', now() - interval '1 minute', 0, '')" for name in routines)


def test_two_beats_send_one_message_for_each_period_and_the_second_takes_over(site: Site) -> None:
    site.commands |= {"one": ["-c", BEAT], "other": ["-c", BEAT]}
    site.launch("one")
    site.launch("other")
    with redis.Redis.from_url(site.environment["REDIS_URL"]) as broker:

        def sent_at(number: int) -> float:
            wait_until(lambda: broker.llen(Queue.FIRST) >= number, seconds=30 if number == 1 else 2 * PERIOD + 2, site=site)
            assert broker.llen(Queue.FIRST) == number
            return time.monotonic()

        times = [sent_at(number) for number in range(1, 5)]
        assert all(later - earlier > PERIOD - 1.3 for earlier, later in pairwise(times))
        site.kill("one")
        times = [sent_at(number) for number in range(5, 7)]
        assert times[1] - times[0] > PERIOD - 1.3
        site.launch("one")
        sent_at(7)
        site.kill("other")
        sent_at(8)


def test_every_kind_waits_in_a_queue_and_only_one_queue_goes_out() -> None:
    assert {job.queue for job in JOBS.values()} == set(Queue)
    assert {kind for kind, job in JOBS.items() if job.queue == Queue.MAIL} == GO_OUT


@pytest.mark.parametrize(
    ("text", "queues"),
    [("", tuple(Queue)), (" , ", tuple(Queue)), ("files", (Queue.FILES,)), (" mail,first, mail ", (Queue.FIRST, Queue.MAIL))],
)
def test_queues_are_named_with_commas_between_them(text: str, queues: tuple[Queue, ...]) -> None:
    assert queues_in(text) == queues


def test_a_queue_that_does_not_exist_is_named() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"CANDOR_QUEUES: expected some of first, bootstrap, files, mail, .*found 'fast'"):
        queues_in("first,fast")
