"""Files beside the database, which remember what a restored back-up does not know."""

import os
import secrets
from pathlib import Path


def write_beside(path: Path, text: str, *, at: float | None = None) -> None:
    """Write a file and its folder: whole or not at all, and to the disk. `at`: the time that the file bears, in seconds since 1970."""
    path.parent.mkdir(parents=True, exist_ok=True)
    incoming = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with incoming.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if at is not None:
            os.utime(incoming, (at, at))
        incoming.rename(path)
    finally:
        incoming.unlink(missing_ok=True)  # of a full disk, whose time would tell when somebody tried
