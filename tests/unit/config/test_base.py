"""The settings of every installation."""

import os
import subprocess
import sys

import pytest

import tests.processes

PROGRAM = "import os, django; django.setup(); print(len(os.listdir('/proc/self/task')))"


@pytest.mark.parametrize(("asked", "expected"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, min(2, os.cpu_count() or 1))])
def test_a_process_computes_in_one_thread_unless_somebody_asks_for_more(asked: dict[str, str], expected: int) -> None:
    """Threads of two processes that share two processors wait for each other: searches over two numbers took forty times as long."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings.test", "PYTHONPATH": tests.processes.path_of(tests.processes.ROOT)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment | asked, capture_output=True, text=True, check=True)
    assert int(done.stdout) == expected
