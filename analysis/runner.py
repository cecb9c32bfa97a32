"""The life of a run: queued, claimed by one worker, computed, done. Every step may be repeated after a crash without harm."""

import logging
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from analysis.datasets import cell_counts
from analysis.methods.errors import MethodError
from analysis.models import Run, RunStatus
from surveys.definition import StudyDefinition
from surveys.models import Study
from surveys.protocols import frozen_protocol

METHOD_VERSION = "1"
FIRST_RESULTS = "first_results"
DEBOUNCE = timedelta(seconds=1)
SILENCE = timedelta(seconds=20)
MOST_ATTEMPTS = 5

logger = logging.getLogger(__name__)


def queue_run(study_id: int, *, kind: str = FIRST_RESULTS) -> Run | None:
    """Ask for a computation that will see everything committed until it starts. None: one is waiting already, and will do."""
    if Run.objects.filter(study_id=study_id, kind=kind, status=RunStatus.QUEUED).exists():
        return None
    try:
        with transaction.atomic():
            return Run.objects.create(study_id=study_id, kind=kind, due_at=timezone.now() + DEBOUNCE)
    except IntegrityError:
        return None


def claim(run_id: int) -> Run | None:
    """Take a queued run for this worker. None: it was taken before, or another run of the study is still under way."""
    try:
        with transaction.atomic():
            run = Run.objects.select_related("study").select_for_update(of=("self",)).filter(pk=run_id, status=RunStatus.QUEUED).first()
            if run is None:
                return None
            run.status, run.due_at, run.attempts = RunStatus.RUNNING, timezone.now(), run.attempts + 1
            run.save(update_fields=("status", "due_at", "attempts"))
            return run
    except IntegrityError:
        return None


def execute(run: Run) -> None:
    """Compute and store. An expected error becomes part of the result; a bug fails the run and is raised."""
    try:
        definition = frozen_protocol(run.study.protocol_id or 0).definition
        run.results = first_results(run.study, definition)
    except Exception as error:
        _finish(run, RunStatus.FAILED, error=f"{type(error).__name__}: {error}")
        raise
    run.n = run.results["n"]
    _finish(run, RunStatus.DONE)


def first_results(study: Study, definition: StudyDefinition) -> dict[str, Any]:
    """Per question the cheater proportion and the effects with their intervals, as JSON values."""
    from analysis.methods.effects import estimate_outcome  # SciPy, which web processes can do without

    design = definition.design()
    outcomes: dict[str, Any] = {}
    n = 0
    for question, counts in cell_counts(study, definition).items():
        n = max(n, int(counts.sum()))
        try:
            outcomes[question] = asdict(estimate_outcome(counts, design=design))
        except MethodError as error:
            outcomes[question] = {"n": int(counts.sum()), "not_yet": str(error)}
    return {"n": n, "design": design.to_document(), "outcomes": outcomes}


def take_over(*, silence: timedelta = SILENCE) -> None:
    """Take runs away from workers of whom nothing was heard for this long."""
    now = timezone.now()
    for run in Run.objects.filter(status=RunStatus.RUNNING, due_at__lte=now - silence):
        try:
            with transaction.atomic():
                left = Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, due_at=run.due_at)
                if run.attempts < MOST_ATTEMPTS:
                    left.update(status=RunStatus.QUEUED, due_at=now)
                else:
                    error = f"Given up after {run.attempts} workers fell silent."
                    left.update(status=RunStatus.FAILED, due_at=None, error=error, finished_on=timezone.localdate())
        except IntegrityError:  # a newer request waits already and will see everything
            Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).update(status=RunStatus.SUPERSEDED, due_at=None)
        logger.warning("A run of kind %s was left by its worker and has been taken over", run.kind)


def recover() -> list[int]:
    """Take over what was left, and name all runs that are due: they may have been lost by the broker."""
    take_over()
    return list(Run.objects.filter(status=RunStatus.QUEUED, due_at__lte=timezone.now()).values_list("pk", flat=True))


def _finish(run: Run, status: RunStatus, *, error: str = "") -> None:
    """The clock time goes; only the day stays."""
    Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, attempts=run.attempts).update(
        status=status,
        due_at=None,
        n=run.n,
        results=run.results,
        error=error[:2000],
        method_version=METHOD_VERSION,
        finished_on=timezone.localdate(),
    )
