"""`manage.py move_media --to ADDRESS`: uploaded files go to another place, and each is compared with its hash on the way."""

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

from django.conf import settings
from django.core.files.storage import Storage
from django.core.management.base import BaseCommand, CommandError

from analysis.evidence.selectors import PLACE as EVIDENCE
from surveys.media.stores.addresses import Bucket, Folder, Place, place_at
from surveys.media.stores.errors import AddressError, StoreAwayError
from surveys.media.stores.moving import WELL, Known, Outcome, delete_moved, moved, storage_at
from surveys.models import MediaFile

MOST_NAMED = 20
MEGABYTE = 1_000_000


class Command(BaseCommand):
    help = (
        "Copies every uploaded file from where this installation keeps them (or --from) to another address, and compares each with its "
        "hash before and after. A second run goes on where the first was stopped. Nothing is deleted without --delete-source. Ends with "
        "1 if anything failed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", required=True, help="file:///… or s3://…; its keys are CANDOR_MEDIA_KEY and CANDOR_MEDIA_SECRET")
        parser.add_argument("--from", dest="origin", default="", help="where the files are now (default: the place that is in use)")
        parser.add_argument("--check", action="store_true", help="write nothing: only compare what is there already")
        parser.add_argument(
            "--delete-source", action="store_true", help="delete each file at its old place; the installation must use the new one already"
        )

    def handle(self, *args: object, to: str, origin: str, check: bool, delete_source: bool, **options: object) -> None:
        own = settings.MEDIA_BUCKET or Folder(path=Path(settings.MEDIA_ROOT))
        try:
            target_place, source_place = place_at(to), place_at(origin) if origin else own
            target, source = _storage_at(target_place), _storage_at(source_place)
        except AddressError as error:
            raise CommandError(str(error)) from None
        if _same(source_place, target_place):
            raise CommandError(
                "--to names the place where the files are; after a change of CANDOR_MEDIA_URL, give the old place as --from."
            )
        if delete_source and (check or not _same(target_place, own)):
            raise CommandError(
                "--delete-source: expected that this installation uses the new place already. Copy first, set CANDOR_MEDIA_URL, restart, "
                "and then run this again with the old place as --from; nothing was done."
            )
        self.stdout.write(f"from {source_place}\nto   {target_place}")
        try:
            self._move(source, target, check=check, delete_source=delete_source)
        except StoreAwayError as error:
            raise CommandError(f"{error.strerror}. Run this again: it goes on where it was.") from error
        finally:
            for storage in (source, target):
                getattr(storage, "close", int)()  # the connections of an object store

    def _move(self, source: Storage, target: Storage, *, check: bool, delete_source: bool) -> None:
        files = _known(source)
        outcomes: Counter[Outcome] = Counter()
        wrong: list[str] = []
        done, total = 0, sum(file.size for file in files)
        for number, (file, outcome) in enumerate(moved(files, source=source, target=target, only_look=check), 1):
            outcomes[outcome] += 1
            done += file.size
            if outcome not in WELL:
                wrong.append(f"{file.name} {outcome}")
            self.stdout.write(f"{number} of {len(files)}, {done // MEGABYTE} of {total // MEGABYTE} MB: {file.name} {outcome}")
            self.stdout.flush()
        well, new = sum(outcomes[one] for one in WELL), outcomes[Outcome.COPIED]
        self.stdout.write(f"{well} of {len(files)} files are there as they were uploaded, {new} of them new.")
        if wrong:
            raise CommandError(f"{len(wrong)} are not: {'; '.join(wrong[:MOST_NAMED])}. Nothing was deleted.")
        if delete_source:
            delete_moved(
                files, source=source, target=target, tell=lambda file: self.stdout.write(f"{file.name} was deleted at the old place")
            )


def _storage_at(place: Place) -> Storage:
    return storage_at(place, settings.MEDIA_KEYS)


def _same(one: Place, other: Place) -> bool:
    if isinstance(one, Bucket) and isinstance(other, Bucket):
        return (one.bucket, one.prefix, one.endpoint or one.region) == (other.bucket, other.prefix, other.endpoint or other.region)
    return isinstance(one, Folder) and isinstance(other, Folder) and one.path.resolve() == other.path.resolve()


def _known(source: Storage) -> list[Known]:
    """Every file that the database knows, older ones of protocols among them, and the report on the public page."""
    files = [Known(name=media.file.name, sha256=media.sha256, size=media.size) for media in MediaFile.objects.order_by("file")]
    if source.exists(EVIDENCE):
        files.append(Known(name=EVIDENCE, sha256="", size=source.size(EVIDENCE)))
    return files
