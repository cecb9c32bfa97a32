"""Publications, remembered beside the database: data that were made public after a back-up stay public, whatever a restored one knows.

Each is one file below MEDIA_ROOT: its folder is the hash of the study's first allocation list, which is drawn once and known to everybody,
its name the version and the hash of the package, its content the day on which the study was closed. The folder of records that somebody
brought is their public address, and the content the day of the approval. The files stay for good. Two packages of the same people, before
and after a withdrawal or in other classes, would tell who withdrew, or what somebody's record is. So where the database does not know a
publication, nothing else is published, and people who are in it are told that their data are public. A retraction is a file beside it, with
the day and the reason: files that were deleted do not come back with the database.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from analysis import actions
from analysis.models import PUBLIC_RELEASES, DataSet, DataSetStatus, RecordPackage, Release
from audit.beside import write_beside
from audit.services import record
from jobs.registry import routine
from surveys.batches.remembered_withdrawals import folder_of_withdrawals
from surveys.journey.services import replay_withdrawals
from surveys.lifecycle.selectors import hash_of_first_list
from surveys.models import Study

FOLDER = ".published"
NAME = re.compile(r"(?P<version>[0-9]{1,9})-(?P<sha256>[0-9a-f]{64})")
"""The name of a file."""
OF_RECORDS = "data-set-"
"""The beginning of the name of a folder of records."""
RETRACTED = "retracted-"
"""The beginning of the name of a retraction's file, before the hash of the package."""


@dataclass(frozen=True, slots=True, order=True)
class Publication:
    version: int
    sha256: str


def folder_of_publications() -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER


def remember_publications(whole: Study | DataSet) -> None:
    """Write what is public of people's answers or records to the disk, if it is not there yet."""
    day = whole.closed_on if isinstance(whole, Study) else whole.decided_on
    for version, sha256 in _known(whole):
        path = _folder(whole) / f"{version}-{sha256}"
        if not path.exists():
            write_beside(path, str(day))


def remember_retraction(retracted: Release | RecordPackage) -> None:
    """Write to the disk that the files of this package are deleted, if it is not there yet."""
    path = _retraction(whole_of(retracted), retracted.package_sha256)
    if not path.exists():
        write_beside(path, f"{retracted.retracted_on}\n{retracted.reason}")


def retracted_before(whole: Study | DataSet, sha256: str, *, within: Path | None = None) -> tuple[date, str] | None:
    """The day and the reason, if the package with this hash was retracted, whether the database knows it or not."""
    path = _retraction(whole, sha256, within)
    if not path.is_file():
        return None
    day, _newline, reason = path.read_text(encoding="utf-8").partition("\n")
    return date.fromisoformat(day), reason


def whole_of(package: Release | RecordPackage) -> Study | DataSet:
    """The study or the data set whose people it is about."""
    return package.study if isinstance(package, Release) else package.data_set


def unknown_publications(whole: Study | DataSet, *, within: Path | None = None) -> list[Publication]:
    """The publications that the database does not know, because it comes from a back-up. `within`: the folder of all of them."""
    if not (folder := _folder(whole, within)).is_dir():
        return []
    names = (NAME.fullmatch(path.name) for path in folder.iterdir())
    found = {Publication(int(name["version"]), name["sha256"]) for name in names if name is not None}
    known = {sha256 for _version, sha256 in _known(whole, simulated=True)}
    return sorted(one for one in found if one.sha256 not in known)


def unknown_record_sets(*, within: Path | None = None) -> list[str]:
    """The addresses of records that are public although this database does not know them, or does not know that they are."""
    folder = within or folder_of_publications()
    names = sorted(path.name for path in folder.glob(f"{OF_RECORDS}*")) if folder.is_dir() else []
    slugs = [name.removeprefix(OF_RECORDS) for name in names]
    known = {one.slug: one for one in DataSet.objects.filter(slug__in=slugs)}
    return [slug for slug in slugs if slug not in known or unknown_publications(known[slug], within=within)]


def why_unknown(whole: Study | DataSet, *, but: str = "") -> str:
    """Why nothing else is published; empty if the database knows all that is public. `but`: the SHA-256 of the package that is looked at.

    A study that is marked as public without a release has been marked after a restore, maybe from the folder of another host.
    """
    unknown = unknown_publications(whole)
    if others := [one for one in unknown if one.sha256 != but]:
        return _(
            "Version %(version)s of these data is public (SHA-256 %(sha256)s), and this database does not know it, because it was restored "
            "from a back-up. Another package of the same people could tell something about one of them. An administrator can restore a "
            "later back-up."
        ) % {"version": others[-1].version, "sha256": others[-1].sha256}
    if but and (before := retracted_before(whole, but)):
        return _(
            "This package was retracted on %(day)s: %(reason)s. This database does not know it, because it was restored from a back-up."
        ) % {"day": date_format(before[0]), "reason": before[1].rstrip(".")}
    if isinstance(whole, Study) and whole.data_published and not unknown and not _known(whole):
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
    for data_set in DataSet.objects.filter(status=DataSetStatus.APPROVED, record_package__isnull=False).order_by("pk"):
        remember_publications(data_set)


def _since_its_closing(study: Study, within: Path | None) -> bool:
    """Whether there is an unknown publication of the people who were there when this study was closed."""
    paths = (_folder(study, within) / f"{one.version}-{one.sha256}" for one in unknown_publications(study, within=within))
    return any(path.read_text(encoding="utf-8", errors="replace") == str(study.closed_on) for path in paths)


def _known(whole: Study | DataSet, *, simulated: bool = False) -> list[tuple[int, str]]:
    """Version and hash of each package that the database knows to be public, or to have been; `simulated`: those of bots' answers, too."""
    if isinstance(whole, DataSet):
        public = RecordPackage.objects.filter(data_set=whole, data_set__status=DataSetStatus.APPROVED)
        return [(1, sha256) for sha256 in public.values_list("package_sha256", flat=True)]
    released = Release.objects.filter(study=whole, status__in=PUBLIC_RELEASES)
    return list((released if simulated else released.filter(simulated=False)).values_list("version", "package_sha256"))


def _retraction(whole: Study | DataSet, sha256: str, within: Path | None = None) -> Path:
    return _folder(whole, within) / f"{RETRACTED}{sha256}"


def _folder(whole: Study | DataSet, within: Path | None = None) -> Path:
    folder = within or folder_of_publications()
    if isinstance(whole, DataSet):
        return folder / f"{OF_RECORDS}{whole.slug}"
    return folder / (hash_of_first_list(whole) or "of-no-list")
