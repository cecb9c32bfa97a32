"""Deletions, remembered beside the database: data that were deleted after a back-up was made do not stay once it is restored.

Each is one file below MEDIA_ROOT. Its name is the hash of the log's entry since which there was something to delete: the closing of a
study, or the first one about a data set. A study that is closed later after a restore has another entry, also on the same day, and so has a
data set that takes the name of a lost one: data of people who came since are kept. An end that is repeated has such a file, too. The files
stay for good.
"""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from audit.beside import write_beside
from audit.models import Entry

FOLDER = ".forgotten"


def remember_deletion(since: Entry | None) -> None:
    """Write it to the disk, before the transaction that begins it is committed."""
    if since is not None:
        write_beside(_folder() / since.hash, f"{since.subject_kind} {since.subject_id}")


def remember_deletion_of(before: Iterable[str], since: Entry | None, *, within: Path) -> None:
    """Remember the deletion since this entry, too, where one since an entry with one of these hashes is remembered in the folder."""
    if any((within / one).is_file() for one in before):
        remember_deletion(since)


def deletion_is_remembered(since: Entry | None, *, within: Path | None = None) -> bool:
    """Whether these data were deleted before. `within`: the folder of all deletions, if it is not the usual one."""
    return since is not None and ((within or _folder()) / since.hash).is_file()


def _folder() -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER
