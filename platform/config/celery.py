"""The Celery app; its settings are Django's `CELERY_*`. Production unless the environment says otherwise, like wsgi."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_ready

from config.heartbeat import WorkerHeartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")

app = Celery("candor")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add(WorkerHeartbeat)

SWEEP = "analysis.tasks.sweep"


@worker_ready.connect
def sweep_at_start(**kwargs: Any) -> None:
    """Take up what a killed worker left, at once and not at beat's next minute."""
    app.send_task(SWEEP)


@setup_logging.connect
def keep_logging(**kwargs: Any) -> None:
    """Django's LOGGING holds for worker and beat too: having a receiver here keeps Celery from setting up its own."""
