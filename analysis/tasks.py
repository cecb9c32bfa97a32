"""What workers do; each is another way to call the runner, and harmless when it comes twice."""

from celery import shared_task

from analysis import runner
from analysis.models import Run, RunStatus

AGAIN_SECONDS = 1.0


@shared_task(name="analysis.tasks.refresh")
def refresh(run_id: int) -> None:
    """Compute a queued run; wait if another one of its study is under way, but not for a worker that fell silent."""
    run = runner.claim(run_id)
    if run is not None:
        runner.execute(run)
    elif Run.objects.filter(pk=run_id, status=RunStatus.QUEUED).exists():
        runner.take_over()
        refresh.apply_async(args=(run_id,), countdown=AGAIN_SECONDS)


@shared_task(name="analysis.tasks.sweep")
def sweep() -> None:
    """Find what the broker forgot and what killed workers left behind, and start it again."""
    for run_id in runner.recover():
        refresh.delay(run_id)
