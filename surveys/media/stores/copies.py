"""Copies of an object store's files on the disk of this computer, each compared with its hash before it has its name.

A store keeps a log of who asked for which object and when. If each participant's request reached it, that log would tell when somebody
watched which arm's lecture. With a copy it is asked once for each file and computer, and files are sent as fast as from a folder.
"""

import fcntl
import hashlib
import logging
import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from django.conf import settings

from surveys.media.stores.errors import DamagedError, StoreAwayError

if TYPE_CHECKING:
    from surveys.media.stores.object_store import ObjectStore

logger = logging.getLogger(__name__)
FOLDER = ".copies"
GIGABYTE = 10**9
LONGEST_SECONDS = 30 * 24 * 60 * 60
"""A copy that is older makes room, and so goes what was deleted at the store meanwhile."""
MOST_AT_ONCE = 2
_LIKE_ALL_OTHERS = 946_684_800
"""The time that every copy bears, so that none tells when its file was first asked for, and all servers send the same ETag."""
_places = threading.BoundedSemaphore(MOST_AT_ONCE)
_damaged: set[str] = set()


def copy_of(sha256: str) -> Path | None:
    """The copy on this computer, if it is there. A DamagedError tells that the store's file was found to be another one."""
    if sha256 in _damaged:
        raise DamagedError
    path = _folder() / sha256
    return path if path.is_file() else None


def fetch_soon(store: "ObjectStore", name: str, *, sha256: str) -> None:
    """Begin to make a copy in a thread, unless enough of them are at work; nobody waits for it, and the next request may begin it again."""
    if _places.acquire(blocking=False):
        threading.Thread(target=_fetch_quietly, args=(store, name, sha256), daemon=True, name="copy of a stored file").start()


def fetch(store: "ObjectStore", name: str, *, sha256: str) -> bool:
    """Make a copy now; whether it is there afterwards. False where another process makes it, or where it would take too much room."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    target, incoming = folder / sha256, folder / f".{sha256}"
    with incoming.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a process that is killed lets go of it
        except BlockingIOError:
            return target.is_file()
        if target.is_file():
            return True
        file.truncate(0)
        try:
            size = store.size(name)
            if not _make_room(folder, size, most=store.place.copies * GIGABYTE):
                return False
            if _hash_of(store.read(name, range(size)) if size else (), into=file) != sha256:
                raise DamagedError
            file.flush()
            os.fsync(file.fileno())
            os.utime(incoming, (_LIKE_ALL_OTHERS, _LIKE_ALL_OTHERS))
            incoming.rename(target)
        finally:
            incoming.unlink(missing_ok=True)
    return True


def confirm(store: "ObjectStore", name: str, *, sha256: str) -> None:
    """Read back what was just written, which also makes the copy; a StoreAwayError if it is not the same."""
    try:
        if copy_of(sha256) is None and fetch(store, name, sha256=sha256):
            return
        if _hash_of(store.read(name, range(size)) if (size := store.size(name)) else ()) == sha256:
            return
    except (DamagedError, FileNotFoundError):
        pass
    raise StoreAwayError("it did not give back what it was given")


def forget(sha256: str) -> None:
    """Delete this computer's copy; others lose theirs when it is old."""
    (_folder() / sha256).unlink(missing_ok=True)


def _hash_of(chunks: Iterable[bytes], *, into: IO[bytes] | None = None) -> str:
    """The SHA-256 of what comes, which is also written into a file."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        if into:
            into.write(chunk)
    return digest.hexdigest()


def _folder() -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER


def _fetch_quietly(store: "ObjectStore", name: str, sha256: str) -> None:
    try:
        fetch(store, name, sha256=sha256)
    except DamagedError:
        _damaged.add(sha256)
        logger.error("%s is not what was uploaded, and is not shown any more. Restore it from a back-up, then restart.", name)
    except StoreAwayError as error:
        logger.error("No copy was made: %s", error)
    except OSError as error:  # a missing file is told by the page that wanted it
        if not isinstance(error, FileNotFoundError):
            logger.error("No copy was made in %s: %s", FOLDER, os.strerror(error.errno or 0))
    finally:
        _places.release()


def _make_room(folder: Path, size: int, *, most: int) -> bool:
    """Delete old copies, and as many of the others as it takes, the oldest first; whether the new one fits then."""
    if size > most:
        return False
    copies = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another process makes room, too
            if not path.name.startswith("."):
                copies.append((path.stat().st_ctime, path.stat().st_size, path))
    taken = sum(bytes_ for _made, bytes_, _path in copies)
    for made, bytes_, path in sorted(copies):
        if made > time.time() - LONGEST_SECONDS and taken + size <= most:
            break
        path.unlink(missing_ok=True)
        taken -= bytes_
    return True
