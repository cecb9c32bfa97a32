"""`manage.py check_media`: can this installation keep its files where CANDOR_MEDIA_URL says?"""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.management.base import BaseCommand, CommandError

from surveys.media.stores.addresses import Folder
from surveys.media.stores.errors import StoreAwayError
from surveys.media.stores.moving import names_in
from surveys.media.stores.trying import FOLDER, Finding, tried
from surveys.models import MediaFile

OWN = ("evidence/", FOLDER)
MOST_NAMED = 10


class Command(BaseCommand):
    help = (
        "Writes, reads and deletes a file where uploaded files are kept, sees that nobody else can read it, and looks for files that no "
        "study knows. Ends with 1 if anything failed."
    )

    def handle(self, *args: object, **options: object) -> None:
        place = settings.MEDIA_BUCKET or Folder(path=Path(settings.MEDIA_ROOT))
        self.stdout.write(str(place))
        findings = [*tried(default_storage, place)]
        if all(well for _what, well, _found in findings):
            findings += _unknown()
        width = max(len(what) for what, _well, _found in findings)
        for what, well, found in findings:
            self.stdout.write(f"{what:<{width}}  {'well  ' if well else 'FAILED'}  {found}")
        if not all(well for _what, well, _found in findings):
            raise CommandError("Files cannot be kept there as they must be.")


def _unknown() -> Iterator[Finding]:
    """Files that a process left behind when it was killed during an upload; a finding, and no failure."""
    known = set(MediaFile.objects.values_list("file", flat=True))
    try:
        found = [name for name in names_in(default_storage) if name not in known and not name.startswith(OWN)]
    except (OSError, StoreAwayError) as error:
        yield "holds known files only", False, str(error.strerror)
        return
    # In a folder, what begins with a dot is the installation's own: withdrawals, copies, uploads on their way.
    left = [name for name in found if not (isinstance(default_storage, FileSystemStorage) and name.startswith("."))]
    shown = ", ".join(sorted(left)[:MOST_NAMED])
    yield "holds known files only", True, f"{len(left)} files that no study knows can be deleted: {shown}" if left else "as it should"
