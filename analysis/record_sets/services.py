"""The life of records that somebody brought: roles, a package, the officer's decision, perhaps a retraction. Each step holds the lock."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial

from django.db import transaction
from django.db.models import F
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.models import User
from analysis import actions
from analysis.data_sets import services as data_sets
from analysis.data_sets.errors import DataSetError
from analysis.models import DataSet, DataSetStatus, PackageStatus, RecordHierarchies, RecordPackage, RecordSweep
from analysis.packages.errors import ReleaseGoneError
from analysis.packages.licences import LICENCES
from analysis.publications.remembered import remember_publications, remember_retraction, why_unknown
from analysis.records.services import mark_of
from analysis.releases.protecting import checked_choices, confirmed, hierarchies_of
from analysis.sources.records.values import ROLES
from analysis.sources.seats import DataSetSeat
from analysis.sources.selectors import rows_of_records, schema_of_records
from analysis.sources.services import store_rows
from audit.services import record
from candor.packages.archive import files_in
from candor.packages.record_promises import faults_in
from candor.packages.verification import faults_of
from jobs.tasks import send

LONGEST_REASON, MOST_AUTHORS = 2000, 50


@transaction.atomic
def change_roles(data_set: DataSet, *, roles: Mapping[str, str], actor: User, seen: str = "") -> None:
    """Give every attribute a role. An identifier is dropped for ever. Findings with other roles go.

    `seen` is the mark of the roles that somebody began to change; others were chosen meanwhile if it is not that of now.
    """
    data_set = data_sets.locked(data_set, DataSetStatus.DRAFT)
    before = schema_of_records(data_set).roles
    if seen and seen != mark_of(before):
        raise DataSetError(_("The roles were changed meanwhile, in another tab or by somebody else. Send yours again to replace them."))
    for name in before:
        if roles.get(name) not in ROLES:
            raise DataSetError(_("“%(name)s” has no role. Choose one of: %(roles)s.") % {"name": name, "roles": ", ".join(ROLES)})
    if strange := sorted(set(roles) - set(before)):
        raise DataSetError(_("The records have no attribute “%(name)s”.") % {"name": strange[0][:100]})
    changed = {name: role for name, role in roles.items() if role != before[name]}
    if not changed:
        return
    if all(role == ROLES[0] for role in roles.values()):
        raise DataSetError(_("Expected at least one attribute that is kept, found none."))
    store_rows(data_set.source, rows_of_records(data_set).with_roles(roles))
    RecordSweep.objects.filter(data_set=data_set).delete()
    RecordPackage.objects.filter(data_set=data_set).delete()
    for kept in RecordHierarchies.objects.filter(data_set=data_set):
        kept.document = {name: chains for name, chains in kept.document.items() if name not in changed}
        kept.save()
    record(actor=actor, action=actions.RECORD_ROLES_CHANGED, subject=data_set, details={"roles": changed})


@transaction.atomic
def start_package(
    data_set: DataSet, *, chosen: Mapping[str, object], authors: Sequence[str], licence: str, site: str, actor: User
) -> RecordPackage:
    """Fix the choices and have the package built, in place of one that is not public. `site` is the address of this server."""
    data_set = data_sets.locked(data_set, DataSetStatus.DRAFT)
    if why := why_unknown(data_set):
        raise DataSetError(why)
    schema = schema_of_records(data_set)
    protection = checked_choices(chosen, schema)
    if (n := data_set.students) < protection["k"]:
        raise DataSetError(_("k = %(k)s students cannot share a record, because there are only %(n)s.") % {"k": protection["k"], "n": n})
    if licence not in LICENCES or not 0 < len(authors) <= MOST_AUTHORS:
        raise DataSetError(_("Expected a licence and the names of the authors."))
    fixed = {**protection, "auxiliary": [], "hierarchies": hierarchies_of(data_set, schema.hierarchies)}
    package = _begin(RecordPackage(data_set=data_set, authors=list(authors), licence=licence, site=site, protection=fixed))
    record(actor=actor, action=actions.RECORD_PACKAGE_STARTED, subject=data_set, details={**protection, "licence": licence})
    return package


@transaction.atomic
def describe_records(data_set: DataSet, *, about: str, actor: User) -> None:
    """Write anew where the records come from. A package holds it, and is built again with the same choices."""
    changed = data_sets.describe(data_set, about=about, actor=actor)
    package = RecordPackage.objects.filter(data_set=data_set).defer("package").first()
    if changed and package is not None:
        _begin_again(package, package.protection)


@transaction.atomic
def discard_package(data_set: DataSet, *, actor: User) -> None:
    """Give the package up before anybody is asked. A worker at it will notice."""
    data_set = data_sets.locked(data_set, DataSetStatus.DRAFT)
    if not RecordPackage.objects.filter(data_set=data_set).delete()[0]:
        raise DataSetError(_("There is no package to give up."))
    record(actor=actor, action=actions.RECORD_PACKAGE_DISCARDED, subject=data_set)


@transaction.atomic
def request_approval(data_set: DataSet, *, sha256: str, delete_on: date, actor: User) -> None:
    """Ask the officers to approve the package that its owner has looked at."""
    data_set = data_sets.locked(data_set, DataSetStatus.DRAFT)
    _standing(data_set, sha256)
    data_sets.submit(data_set, budget=None, delete_on=delete_on, actor=actor)


@transaction.atomic
def confirm_auxiliary(data_set: DataSet, *, names: Sequence[str], actor: User, sha256: str | None = None) -> None:
    """Have the package built again with these auxiliary attributes as they are. It goes back to its owner, who looks and asks once more."""
    data_set = data_sets.locked(data_set, DataSetStatus.WAITING, reviewer=actor)
    package = _seen(data_set, sha256)
    protection = confirmed(package.protection, names)
    with translation.override(data_set.owner.language or translation.get_language()):
        told = _("Confirmed, to be published as they are: %(names)s. Look at the new package, and ask once more.")
        data_sets.send_back(data_set, reason=told % {"names": ", ".join(names)}, actor=actor)
    _begin_again(package, protection)
    record(actor=actor, action=actions.AUXILIARY_CONFIRMED, subject=data_set, details={"attributes": ", ".join(names)})


@transaction.atomic
def send_package_back(data_set: DataSet, *, reason: str, actor: User, sha256: str | None = None) -> None:
    """The owner may prepare another package, and ask again. `sha256` is that of the package that the officer saw; None: any."""
    data_set = data_sets.locked(data_set, DataSetStatus.WAITING, reviewer=actor)
    _seen(data_set, sha256)
    data_sets.send_back(data_set, reason=reason, actor=actor)


def publish(data_set: DataSet, *, sha256: str, delete_on: str, actor: User) -> None:
    """Publish the package that the officer has read, if it is as it was built and the checker accepts it.

    A package of 100,000 students takes the checker many seconds. Nothing is held meanwhile, least of all the end of the log.
    """
    with transaction.atomic():
        data_sets.locked(data_set, DataSetStatus.WAITING, reviewer=actor)
        examined = _standing(data_set, sha256)
    _require_sound(examined)
    with transaction.atomic():
        data_sets.approve(data_set, budget=None, delete_on=delete_on, analysts=(), actor=actor)
        _standing(data_set, sha256)
        transaction.on_commit(partial(remember_publications, data_set), robust=True)  # hourly work repeats it


@transaction.atomic
def retract(data_set: DataSet, *, reason: str, actor: User) -> None:
    """Retract a public package: its page says why, its files are deleted, and their hashes stay to identify copies."""
    found = DataSet.objects.select_for_update(of=("self",)).select_related("owner").get(pk=data_set.pk)
    seat = DataSetSeat(actor, found)
    if not (reason := reason.strip()[:LONGEST_REASON]):
        raise DataSetError(_("Expected a reason in words, found none."))
    standing = RecordPackage.objects.filter(data_set=found, status=PackageStatus.BUILT)
    if found.status != DataSetStatus.APPROVED or not (seat.may_change or seat.may_review):
        raise DataSetError(_("Only its owner and IRB officers can retract a public package."))
    if not standing.update(status=PackageStatus.RETRACTED, package=None, retracted_on=timezone.localdate(), reason=reason):
        raise DataSetError(_("There is no public package any more."))
    transaction.on_commit(partial(remember_retraction, found.record_package), robust=True)  # hourly work repeats it
    record(actor=actor, action=actions.RECORD_PACKAGE_RETRACTED, subject=found, details={"reason": reason})


def download(package: RecordPackage, *, counted: bool) -> bytes:
    """The files of a public package. `counted`: add one to its count, and record nothing else about the reader."""
    written = RecordPackage.objects.filter(pk=package.pk, status=PackageStatus.BUILT).values_list("package", flat=True).first()
    if written is None:
        raise ReleaseGoneError(package.reason)
    if counted:
        RecordPackage.objects.filter(pk=package.pk).update(downloads=F("downloads") + 1)
    return bytes(written)


def _begin(package: RecordPackage) -> RecordPackage:
    """Have it built in place of the one that stands, under the data set's lock. A worker at that one will notice."""
    RecordPackage.objects.filter(data_set=package.data_set).delete()
    package.due_at = timezone.now()
    package.full_clean(exclude=["data_set"])
    package.save()
    transaction.on_commit(partial(send, package))
    return package


