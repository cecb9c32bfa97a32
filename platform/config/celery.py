"""The Celery app; its settings are Django's `CELERY_*`. Production unless the environment says otherwise, like wsgi."""

import os

from celery import Celery
from celery.apps.worker import Worker
from celery.signals import celeryd_after_setup, setup_logging, worker_shutdown
from django.conf import settings

from config.heartbeat import SweepAtStart, WorkerHeartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")
os.environ.update(CELERY_SKIP_CHECKS="1")  # a worker's start would check, and so load, every page; `migrate` and the tests check

app = Celery("candor")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].update({WorkerHeartbeat, SweepAtStart})


@celeryd_after_setup.connect
def take_named_queues(instance: Worker, **kwargs: object) -> None:
    """A worker takes the queues that CANDOR_QUEUES names, or all."""
    instance.app.amqp.queues.select([str(queue) for queue in settings.WORKER_QUEUES])


@setup_logging.connect
def keep_logging(**kwargs: object) -> None:
    """Django's LOGGING holds for worker and beat too: having a receiver here keeps Celery from setting up its own."""


@worker_shutdown.connect
def hide_who_came_last(**kwargs: object) -> None:
    """A stopping worker hides the order of those who came since the last full hour."""
    from surveys.tasks import leave_no_order  # needs the applications, which need this module

    leave_no_order()
