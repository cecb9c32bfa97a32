"""Nested and simultaneous users hold the linear algebra at one thread and give it back."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import candor
from candor.packages import replicate
from candor.regression import trait_regression
from candor.resampling import blas_threads
from candor.resampling.blas_threads import single_threaded_blas
from candor.studies import estimates


@pytest.fixture
def library(monkeypatch):
    """A linear algebra library that runs four threads."""
    state = {"threads": 4}
    monkeypatch.setattr(blas_threads, "_openblas", lambda: (lambda: state["threads"], lambda threads: state.update(threads=threads)))
    return state


def test_the_last_of_nested_users_gives_the_threads_back(library):
    with single_threaded_blas():
        with single_threaded_blas():
            assert library["threads"] == 1
        assert library["threads"] == 1
    assert library["threads"] == 4


def test_users_in_two_threads_may_leave_in_any_order(library):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with single_threaded_blas():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with single_threaded_blas():
        thread.start()
        assert inside.wait(60)
    assert library["threads"] == 1
    leave.set()
    thread.join(60)
    assert library["threads"] == 4


def test_an_error_gives_the_threads_back_too(library):
    with pytest.raises(ZeroDivisionError), single_threaded_blas():
        raise ZeroDivisionError
    assert library["threads"] == 4


def test_the_library_of_this_machine_still_multiplies_whether_it_can_be_held_or_not():
    matrix = np.random.default_rng(1).normal(size=(200, 200))
    with single_threaded_blas():
        control = blas_threads._openblas()
        assert control is None or control[0]() == 1
        held = matrix @ matrix
    np.testing.assert_allclose(held, matrix @ matrix)


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(blas_threads, "_openblas", lambda: None)
    with single_threaded_blas():
        assert blas_threads._users == 0


def test_the_command_computes_with_one_thread():
    """It loads NumPy after this module."""
    program = "import candor.cli; from candor.resampling.blas_threads import _openblas; print(_openblas()[0]())"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


@pytest.mark.parametrize(
    ("module", "first", "compute"),
    [
        (estimates, "read_design", lambda tmp_path: candor.estimate({}, {})),
        (trait_regression, "read_design", lambda tmp_path: candor.regress({}, {})),
        (replicate, "json_in", lambda tmp_path: replicate.main(tmp_path)),
    ],
    ids=["estimate", "regress", "replicate"],
)
def test_the_library_computes_with_one_thread_of_a_notebook(module, first, compute, library, monkeypatch, tmp_path):
    seen = []

    def stop(*args, **options):
        seen.append(library["threads"])
        raise ZeroDivisionError

    (tmp_path / "results.json").write_text("{}")
    monkeypatch.setattr(module, first, stop)
    with pytest.raises(ZeroDivisionError):
        compute(tmp_path)
    assert seen == [1]
    assert library["threads"] == 4
