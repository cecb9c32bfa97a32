"""Reading a part of a stored package, which may have many megabytes, for pages that show a few lines of it."""

import io
import zipfile
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING

from django.db.models import BinaryField, QuerySet
from django.db.models.functions import Length, Substr
from django.utils.translation import gettext as _

from analysis.models import Release
from analysis.packages.errors import ReleaseError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

AT_ONCE = 64 * 1024
"""How many bytes one statement reads at least, as long as there are more."""


class StoredBytes(io.RawIOBase):
    """The column `package` of one row as a file. Each part is read by a statement of its own, of `size` bytes in all."""

    def __init__(self, row: "QuerySet[Release]", *, size: int) -> None:
        self.row, self.size, self.place = row, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.size}[whence]
        self.place = max(start + offset, 0)
        return self.place

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Raises ReleaseError if the row has another package by now, or none."""
        view = memoryview(buffer)
        wanted = min(len(view), self.size - self.place)
        if wanted <= 0:
            return 0
        part = Substr("package", self.place + 1, wanted, output_field=BinaryField())
        found = self.row.values_list(part, flat=True).first()
        if found is None or len(found) != wanted:
            raise ReleaseError(_("The package was built again meanwhile, or is not there. Look at it again."))
        view[:wanted] = found
        self.place += wanted
        return wanted


def stored_archive(rows: "QuerySet[Release]") -> AbstractContextManager[zipfile.ZipFile] | None:
    """The package of the only one of these rows, to be read file by file; None where there is none."""
    found = rows.exclude(package=None).values_list("pk", "package_sha256", Length("package")).first()
    if found is None:
        return None
    key, sha256, size = found
    row = Release.objects.filter(pk=key, package_sha256=sha256)
    return closing(zipfile.ZipFile(io.BufferedReader(StoredBytes(row, size=size), AT_ONCE)))
