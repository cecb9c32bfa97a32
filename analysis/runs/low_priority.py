"""Long computations that let the web server, the database and quick results go first on the processors that they share."""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

NICENESS = 10
P = ParamSpec("P")
T = TypeVar("T")


def at_low_priority(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread that gives way to other processes, and return its result. It must not touch the database.

    A thread of its own, because nobody but the superuser may take a priority back. Not where the worker is a thread of the web server
    itself: all would wait for the interpreter's lock while its holder gives way. Other systems than Linux know no priority of a thread.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return work(*args, **kwargs)
    with ThreadPoolExecutor(1, thread_name_prefix="low priority", initializer=_give_way) as thread:
        return thread.submit(work, *args, **kwargs).result()


def _give_way() -> None:
    with suppress(OSError):  # a sandbox may forbid it; then the work is only less polite
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
