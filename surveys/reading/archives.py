"""Reads a ZIP file with a study: first what is in it and the study file's text, then the media that the study needs."""

import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

from surveys.reading.study_files import plain_values, text_of
from surveys.reading.words import UnreadableError
from surveys.reading.words import sentence as _

STUDY_FILES = (".yaml", ".yml", ".json")
LARGEST_ARCHIVE = 4 * 1024**3
MOST_ENTRIES = 500
CHUNK = 1 << 20


def read(file: IO[bytes], *, source: str) -> dict[str, object]:
    """`entries`: the number of each file in the archive, by name; `unused` files; the study file's name, `document` and `lines`."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _read(archive, source)
    except (UnreadableError, MemoryError):
        raise
    except Exception as error:  # damaged, of an unknown kind, encrypted: the standard library raises a dozen kinds of errors
        raise UnreadableError(_("%(name)s: this ZIP file cannot be read: %(error)s", name=source, error=str(error)[:200])) from error


def unpack(file: IO[bytes], *, source: str, numbers: list[int], folder: str) -> list[int]:
    """Write the files of these numbers into the folder, each under its number; their sizes."""
    try:
        with zipfile.ZipFile(file) as archive:
            return [_unpacked(archive, archive.infolist()[number], Path(folder, str(number))) for number in numbers]
    except MemoryError:
        raise
    except Exception as error:
        raise UnreadableError(_("%(name)s: this ZIP file cannot be read: %(error)s", name=source, error=str(error)[:200])) from error


def _read(archive: zipfile.ZipFile, source: str) -> dict[str, object]:
    entries: dict[str, int] = {}
    unused: list[str] = []
    size = 0
    for number, entry in enumerate(archive.infolist()):
        if _is_rubbish(entry):
            continue
        name = PurePosixPath(entry.filename).name
        size += entry.file_size
        if name in entries:  # two folders hold a file of this name
            unused.append(entry.filename)
        else:
            entries[name] = number
        if number >= 20 * MOST_ENTRIES or len(entries) + len(unused) > MOST_ENTRIES or size > LARGEST_ARCHIVE:
            raise UnreadableError(
                _(
                    "%(name)s: expected at most %(files)s files and %(gigabytes)s GB",
                    name=source,
                    files=MOST_ENTRIES,
                    gigabytes=LARGEST_ARCHIVE // 1024**3,
                )
            )
    files = [name for name in entries if PurePosixPath(name).suffix.lower() in STUDY_FILES]
    if len(files) != 1:
        raise UnreadableError(
            _(
                "%(name)s: expected one study file (.yaml or .json) in the ZIP file, found %(found)s",
                name=source,
                found=", ".join(sorted(files)[:10]) or _("none"),
            )
        )
    with archive.open(archive.infolist()[entries[files[0]]]) as content:
        values = plain_values(text_of(content, source=files[0]), source=files[0])
    return {"entries": entries, "unused": unused, "study_file": files[0], **values}


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> int:
    """Copy one file out of the archive; its size."""
    size = 0
    with archive.open(entry) as content, target.open("wb") as place:
        while chunk := content.read(CHUNK):
            size += place.write(chunk)
    return size


def _is_rubbish(entry: zipfile.ZipInfo) -> bool:
    """Folders, and files that some systems add beside every file."""
    return entry.is_dir() or "__MACOSX" in entry.filename or PurePosixPath(entry.filename).name.startswith(".")
