"""`manage.py verify_stored`, for the files that the database vouches for."""

import hashlib
from collections.abc import Iterator

from django.core.management.base import BaseCommand, CommandError

from analysis.models import STANDING_RELEASES, Release
from analysis.releases.keys import signing_key
from candor.packages.signing import public_pem
from candor.packages.verification import faults_of
from surveys.media.stores.errors import StoreAwayError
from surveys.media.stores.moving import hash_of
from surveys.models import MediaFile


class Command(BaseCommand):
    help = "Compares every lecture with its hash and every data package with its signature; exits with an error that names what differs."

    def handle(self, *args: object, **options: object) -> None:
        media, releases = MediaFile.objects.order_by("pk"), Release.objects.filter(status__in=STANDING_RELEASES).order_by("pk")
        try:
            wrong = [*_faulty_media(), *_faulty_releases()]
        except StoreAwayError as error:
            raise CommandError(str(error.strerror)) from error
        if wrong:
            raise CommandError(f"{len(wrong)} differ: {'; '.join(wrong[:20])}.")
        self.stdout.write(f"{media.count()} media files and {releases.count()} data packages are as they were stored.")
        if earlier := releases.exclude(public_key=public_pem(signing_key())).count():
            self.stdout.write(f"{earlier} of the data packages are signed with an earlier key of this server.")


def _faulty_media() -> Iterator[str]:
    for media in MediaFile.objects.order_by("pk").iterator():
        found = hash_of(media.file.storage, str(media.file.name))
        if not found:
            yield f"{media.file.name} is missing"
        elif found != media.sha256:
            yield f"{media.file.name} is not what was uploaded"


def _faulty_releases() -> Iterator[str]:
    for release in Release.objects.filter(status__in=STANDING_RELEASES).order_by("pk").iterator():
        package = bytes(release.package or b"")
        if hashlib.sha256(package).hexdigest() != release.package_sha256:
            yield f"data package {release.pk} is not what was stored"
        elif faults := faults_of(package, key=release.public_key.encode()):
            yield f"data package {release.pk}: {faults[0].file}: {faults[0].what}"
