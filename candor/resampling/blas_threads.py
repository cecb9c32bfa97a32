"""Let one thread of ours be one thread of the machine: keep the linear algebra library from starting its own crowd."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module

_lock = threading.Lock()
_users = 0
_threads_before = 1


@cache
def _openblas() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """The getter and the setter of the OpenBLAS that NumPy is linked with; None for any other library."""
    library = ctypes.CDLL(import_module("numpy._core._multiarray_umath").__file__)
    for prefix in ("scipy_", ""):
        for suffix in ("64_", ""):
            try:
                return (
                    getattr(library, f"{prefix}openblas_get_num_threads{suffix}"),
                    getattr(library, f"{prefix}openblas_set_num_threads{suffix}"),
                )
            except AttributeError:
                continue
    return None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold the linear algebra library at one thread, for the whole process, until the last user of this context leaves.

    Code that spreads its own work over threads gets slower, not faster, when each of them opens a pool. With another library than
    OpenBLAS nothing happens, which costs time and never changes a result.
    """
    global _users, _threads_before
    control = _openblas()
    if control is None:
        yield
        return
    get_threads, set_threads = control
    with _lock:
        if _users == 0:
            _threads_before = get_threads()
            set_threads(1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                set_threads(_threads_before)
