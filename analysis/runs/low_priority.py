"""Lets the web server, the database and quick results go first on processors shared with long computations."""

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

    The thread is separate because only the superuser may raise a priority again. Where the worker is a thread of the web server itself,
    priorities stay: all would wait for the interpreter's lock while its holder gives way. Only Linux has priorities of threads.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return work(*args, **kwargs)
    with ThreadPoolExecutor(1, thread_name_prefix="low priority", initializer=_give_way) as thread:
        return thread.submit(work, *args, **kwargs).result()


def _give_way() -> None:
    with suppress(OSError):  # a sandbox may forbid it; then the work only competes more
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
