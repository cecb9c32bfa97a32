"""Tries what an installation needs of the place where its files lie, with a file made for it."""

import secrets
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from django.core.files.base import ContentFile
from django.core.files.storage import Storage

from surveys.media.stores.addresses import Bucket, Place

if TYPE_CHECKING:
    from surveys.media.stores.object_store import ObjectStore

FOLDER = ".tried"
WAIT_SECONDS = 10
REFUSALS = (401, 403, 404)
Finding = tuple[str, bool, str]


def tried(storage: Storage, place: Place) -> Iterator[Finding]:
    """Each thing that was tried, whether it went well, and what was found; ends where nothing further can be tried."""
    name, content = f"{FOLDER}/{secrets.token_hex(8)}", secrets.token_bytes(1000)
    written = _done("takes a file", lambda: bool(storage.save(name, ContentFile(content))))
    yield written
    if not written[1]:
        return
    try:
        yield _done("gives it back", lambda: _read(storage, name) == content)
        if isinstance(place, Bucket):
            store = cast("ObjectStore", storage)
            yield _done("gives a part of it", lambda: b"".join(store.read(name, range(100, 200))) == content[100:200])
            link = store.link(name, content_type="video/webm", cache_control="private", seconds=60)
            yield _done("gives it by a signed link", lambda: _got(link) == content)
            yield _refuses("refuses it without a signature", link.partition("?")[0])
    finally:
        yield _done("deletes it", lambda: _deleted(storage, name))


def _read(storage: Storage, name: str) -> bytes:
    with storage.open(name, "rb") as file:
        return bytes(file.read())


def _deleted(storage: Storage, name: str) -> bool:
    storage.delete(name)
    return not storage.exists(name)


def _got(address: str) -> bytes:
    """`address` is of the place that the administrator named."""
    with urllib.request.urlopen(address, timeout=WAIT_SECONDS) as answer:  # noqa: S310
        return bytes(answer.read(10_000))


def _done(what: str, way: Callable[[], bool]) -> Finding:
    try:
        well = way()
    except (OSError, ValueError) as error:
        return what, False, _said(error)
    return what, well, "as it should" if well else "something else came"


def _refuses(what: str, address: str) -> Finding:
    try:
        _got(address)
    except urllib.error.HTTPError as error:
        return what, error.code in REFUSALS, f"with status {error.code}"
    except OSError as error:
        return what, False, _said(error)
    return what, False, "ANYBODY can read it: make the bucket private"


def _said(error: Exception) -> str:
    """Without an address, which may be signed."""
    if isinstance(error, urllib.error.HTTPError):
        return f"it answered {error.code}"
    return str(getattr(error, "strerror", "") or type(error).__name__)
