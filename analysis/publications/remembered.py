"""Publications, remembered beside the database: data that were made public after a back-up stay public, whatever a restored one knows.

Each is one file below MEDIA_ROOT: its folder is the hash of the study's first allocation list, which is drawn once and known to everybody,
its name the version and the hash of the package, its content the day on which the study was closed. They stay for good. Two packages of the
same people, before and after a withdrawal, would tell who withdrew. So where the database does not know a publication, nothing else is
published, and people who are in it are told that their data are public.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from analysis import actions
from analysis.models import PUBLIC_RELEASES, Release
from audit.beside import write_beside
from audit.services import record
from jobs.registry import routine
from surveys.journey.services import replay_withdrawals
from surveys.journey.withdrawals import folder_of_withdrawals
from surveys.models import AllocationList, Study

FOLDER = ".published"
NAME = re.compile(r"(?P<version>[0-9]{1,9})-(?P<sha256>[0-9a-f]{64})")
"""The name of a file."""


@dataclass(frozen=True, slots=True, order=True)
class Publication:
    version: int
    sha256: str


def folder_of_publications() -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER


def remember_publications(study: Study) -> None:
    """Write what is public of people's answers to the disk, if it is not there yet."""
    for version, sha256 in _public_releases(study).values_list("version", "package_sha256"):
        path = _folder(study) / f"{version}-{sha256}"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_beside(path, str(study.closed_on))


def unknown_publications(study: Study, *, within: Path | None = None) -> list[Publication]:
    """The publications that the database does not know, because it comes from a back-up. `within`: the folder of all studies."""
    if not (folder := _folder(study, within)).is_dir():
        return []
    names = (NAME.fullmatch(path.name) for path in folder.iterdir())
    found = {Publication(int(name["version"]), name["sha256"]) for name in names if name is not None}
    known = set(Release.objects.filter(study=study, status__in=PUBLIC_RELEASES).values_list("package_sha256", flat=True))
    return sorted(one for one in found if one.sha256 not in known)


def why_unknown(study: Study, *, but: str = "") -> str:
    """Why nothing else is published; empty if the database knows all that is public. `but`: the SHA-256 of the package that is looked at.

    A study that is marked as public without a release has been marked after a restore, maybe from the folder of another host.
    """
    if other := [one for one in unknown_publications(study) if one.sha256 != but]:
        return _(
            "Version %(version)s of these data is public (SHA-256 %(sha256)s), and this database does not know it, because it was restored "
            "from a back-up. Another package of the same people could tell who withdrew. An administrator can restore a later back-up."
        ) % {"version": other[-1].version, "sha256": other[-1].sha256}
    if study.data_published and not unknown_publications(study) and not _public_releases(study).exists():
        return _(
            "These data are public, and this database does not know the package, because it was restored from a back-up. Another package "
            "of the same people could tell who withdrew. An administrator can restore a later back-up."
        )
    return ""


def publish_again(*, within: Path | None = None) -> int:
    """Mark the studies whose data are public although the database does not know it: nobody can withdraw any more. How many these are.

    Withdrawals of the time before the publication are done again first. A study that was still running on the day of the back-up is not
    marked: people who came since are not in the publication.
    """
    closed = Study.objects.filter(closed_on__isnull=False, data_published=False).defer("definition").order_by("pk")
    public = [study for study in closed if _since_its_closing(study, within)]
    if public:
        replay_withdrawals(folder_of_withdrawals())
    for study in public:
        with transaction.atomic():
            Study.objects.filter(pk=study.pk).update(data_published=True)
            record(actor=None, action=actions.PUBLISHED_AGAIN, subject=study)
    return len(public)


@routine(kind="remembered_publications", every=timedelta(hours=1))
def keep_publications() -> None:
    """Mark what is public although the database does not know it; remember what is public and not remembered yet."""
    publish_again()
    for study in Study.objects.filter(data_published=True).defer("definition").order_by("pk"):
        remember_publications(study)


def _public_releases(study: Study) -> QuerySet[Release]:
    """The releases of people's answers that are public, or were."""
    return Release.objects.filter(study=study, status__in=PUBLIC_RELEASES, simulated=False)


def _since_its_closing(study: Study, within: Path | None) -> bool:
    """Whether there is an unknown publication of the people who were there when this study was closed."""
    paths = (_folder(study, within) / f"{one.version}-{one.sha256}" for one in unknown_publications(study, within=within))
    return any(path.read_text(encoding="utf-8", errors="replace") == str(study.closed_on) for path in paths)


def _folder(study: Study, within: Path | None = None) -> Path:
    first = AllocationList.objects.filter(study=study).order_by("number").values_list("sha256", flat=True).first()
    return (within or folder_of_publications()) / (first or "of-no-list")