def _begin_again(last: RecordPackage, protection: Mapping[str, object]) -> None:
    """The same package with this protection, and with the data set as it is now."""
    _begin(RecordPackage(data_set=last.data_set, authors=last.authors, licence=last.licence, site=last.site, protection=dict(protection)))


def _seen(data_set: DataSet, sha256: str | None) -> RecordPackage:
    """The package that somebody looked at, if it is still the one; None: any that is built."""
    package = RecordPackage.objects.select_for_update(of=("self",)).filter(data_set=data_set, status=PackageStatus.BUILT).first()
    if package is None or sha256 not in (None, package.package_sha256):
        raise DataSetError(_("The package was built again meanwhile, or is not there. Look at it again."))
    return package


def _standing(data_set: DataSet, sha256: str) -> RecordPackage:
    """The same, if nothing is known that speaks against publishing it."""
    package = _seen(data_set, sha256)
    if why := why_unknown(data_set, but=sha256):
        raise DataSetError(why)
    return package


def _require_sound(package: RecordPackage) -> None:
    written = bytes(package.package or b"")
    if faults := faults_of(written, key=package.public_key.encode()):
        raise DataSetError(
            _("The package is not as it was built: %(faults)s") % {"faults": "; ".join(f"{one.file}: {one.what}" for one in faults)}
        )
    if broken := faults_in(files_in(written)):
        raise DataSetError(_("The checker refuses these records: %(broken)s") % {"broken": broken[0]})
