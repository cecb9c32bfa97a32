"""Deletions, remembered beside the database: data that were deleted after a back-up was made do not stay once it is restored.

Each is one file below MEDIA_ROOT. For operational data its name is the hash of the study's first allocation list, which is drawn once and
known to everybody, its content the day on which the study was closed. A study that was still running on the day of the back-up is closed on
another day: the people who came since then keep their time. The files stay for good.
"""

from datetime import date
from pathlib import Path

from django.conf import settings

from audit.beside import write_beside
from surveys.allocation.selectors import hash_of_first_list
from surveys.models import Study

FOLDER = ".forgotten"


def remember_deletion(name: str, day: date | None) -> None:
    """Write it to the disk, before the transaction that begins it is committed. The `day` tells these data from later ones of that name."""
    folder = Path(settings.MEDIA_ROOT) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    write_beside(folder / name, str(day))


def deletion_is_remembered(name: str, day: date | None, *, within: Path | None = None) -> bool:
    """Whether these data were deleted before. `within`: the folder of all deletions, if it is not the usual one."""
    file = (within or Path(settings.MEDIA_ROOT) / FOLDER) / name
    return file.is_file() and file.read_text(encoding="utf-8") == str(day)


def name_of(study: Study) -> str:
    """The name under which a deletion of its operational data is remembered."""
    return hash_of_first_list(study) or "of-no-list"
