"""Traces of work: what a worker does about the kinds that `config.traces.safe` names."""

from celery.signals import task_postrun, task_prerun, worker_process_shutdown
from celery.states import SUCCESS

from config.traces.safe import JOBS
from config.traces.spans import NOW, begin_work_of, provider, time_statements
from jobs.tasks import work


def start_tracing() -> None:
    """From now on, this process traces. Nothing else starts it."""
    time_statements()
    task_prerun.connect(begin_work)
    task_postrun.connect(end_work)
    worker_process_shutdown.connect(send_the_rest)


def begin_work(*, sender: object, args: tuple[str, ...], **_others: object) -> None:
    if sender == work and args[0] in JOBS:
        begin_work_of(args[0])


def end_work(*, state: str, **_others: object) -> None:
    if NOW.trace is not None:
        NOW.trace.end(failed=state != SUCCESS)
        NOW.trace = None


def send_the_rest(**_others: object) -> None:
    """Send what waits to be sent: a process is about to end."""
    provider().force_flush()
