"""Another computer that answers drop by drop is left alone when the time is over, in whatever it is slow."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpcore
import pytest

from webhooks import sending
from webhooks.deadlines import Deadline, TimedNetwork

HEAD = b"HTTP/1.1 200 OK\r\nX-Long: "


@contextmanager
def speaking(say: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """A server that takes one connection and then does as it likes; the address of it."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            taken, _address = server.accept()
            with taken:
                try:
                    say(taken, over)
                except OSError:
                    return

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            over.set()
            thread.join()


def dripping(beginning: bytes) -> Callable[[socket.socket, threading.Event], None]:
    def say(taken: socket.socket, over: threading.Event) -> None:
        taken.recv(1000)
        taken.sendall(beginning)
        while not over.wait(0.02):
            taken.sendall(b"x")

    return say


def drinking(taken: socket.socket, over: threading.Event) -> None:
    """Takes what is sent, a little at a time."""
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    while not over.wait(0.02):
        taken.recv(1000)


@pytest.mark.parametrize(
    ("say", "error", "size"),
    [
        (dripping(HEAD), httpcore.ReadTimeout, 1),
        (dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), httpcore.ReadTimeout, 1),
        (dripping(b""), httpcore.ReadTimeout, 1),
        (drinking, httpcore.WriteTimeout, 20_000_000),
    ],
    ids=["its head", "its content", "its first line", "taking a file"],
)
def test_an_exchange_ends_with_its_time(
    say: Callable[[socket.socket, threading.Event], None], error: type[Exception], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "IN_ALL", 0.4)
    begin = time.monotonic()
    with speaking(say) as address, pytest.raises(error):
        sending.exchange("POST", address, headers={"Host": "here"}, body=b"x" * size, private_is_allowed=True)
    assert time.monotonic() - begin < 5


def test_nothing_is_begun_after_the_last_moment() -> None:
    network = TimedNetwork(httpcore.SyncBackend(), Deadline(0))
    with pytest.raises(httpcore.ConnectTimeout):
        network.connect_tcp("127.0.0.1", 9, 1.0)


def test_a_part_has_its_usual_time_or_what_is_left() -> None:
    deadline = Deadline(10)
    assert deadline.within(2.0, httpcore.ReadTimeout) == 2.0
    assert 9 < deadline.within(None, httpcore.ReadTimeout) <= 10
    assert 9 < deadline.within(60.0, httpcore.ReadTimeout) <= 10
    assert not deadline.is_over
    assert Deadline(0).is_over
