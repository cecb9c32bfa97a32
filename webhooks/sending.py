"""One message over HTTP: to a checked address, without redirections and with little patience; and the signatures of webhooks."""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from functools import cache
from ssl import SSLContext

import httpcore

from webhooks.addresses import resolve
from webhooks.deadlines import Deadline, TimedNetwork

MOST_BYTES = 200_000
"""More than any answer that is read has."""
SECONDS = {"connect": 5.0, "write": 5.0, "read": 5.0, "pool": 5.0}
IN_ALL = 20.0
"""The patience for a whole exchange."""


@cache
def trusted() -> SSLContext:
    """The authorities whose certificates count, the system's and the usual ones. A process reads them once."""
    return httpcore.default_ssl_context()


class CheckedNetwork(httpcore.NetworkBackend):
    """Connects to the very address that was checked, so that a name cannot mean another computer a moment later."""

    def __init__(self, *, private_is_allowed: bool) -> None:
        self._private_is_allowed = private_is_allowed
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        number = resolve(host, port, private_is_allowed=self._private_is_allowed)
        return self._network.connect_tcp(number, port, timeout=timeout, local_address=local_address, socket_options=socket_options)


def signature(key: bytes, *, message_id: str, timestamp: str, body: bytes) -> str:
    """As Standard Webhooks signs: HMAC-SHA256 over the message's number, its time stamp and its body, joined by full stops, in base64."""
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def signature_as_before(secret: str, *, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over the time stamp, a full stop and the body, in hexadecimal digits: for programs from before Standard Webhooks."""
    return "v1=" + hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def post(address: str, *, headers: dict[str, str], body: bytes, private_is_allowed: bool) -> int:
    """The status of the answer, whose content is not read."""
    return exchange("POST", address, headers=headers, body=body, private_is_allowed=private_is_allowed, most_bytes=0)[0]


def exchange(
    method: str, address: str, *, headers: dict[str, str], body: bytes, private_is_allowed: bool, most_bytes: int = MOST_BYTES
) -> tuple[int, bytes]:
    """The status of the answer, and its content as far as `most_bytes`."""
    network = TimedNetwork(CheckedNetwork(private_is_allowed=private_is_allowed), Deadline(IN_ALL))
    with (
        httpcore.ConnectionPool(ssl_context=trusted(), network_backend=network, retries=0) as pool,
        pool.stream(method, address, headers=list(headers.items()), content=body, extensions={"timeout": SECONDS}) as answer,
    ):
        content = b""
        for part in answer.iter_stream() if most_bytes else ():
            content += part
            if len(content) > most_bytes:
                break
        return answer.status, content[:most_bytes]
