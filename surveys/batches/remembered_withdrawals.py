"""Withdrawals, remembered beside the database: a back-up that is restored must not bring back people who left after it was made.

Each is one file below MEDIA_ROOT, so that a copy of an older folder over a newer one loses none. The file's name is the hash by which the
participant was found, its content the one of their panel number; its time tells no more than the day. Once a day all are written again. It
goes when the last back-up that can hold the person is gone.
"""

import os
import re
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from audit.beside import write_beside

FOLDER = ".withdrawals"
HASH = re.compile(r"[0-9a-f]{64}")
"""The name of a file."""
A_WRITE = timedelta(hours=1)
"""Longer than any process writes at a file."""


def folder_of_withdrawals() -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER


def remember_withdrawal(*, withdrawal_hash: str, panel_number: str) -> None:
    """Write it to the disk, before the transaction is committed.

    Should the power fail between the two, somebody who asked to be deleted is deleted with the next replay at the latest.
    """
    folder = folder_of_withdrawals()
    _write(folder / withdrawal_hash, panel_number, at=_midnight())
    _forget_old_ones(folder)


def renew_withdrawals() -> None:
    """Write all files again in the order of their names: the file system notes itself when each was made and changed, and numbers them.

    Half a file is one of a process that was killed. The withdrawal was not committed, and its moment goes.
    """
    folder = folder_of_withdrawals()
    if not folder.is_dir():
        return
    _forget_old_ones(folder)
    for file in folder.glob(".*"):
        with suppress(FileNotFoundError):  # its process has finished it meanwhile
            if file.stat().st_ctime < (timezone.now() - A_WRITE).timestamp():
                file.unlink()
    for name, panel_number in remembered_withdrawals(folder).items():
        _write(folder / name, panel_number, at=(folder / name).stat().st_mtime)


def remembered_withdrawals(folder: Path) -> dict[str, str]:
    """The hashes of panel numbers, by the hashes that found the participants. Other files in the folder are nobody's."""
    if not folder.is_dir():
        return {}
    return {file.name: file.read_text(encoding="ascii") for file in sorted(folder.iterdir()) if HASH.fullmatch(file.name)}


def _write(path: Path, panel_number: str, *, at: float) -> None:
    write_beside(path, panel_number, at=at)
    os.utime(path.parent, (_midnight(), _midnight()))


def _forget_old_ones(folder: Path) -> None:
    before = _midnight() - timedelta(days=settings.BACKUP_DAYS + 1).total_seconds()
    for file in folder.iterdir():
        with suppress(FileNotFoundError):  # half a file of somebody who withdraws in the same moment
            if file.is_file() and file.stat().st_mtime < before:
                file.unlink()
    os.utime(folder, (_midnight(), _midnight()))


def _midnight() -> float:
    return datetime.combine(timezone.localdate(), datetime.min.time(), tzinfo=timezone.get_current_timezone()).timestamp()
