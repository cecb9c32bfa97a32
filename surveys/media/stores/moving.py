"""Copies files from one place to another, each compared with its hash before and after; can be killed and goes on where it was."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from surveys.media.stores.addresses import Keys, Place, backend

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A file that the installation knows; an empty hash is that of the file that is there now."""

    name: str
    sha256: str
    size: int


class Outcome(StrEnum):
    """The state of one file afterwards."""

    COPIED = "copied"
    THERE = "was there"
    ABSENT = "is missing there"
    MISSING = "is missing"
    DAMAGED = "is not what was uploaded"
    SPOILT = "was copied, and is another file there"


WELL = (Outcome.COPIED, Outcome.THERE)


def storage_at(place: Place, keys: Keys) -> Storage:
    """The storage at a place, whichever one the installation uses itself."""
    return storages.create_storage(backend(place, keys))


def moved(files: Iterable[Known], *, source: Storage, target: Storage, only_look: bool) -> Iterator[tuple[Known, Outcome]]:
    """Each file with its outcome. A file that is there already and has the right hash is left alone, so that a second run goes on.

    A file that is not as it was uploaded is not copied. With `only_look` nothing is written at all.
    """
    for file in files:
        yield file, _moved(file, source=source, target=target, only_look=only_look)


def names_in(storage: Storage, folder: str = "") -> Iterator[str]:
    """The name of every stored file."""
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}{name}" for name in files)
    for one in folders:
        yield from names_in(storage, f"{folder}{one}/")


def hash_of(storage: Storage, name: str) -> str:
    """The SHA-256 of a stored file; empty if there is none."""
    try:
        with storage.open(name, "rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def write_whole(target: Storage, name: str, content: File) -> None:  # type: ignore[type-arg]
    """Whole or not at all: a store keeps no half of an object, and in a folder the file gets its name when all of it is on the disk."""
    if not isinstance(target, FileSystemStorage):
        target.save(name, content)
        return
    path = Path(target.path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    incoming = path.with_name(f".{path.name}.incoming")  # one name, so that a run that was killed leaves nothing for long
    with incoming.open("wb") as file:
        for chunk in content.chunks(_CHUNK_BYTES):
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    incoming.replace(path)


def _moved(file: Known, *, source: Storage, target: Storage, only_look: bool) -> Outcome:
    expected = file.sha256 or hash_of(source, file.name)
    if expected and hash_of(target, file.name) == expected:
        return Outcome.THERE
    if only_look:
        return Outcome.ABSENT
    try:
        opened = source.open(file.name, "rb")
    except FileNotFoundError:
        return Outcome.MISSING
    with opened as content:
        if hashlib.file_digest(content, "sha256").hexdigest() != expected:
            return Outcome.DAMAGED
        content.seek(0)
        write_whole(target, file.name, content)
    return Outcome.COPIED if hash_of(target, file.name) == expected else Outcome.SPOILT


def delete_moved(files: Iterable[Known], *, source: Storage, target: Storage, tell: Callable[[Known], None]) -> None:
    """Delete files at the source, each only after its copy was read once more and has its hash."""
    for file in files:
        if (expected := file.sha256 or hash_of(source, file.name)) and hash_of(target, file.name) == expected:
            source.delete(file.name)
            tell(file)
