"""Tests stand deep in the stack, and no depth makes their calls expensive."""

import _thread
import resource
from collections.abc import Callable
from queue import Queue

from tests.call_stack import in_one_chunk

DEPTHS, CALLS = 300, 200


def nothing() -> None:
    pass


def called_at(depth: int) -> None:
    if depth:
        called_at(depth - 1)
    else:
        for _ in range(CALLS):
            nothing()


def most_faults(call: Callable[[int], None]) -> int:
    """The most page faults of as many calls, at any depth."""
    found = []
    for depth in range(DEPTHS):
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        call(depth)
        found.append(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before)
    return max(found)


def test_at_no_depth_do_calls_take_memory_from_the_system() -> None:
    assert most_faults(called_at) < CALLS / 2


def test_without_one_chunk_they_do() -> None:
    """This is the negative control: from a thread that was not begun by `threading`, whose stack is in pieces."""
    found: Queue[tuple[int, int]] = Queue()
    _thread.start_new_thread(lambda: found.put((most_faults(called_at), most_faults(in_one_chunk(called_at)))), ())
    in_pieces, in_one = found.get(timeout=60)
    assert in_one < CALLS / 2 < in_pieces
