"""Send a stored file so that a browser can seek in it: RFC 9110 byte ranges, which Django's FileResponse ignores.

Behind nginx (settings.MEDIA_ACCEL_PREFIX) the response is empty and names the file to nginx, which then does all of this itself.
A file that lies elsewhere comes in parts that somebody else opens.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseNotModified, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import parse_etags

CHUNK_BYTES = 64 * 1024
# The address is an opaque token of one unchanging file, sent to one participant.
CACHE_CONTROL = "private, max-age=86400, immutable"

_ONE_RANGE = re.compile(r"bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*", re.ASCII | re.IGNORECASE)


class UnsatisfiableRangeError(ValueError):
    """The range is well formed, and no byte of the file lies in it."""


class Part(Protocol):
    """The bytes between two positions, in chunks; the server closes it."""

    def __iter__(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


def ranged_file_response(request: HttpRequest, path: Path | str, *, content_type: str, etag: str) -> HttpResponseBase:
    """The file at `path` below MEDIA_ROOT, or the requested part; `etag` without quotes changes with every byte (its SHA-256)."""
    path = Path(path)
    if settings.MEDIA_ACCEL_PREFIX and request.method in {"GET", "HEAD"}:
        return _handed_to_nginx(path, content_type=content_type)
    return ranged_parts_response(
        request, size=path.stat().st_size, part_of=lambda part: FilePart(path, part), content_type=content_type, etag=etag
    )


def ranged_parts_response(
    request: HttpRequest, *, size: int, part_of: Callable[[range], Part], content_type: str, etag: str
) -> HttpResponseBase:
    """The same for a file of so many bytes, whose parts `part_of` opens."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    tag = f'"{etag}"'
    headers = {"Accept-Ranges": "bytes", "Cache-Control": CACHE_CONTROL, "ETag": tag}
    if not _still_matches(request, tag):
        return HttpResponse(status=HTTPStatus.PRECONDITION_FAILED)
    if _browser_has_it(request, tag):
        return HttpResponseNotModified(headers=headers)
    if request.method == "HEAD":  # ranges are defined for GET alone
        return HttpResponse(content_type=content_type, headers={**headers, "Content-Length": str(size)})
    try:
        part = _range_asked_for(request, size=size, tag=tag)
    except UnsatisfiableRangeError:
        return HttpResponse(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers={**headers, "Content-Range": f"bytes */{size}"})
    status = HTTPStatus.OK
    if part is None:
        part = range(size)
    else:
        status = HTTPStatus.PARTIAL_CONTENT
        headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
    return StreamingHttpResponse(
        part_of(part), status=status, content_type=content_type, headers={**headers, "Content-Length": str(len(part))}
    )


def ranged_response(request: HttpRequest, content: bytes, *, content_type: str, etag: str) -> HttpResponse:
    """The same for bytes that are at hand."""
    size, tag = len(content), f'"{etag}"'
    headers = {"Accept-Ranges": "bytes", "ETag": tag}
    if not _still_matches(request, tag):
        return HttpResponse(status=HTTPStatus.PRECONDITION_FAILED)
    if _browser_has_it(request, tag):
        return HttpResponseNotModified(headers=headers)
    try:
        part = _range_asked_for(request, size=size, tag=tag) if request.method == "GET" else None
    except UnsatisfiableRangeError:
        return HttpResponse(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, headers={**headers, "Content-Range": f"bytes */{size}"})
    if part is None:
        return HttpResponse(content, content_type=content_type, headers=headers)
    headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
    return HttpResponse(content[part.start : part.stop], status=HTTPStatus.PARTIAL_CONTENT, content_type=content_type, headers=headers)


def byte_range(header: str, *, size: int) -> range | None:
    """The bytes that a Range header asks for; None when it must be ignored: another unit, not well formed, or several ranges at once."""
    match = _ONE_RANGE.fullmatch(header)
    if match is None:
        return None
    first, last = match.groups()
    if not (first or last):
        return None
    if first and last and _position(last) < _position(first):
        return None
    if first:
        start, stop = _position(first), min(_position(last) + 1, size) if last else size
    else:
        start, stop = max(size - _position(last), 0), size
    if start >= stop:
        raise UnsatisfiableRangeError(f"range {header!r} lies outside a file of {size} bytes")
    return range(start, stop)


def _unseen(path: str, flags: int) -> int:
    """Open without a mark of when the file was read, where the system can do that."""
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:  # only the owner of the file may
        return os.open(path, flags)


class FilePart:
    """The bytes of a file between two positions, in chunks; the server closes it, also when the browser hangs up before the first."""

    def __init__(self, path: Path, part: range) -> None:
        self._file: BinaryIO = open(path, "rb", opener=_unseen)  # noqa: SIM115  # the server closes it
        self._part = part

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(self._part.start)
        left = len(self._part)
        while left > 0:
            chunk = self._file.read(min(CHUNK_BYTES, left))
            if not chunk:
                return
            left -= len(chunk)
            yield chunk

    def close(self) -> None:
        self._file.close()


def _still_matches(request: HttpRequest, tag: str) -> bool:
    expected = parse_etags(request.headers.get("If-Match", "*"))
    return expected == ["*"] or tag in expected


def _browser_has_it(request: HttpRequest, tag: str) -> bool:
    held = parse_etags(request.headers.get("If-None-Match", ""))
    return held == ["*"] or tag in {each.removeprefix("W/") for each in held}


def _range_asked_for(request: HttpRequest, *, size: int, tag: str) -> range | None:
    # Only a strong ETag promises that the parts fit together; a date or a weak ETag gets the whole file.
    if request.headers.get("If-Range", tag).strip() != tag:
        return None
    return byte_range(request.headers.get("Range", ""), size=size)


def _position(digits: str) -> int:
    """A position of any length as a number; those that no file reaches become the largest one."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) < 19 else sys.maxsize - 1


def _handed_to_nginx(path: Path, *, content_type: str) -> HttpResponse:
    name = path.resolve().relative_to(Path(settings.MEDIA_ROOT).resolve())
    address = f"{settings.MEDIA_ACCEL_PREFIX.rstrip('/')}/{quote(name.as_posix())}"
    return HttpResponse(content_type=content_type, headers={"X-Accel-Redirect": address, "Cache-Control": CACHE_CONTROL})
