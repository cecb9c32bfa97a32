"""Asks for the steps of a deposit, under the lock on the study; a worker does them (`analysis.deposits.depositing`)."""

from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from analysis import actions
from analysis.deposits.description import description_of
from analysis.deposits.errors import DepositError
from analysis.deposits.offered import NAMES, configured
from analysis.models import Deposit, DepositStatus, DepositTask, Release, ReleaseStatus
from audit.services import record
from jobs.tasks import send
from surveys.access import Seat
from surveys.models import Study

CAN_ASK_AGAIN = (ReleaseStatus.BUILT, ReleaseStatus.REQUESTED, ReleaseStatus.PUBLISHED)
TAKEN_OVER = (ReleaseStatus.OUTDATED, ReleaseStatus.FAILED, ReleaseStatus.DISCARDED, ReleaseStatus.REFUSED)
"""Ends of a release after which the next one of the same version has its DOI, unless it was given back before. The service finds one
deposit for a version, so that to give it back later would delete the next release's."""


def require_possible(release: Release) -> None:
    """Raises `DepositError` where no DOI can be asked for; nothing is sent."""
    offered = configured()
    if offered is None:
        raise DepositError(_("This server has no service that gives DOIs. Release the data without one."))
    if release.simulated:
        raise DepositError(_("Simulated data get no DOI: a DOI is for data that stay of use."))
    if missing := NAMES[offered.name].wants(description_of(release)):
        raise DepositError(missing)


def ask_for_doi(release: Release, *, actor: User) -> None:
    """Have a DOI reserved for a release that was just started and waits for it. Call it in the transaction that made the release."""
    require_possible(release)
    offered = configured()
    if offered is None:
        return
    earlier = Deposit.objects.select_for_update().filter(
        release__study=release.study_id, release__version=release.version, release__status__in=TAKEN_OVER, service=offered.name
    )
    before = earlier.exclude(status=DepositStatus.GIVEN_BACK).order_by("-pk").first()
    if before is None:
        deposit = Deposit.objects.create(release=release, service=offered.name, due_at=timezone.now())
    else:
        waits = {"task": DepositTask.RESERVE, "status": DepositStatus.WAITING, "holder": None, "due_at": timezone.now(), "attempts": 0}
        Deposit.objects.filter(pk=before.pk).update(release=release, **waits)
        deposit = Deposit.objects.get(pk=before.pk)
    _record(release, actions.DOI_ASKED, actor=actor, service=offered.name)
    transaction.on_commit(partial(send, deposit))


@transaction.atomic
def ask_again(release: Release, *, actor: User) -> None:
    """Try again what the service could not do: to reserve a DOI, or any later step. A deposit that it has already is found and used."""
    release, deposit = _locked(release)
    if not (Seat(actor, release.study).may_change or Seat(actor, release.study).may_review):
        raise DepositError(_("Only those who run the study and IRB officers can ask the service again."))
    if deposit is None or deposit.status != DepositStatus.FAILED:
        raise DepositError(_("There is nothing to try again."))
    if deposit.task == DepositTask.RESERVE and release.status not in CAN_ASK_AGAIN:
        raise DepositError(_("A DOI can be asked for again once the package is built."))
    if configured() is None:
        raise DepositError(_("This server has no service that gives DOIs any more."))
    _queue(deposit, DepositTask(deposit.task))
    _record(release, actions.DOI_ASKED, actor=actor, service=deposit.service)


@transaction.atomic
def go_on_without(release: Release, *, actor: User) -> None:
    """Wait for no DOI any more: the package is built without, and what the service reserved meanwhile is given back."""
    release, deposit = _locked(release)
    if not Seat(actor, release.study).may_change:
        raise DepositError(_("Only those who run the study can go on without a DOI."))
    if deposit is None or not deposit.is_under_way or deposit.task != DepositTask.RESERVE:
        raise DepositError(_("No DOI is being reserved now."))
    _queue(deposit, DepositTask.GIVE_BACK)
    if Release.objects.filter(pk=release.pk, status=ReleaseStatus.QUEUED, due_at=None).update(due_at=timezone.now(), with_doi=False):
        release.refresh_from_db(fields=["due_at"])
        transaction.on_commit(partial(send, release))
    _record(release, actions.DOI_GIVEN_BACK, actor=actor, service=deposit.service)


def publish_deposit(release: Release) -> None:
    """The release is approved: its deposit follows. Call it under the locks on study and release."""
    deposit = Deposit.objects.select_for_update().filter(release=release, status=DepositStatus.RESERVED).first()
    if deposit is not None:
        _queue(deposit, DepositTask.PUBLISH)


def give_back_or_withdraw(release: Release) -> None:
    """The release is refused, discarded or retracted: so is its deposit. Call it under the locks on study and release."""
    deposit = Deposit.objects.select_for_update().filter(release=release).first()
    if deposit is None or deposit.status in (DepositStatus.GIVEN_BACK, DepositStatus.WITHDRAWN):
        return
    _queue(deposit, DepositTask.WITHDRAW if deposit.status == DepositStatus.PUBLISHED else DepositTask.GIVE_BACK)


def _locked(release: Release) -> tuple[Release, Deposit | None]:
    """Study, release and deposit, locked in this order, as every other step of a release does."""
    study = Study.objects.select_for_update(no_key=True).get(pk=release.study_id)
    found = Release.objects.select_for_update().defer("package", "data", "manifest").get(pk=release.pk)
    found.study = study
    return found, Deposit.objects.select_for_update().filter(release=found).first()


def _queue(deposit: Deposit, task: DepositTask) -> None:
    """The next step waits for a worker; one that is at another step loses it."""
    now = timezone.now()
    waits = {"status": DepositStatus.WAITING, "holder": None, "due_at": now, "attempts": 0, "error": "", "stage": ""}
    Deposit.objects.filter(pk=deposit.pk).update(task=task, **waits)
    deposit.due_at = now
    transaction.on_commit(partial(send, deposit))


def _record(release: Release, action: str, *, actor: User | None, **details: str) -> None:
    record(actor=actor, action=action, subject=release.study, details={"version": release.version, **details})
