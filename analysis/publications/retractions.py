"""Retractions, done again: the files of a package that was retracted after a back-up was made do not come back with it."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import chain
from pathlib import Path

from django.db import transaction

from analysis import actions
from analysis.deposits.services import give_back_or_withdraw
from analysis.models import DataSetStatus, PackageStatus, RecordPackage, Release, ReleaseStatus
from analysis.publications.remembered import remember_retraction, retracted_before, whole_of
from audit.services import record
from jobs.registry import routine


def retract_again(*, within: Path | None = None) -> int:
    """Retract the packages that are public although they were retracted before. How many these are. Twice does no harm.

    `within`: the folder of all publications, if it is not the usual one.
    """
    return sum(_retract_again(one, within) for one in list(_packages(ReleaseStatus.PUBLISHED, PackageStatus.BUILT)))


@routine(kind="remembered_retractions", every=timedelta(hours=1))
def keep_retractions() -> None:
    """Remember what is retracted and not remembered yet, and retract again what came back."""
    for retracted in _packages(ReleaseStatus.RETRACTED, PackageStatus.RETRACTED):
        remember_retraction(retracted)
    retract_again()


def _packages(release: ReleaseStatus, of_records: PackageStatus) -> Iterator[Release | RecordPackage]:
    """Those of studies and of approved records, each in its status."""
    releases = Release.objects.filter(status=release).select_related("study").defer("package", "data", "manifest")
    records = RecordPackage.objects.filter(status=of_records, data_set__status=DataSetStatus.APPROVED).select_related("data_set")
    return chain(releases.order_by("pk"), records.defer("package").order_by("pk"))


def _retract_again(package: Release | RecordPackage, within: Path | None) -> bool:
    whole = whole_of(package)
    if (before := retracted_before(whole, package.package_sha256, within=within)) is None:
        return False
    day, reason = before
    with transaction.atomic():
        type(whole)._default_manager.select_for_update(no_key=True).get(pk=whole.pk)
        standing = type(package)._default_manager.filter(pk=package.pk, status=package.status)
        if not standing.update(status=ReleaseStatus.RETRACTED, package=None, retracted_on=day, reason=reason):
            return False
        if isinstance(package, Release):
            give_back_or_withdraw(package)
        record(actor=None, action=actions.RETRACTED_AGAIN, subject=whole, details={"sha256": package.package_sha256, "reason": reason})
    return True
