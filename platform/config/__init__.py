"""The Django project: settings, addresses, the Celery app. Importing it loads the Celery app, so that `shared_task` finds it."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
