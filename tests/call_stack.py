"""Calls that need no memory from the system, however deep they are.

CPython keeps the frames of a thread in chunks of 16 kB. Where a loop calls a function just beyond the end of one, each call takes a chunk
from the system and gives it back, which costs a page fault and as much time as a small query: tests stand deep in the stack already, and
an audit had two million of them, a third of its processor time. A frame that wants much room makes CPython take one large chunk, and the
frames after it lie in the rest of that.
"""

import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import pytest
from _pytest import runner

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
SLOTS = 70_000
"""A frame of 560 kB. CPython takes a power of two, a megabyte; no memory is used before a frame lies on it."""


def in_one_chunk(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function, below which some thousand calls find room in one chunk."""

    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        return function(*arguments, **named)

    call.__code__ = call.__code__.replace(co_stacksize=SLOTS)
    return call


def keep_in_one_chunk() -> None:
    """Let each test with its fixtures, and each thread, have a chunk of its own."""
    patch = pytest.MonkeyPatch()
    patch.setattr(runner, "runtestprotocol", in_one_chunk(runner.runtestprotocol))
    patch.setattr(threading.Thread, "run", in_one_chunk(threading.Thread.run))
