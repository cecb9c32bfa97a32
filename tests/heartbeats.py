"""Waits for the heartbeats of a long computation."""

import threading
import time
from contextlib import closing, nullcontext
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone


def wait_for_a_beat(mine: QuerySet[Any], field: str) -> None:
    """Return as soon as a heartbeat has renewed the one row's `field`; the computation may call this in a thread of its own."""
    long_ago = timezone.now() - timedelta(hours=1)
    with closing(connection) if threading.current_thread() is not threading.main_thread() else nullcontext():
        mine.update(**{field: long_ago})
        deadline = time.monotonic() + 60
        while mine.values_list(field, flat=True).get() == long_ago:
            assert time.monotonic() < deadline, "nothing was heard of the worker"
            time.sleep(0.02)
