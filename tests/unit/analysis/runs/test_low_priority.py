"""Long computations give way; people who wait for them do not."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from analysis.runs.low_priority import at_low_priority


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_only_the_work_itself_gives_way() -> None:
    before = priority()
    assert (at_low_priority(priority) > before) == (sys.platform == "linux" and before < 19)
    assert priority() == before


def test_a_thread_of_the_web_server_does_not_give_way() -> None:
    before = priority()
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(at_low_priority, priority).result() == before


def test_an_error_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        at_low_priority(divmod, 1, 0)
