"""A last moment for all that is said to another computer: with patience for each part alone, one that answers drop by drop never ends."""

import time
from collections.abc import Iterable
from ssl import SSLContext

import httpcore

PART = 16 * 1024
"""So much is sent before somebody looks at the time."""


class Deadline:
    """A moment after which nothing is sent and nothing read."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    def within(self, seconds: float | None, error: type[httpcore.TimeoutException]) -> float:
        """How long one part may take: the usual time or, if that is less, what is left."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise error("the last moment has passed")
        return left if seconds is None else min(seconds, left)


class TimedNetwork(httpcore.NetworkBackend):
    """Another network, until the deadline."""

    def __init__(self, network: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._network, self._deadline = network, deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        seconds = self._deadline.within(timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._network.connect_tcp(host, port, seconds, local_address, socket_options), self._deadline)


class _TimedStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.within(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for first in range(0, len(buffer), PART):
            self._stream.write(buffer[first : first + PART], self._deadline.within(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        seconds = self._deadline.within(timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, seconds), self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
