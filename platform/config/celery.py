"""The Celery app; its settings are Django's `CELERY_*`. Production unless the environment says otherwise, like wsgi."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.production")

app = Celery("candor")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
