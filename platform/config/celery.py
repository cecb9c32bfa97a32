"""The Celery app; its settings are Django's `CELERY_*`. Production unless the environment says otherwise, like wsgi."""

import os

from celery import Celery
from celery.apps.worker import Worker
from celery.signals import celeryd_after_setup, setup_logging, task_prerun, worker_shutdown
from django.conf import settings
from django.db import close_old_connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

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


@celeryd_after_setup.connect
def keep_connections(**kwargs: object) -> None:
    """A task uses the connection of the one before, if it still works. A new one costs PostgreSQL more than most tasks do."""
    connection_created.connect(_check_before_each_task)
    task_prerun.connect(_begin_task)


def _check_before_each_task(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    connection.health_check_enabled = True  # type: ignore[attr-defined]


def _begin_task(**kwargs: object) -> None:
    close_old_connections()


@setup_logging.connect
def keep_logging(**kwargs: object) -> None:
    """Django's LOGGING holds for worker and beat too: having a receiver here keeps Celery from setting up its own."""


@worker_shutdown.connect
def hide_who_came_last(**kwargs: object) -> None:
    """A stopping worker hides the order of those who came since the last full hour."""
    from surveys.tasks import leave_no_order  # needs the applications, which need this module

    leave_no_order()
