"""The last application of the list: when it is ready, all applications are loaded."""

import gc
from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from config.starting.libraries import left_out

with left_out("requests", "pygments", "markdown", "django.contrib.postgres.fields"):
    import_module("rest_framework.compat")


class StartingConfig(AppConfig):
    name = "config.starting"
    label = "starting"

    def ready(self) -> None:
        if settings.TRACES:
            from config.traces.work import start_tracing

            start_tracing()
        end_of_start()


def end_of_start() -> None:
    """Look for garbage again, which the settings stop, but never among all that was loaded by now: it stays as long as the process."""
    gc.freeze()
    gc.enable()
