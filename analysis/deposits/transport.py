"""The way of a request to a service and of its answer back, until a deadline. Workers load this; web processes can do without."""

from functools import cache
from ssl import SSLContext

import httpcore
import httpx

from webhooks.deadlines import Deadline, TimedNetwork

MOST_BYTES = 20_000_000
"""More than any answer of a service has."""


@cache
def trusted() -> SSLContext:
    """The authorities whose certificates count. A process reads them once: that costs more than a request."""
    return httpx.create_ssl_context(trust_env=False)


class TimedTransport(httpx.BaseTransport):
    """Sends over connections that end at the deadline, and reads no more than `MOST_BYTES`."""

    def __init__(self, deadline: Deadline) -> None:
        network = TimedNetwork(httpcore.SyncBackend(), deadline)
        self._pool = httpcore.ConnectionPool(ssl_context=trusted(), network_backend=network)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port, target=request.url.raw_path)
        asked = httpcore.Request(request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions)
        try:
            answer = self._pool.handle_request(asked)
            try:
                content = b""
                for part in answer.iter_stream():
                    content += part
                    if len(content) > MOST_BYTES:
                        raise httpx.ReadError("endless answer")
            finally:
                answer.close()
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
            raise _as_of_httpx(error) from error
        return httpx.Response(answer.status, headers=answer.headers, content=content)

    def close(self) -> None:
        self._pool.close()


def _as_of_httpx(error: Exception) -> httpx.TransportError:
    """The error of the same name, which people are told."""
    kind = getattr(httpx, type(error).__name__, httpx.NetworkError)
    return kind(str(error)) if issubclass(kind, httpx.TransportError) else httpx.NetworkError(str(error))
