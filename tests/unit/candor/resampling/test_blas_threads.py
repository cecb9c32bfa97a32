"""Nested and simultaneous users hold the linear algebra at one thread and give it back."""

import threading

import numpy as np
import pytest

from candor.resampling import blas_threads
from candor.resampling.blas_threads import single_threaded_blas


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
