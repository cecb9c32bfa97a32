"""The hash of a request's body, taken while the view reads it, so that a large file is neither held in memory nor stored twice."""

import hashlib
from typing import BinaryIO, cast

from django.http import HttpRequest

CHUNK = 1024**2


class HashedBody:
    """Stands between the web server's stream and the request.

    The boundary between the parts of a form is left out: programs draw another one whenever they make the same request again.
    """

    def __init__(self, request: HttpRequest) -> None:
        self._stream = request._stream  # Django reads all bodies from here
        self._hash, self._unhashed = hashlib.sha256(), b""
        self._boundary = (request.content_params or {}).get("boundary", "").encode()
        request._stream = cast(BinaryIO, self)

    def read(self, *size: int) -> bytes:
        return self._seen(self._stream.read(*size))

    def readline(self, *size: int) -> bytes:
        return self._seen(self._stream.readline(*size))

    def close(self) -> None:
        """The web server closes its stream; the rest of the body may still have to be hashed."""

    def digest(self) -> bytes:
        """The hash of the whole body, whatever part of it was read."""
        while self.read(CHUNK):
            pass
        whole = self._hash.copy()
        whole.update(self._unhashed)
        return whole.digest()

    def _seen(self, part: bytes) -> bytes:
        known = self._unhashed + part
        if self._boundary:
            known = known.replace(self._boundary, b"")
            last = max(len(known) - len(self._boundary) + 1, 0)  # a boundary may have begun after this
        else:
            last = len(known)
        self._hash.update(known[:last])
        self._unhashed = known[last:]
        return part
