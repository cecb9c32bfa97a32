"""Asking for computations."""

import logging
from typing import Any

from kombu.exceptions import OperationalError

from analysis import runner, tasks

logger = logging.getLogger(__name__)


def request_refresh(study_id: int) -> None:
    """See to it that the study's results take in what is committed by now. Many requests within a second become one computation."""
    run = runner.queue_run(study_id)
    if run is None:
        return
    try:
        tasks.refresh.apply_async(args=(run.pk,), countdown=runner.DEBOUNCE.total_seconds(), retry=False)
    except OperationalError:  # the run stands in the database; the sweep will find it when the broker is back
        logger.warning("The broker is away; a run waits for the sweep")


def refresh_when_answers_change(sender: Any, *, study_id: int, **kwargs: Any) -> None:
    request_refresh(study_id)
