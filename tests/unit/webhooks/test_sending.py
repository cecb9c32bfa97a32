"""A process that sends messages does some things once, and not with each of them."""

import socket
import ssl
import threading
from typing import Any

import httpcore
import pytest

from webhooks import sending


def test_a_process_reads_the_certificates_once_for_all_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two messages to a server that hangs up when the encryption begins: each read all authorities again."""
    made = []
    create = ssl.create_default_context

    def counted(*given: Any, **named: Any) -> ssl.SSLContext:
        made.append(named)
        return create(*given, **named)

    monkeypatch.setattr(ssl, "create_default_context", counted)
    sending.trusted.cache_clear()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            for _message in range(2):
                server.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        for _message in range(2):
            with pytest.raises(httpcore.NetworkError):
                sending.post(f"https://127.0.0.1:{server.getsockname()[1]}/", headers={}, body=b"{}", private_is_allowed=True)
        thread.join()
    assert made == [{}]
