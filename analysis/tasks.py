"""Background tasks; each calls the runner and is harmless when delivered twice."""

import os

from celery import shared_task

from analysis.models import Run, RunKind, RunStatus
from analysis.runs import runner
from analysis.runs.outdated import recompute_outdated

AGAIN_SECONDS = 1.0
# People wait for first results: they go before the bootstrap of all, which takes longer. Redis knows 0 (first) to 9 (last).
PRIORITY = {RunKind.FIRST_RESULTS: 0, RunKind.FULL_RESULTS: 6}
LAST = 9
LOOK_AGAIN_SECONDS = 5.0
LANES = max(1, min(4, (os.cpu_count() or 1) - 1))
"""How many workers may compute one study's bootstrap at once: all but one, which stays free for first results.

Each takes one chunk after the other, so that quick work comes in between.
"""


@shared_task(name="analysis.tasks.refresh")
def refresh(run_id: int) -> None:
    """Compute a queued run; wait if another one of its study is under way, but not for a worker that fell silent."""
    run = runner.claim(run_id)
    if run is not None:
        runner.execute(run)
        if run.kind == RunKind.FULL_RESULTS:
            for _lane in range(LANES):
                resample.apply_async(args=(run_id,), priority=LAST)
    elif Run.objects.filter(pk=run_id, status=RunStatus.QUEUED).exists():
        runner.take_over()
        refresh.apply_async(args=(run_id,), countdown=AGAIN_SECONDS)


@shared_task(name="analysis.tasks.resample")
def resample(run_id: int) -> None:
    """Compute one chunk of a run's bootstrap, and queue up for the next."""
    from analysis.runs import resampling  # SciPy, which web processes can do without

    if resampling.compute_next(run_id):
        resample.apply_async(args=(run_id,), priority=LAST)
    elif resampling.others_compute(run_id):
        resample.apply_async(args=(run_id,), countdown=LOOK_AGAIN_SECONDS, priority=LAST)


@shared_task(name="analysis.tasks.sweep")
def sweep() -> None:
    """Restart runs that the broker forgot or killed workers left behind, and queue what an older version computed."""
    recompute_outdated()
    for run_id, seconds in runner.recover():
        refresh.apply_async(args=(run_id,), countdown=seconds)
    for run_id in runner.without_a_sign():
        resample.apply_async(args=(run_id,), priority=LAST)
