"""Nested and simultaneous users hold the linear algebra at one thread and give it back."""

import threading

from analysis.methods.blas_threads import _openblas, single_threaded_blas


def test_the_last_user_gives_the_threads_back():
    get_threads, set_threads = _openblas()
    before = get_threads()
    try:
        set_threads(2)
        with single_threaded_blas():
            with single_threaded_blas():
                assert get_threads() == 1
            assert get_threads() == 1
        assert get_threads() == 2
    finally:
        set_threads(before)


def test_users_in_two_threads_may_leave_in_any_order():
    get_threads, set_threads = _openblas()
    before = get_threads()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with single_threaded_blas():
            inside.set()
            leave.wait(5)

    try:
        set_threads(2)
        thread = threading.Thread(target=other)
        with single_threaded_blas():
            thread.start()
            assert inside.wait(5)
        assert get_threads() == 1
        leave.set()
        thread.join(5)
        assert get_threads() == 2
    finally:
        set_threads(before)
