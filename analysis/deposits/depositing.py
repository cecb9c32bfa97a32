"""The steps of a deposit, done by a worker. Each begins with a look at what the service has, so it may be repeated."""

from datetime import timedelta
from functools import partial

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from analysis import actions
from analysis.deposits.description import description_of
from analysis.deposits.errors import DepositError, ServiceAwayError
from analysis.deposits.found import Found
from analysis.deposits.offered import DoiService, configured, service_of
from analysis.models import OPEN_RELEASES, Deposit, DepositStatus, DepositTask, Release, ReleaseStatus
from audit.services import record
from candor.packages.archive import files_in
from jobs.queues import Queue
from jobs.registry import HEAVY, job
from jobs.tasks import send
from surveys.languages.labels import within_sentence
from surveys.models import Study

PAUSES = {
    DepositTask.RESERVE: (timedelta(seconds=2), timedelta(seconds=10)),
    DepositTask.PUBLISH: (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1)),
    DepositTask.GIVE_BACK: (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1)),
    DepositTask.WITHDRAW: (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1)),
}
"""Before each further try while the service is away. A release waits for the first task, so it is soon given up."""
SECONDS = {DepositTask.RESERVE: 3 * 60, DepositTask.PUBLISH: 30 * 60, DepositTask.GIVE_BACK: 10 * 60, DepositTask.WITHDRAW: 10 * 60}
"""So long a try may take in all, or a service that drips would hold a worker for ever. It keeps the files that it has by then."""


@job(kind="deposit", model=Deposit, expects=(DepositError,), queue=Queue.MAIL, priority=HEAVY)
def deposit(held: Deposit) -> None:
    """Do the step that waits. A service that is away is tried again, later and later; then people decide."""
    task = DepositTask(held.task)
    try:
        service = _service(held, seconds=SECONDS[task])
        {
            DepositTask.RESERVE: _reserve,
            DepositTask.PUBLISH: _publish,
            DepositTask.GIVE_BACK: _give_back,
            DepositTask.WITHDRAW: _withdraw,
        }[task](held, service)
    except ServiceAwayError as error:
        if held.attempts <= len(PAUSES[task]):
            held.wait(PAUSES[task][held.attempts - 1], error=str(error)[:2000])
        else:
            _miss(held, error)
    except DepositError as error:
        _miss(held, error)


def _service(held: Deposit, *, seconds: float) -> DoiService:
    try:
        offered = configured()
    except ImproperlyConfigured as error:
        raise DepositError(_("The settings of the service that gives DOIs cannot be right. Its operator must look at them.")) from error
    if offered is None or offered.name != held.service:
        raise DepositError(_("This server does not use %(service)s any more.") % {"service": held.service})
    return service_of(offered, seconds=seconds)


def _reserve(held: Deposit, service: DoiService) -> None:
    description = description_of(held.release)
    found = (service.look(held.number) if held.number else None) or service.find(description) or service.reserve(description)
    held.write(number=found.number, doi=found.doi)
    with transaction.atomic():
        release = _locked(held)
        if release.status == ReleaseStatus.PUBLISHED:
            held.wait(task=DepositTask.PUBLISH, attempts=0)
        elif release.status not in OPEN_RELEASES:
            held.wait(task=DepositTask.GIVE_BACK, attempts=0)
        else:
            held.finish(status=DepositStatus.RESERVED, error="")
            _name_in_package(release)
        _record(release, actions.DOI_RESERVED, doi=found.doi)


def _name_in_package(release: Release) -> None:
    """Have the package built with the DOI; one that was signed without it is built again, and its investigator looks at it once more."""
    unbuilt = {"status": ReleaseStatus.QUEUED, "holder": None, "due_at": timezone.now(), "attempts": 0, "stage": "", "with_doi": True}
    Release.objects.filter(pk=release.pk).update(**{**Release.NOT_BUILT, **unbuilt})
    transaction.on_commit(partial(send, Release.objects.defer("package", "data", "manifest").get(pk=release.pk)))


def _publish(held: Deposit, service: DoiService) -> None:
    release = Release.objects.select_related("study").get(pk=held.release_id)
    if release.status != ReleaseStatus.PUBLISHED or release.package is None:
        raise DepositError(
            _("Expected an approved release, found one that is %(status)s.") % {"status": within_sentence(release.get_status_display())}
        )
    files = files_in(bytes(release.package))
    found = service.look(held.number)
    if found is None:
        raise DepositError(_("The service has no deposit %(number)s any more.") % {"number": held.number})
    if not found.is_public:
        found = service.publish(held.number, description_of(release), files, lambda sent: held.write(stage=f"{sent}/{len(files)}"))
    _require_same(held, found)
    with transaction.atomic():
        release = _locked(held)
        if release.status != ReleaseStatus.PUBLISHED:  # retracted meanwhile
            held.wait(task=DepositTask.WITHDRAW, attempts=0, stage="")
        else:
            held.finish(status=DepositStatus.PUBLISHED, published_on=timezone.localdate(), stage="", error="")
        _record(release, actions.DOI_REGISTERED, doi=found.doi)


def _require_same(held: Deposit, found: Found) -> None:
    if found.doi.lower() != held.doi.lower():
        raise DepositError(_("Expected the DOI %(reserved)s, found %(found)s.") % {"reserved": held.doi, "found": found.doi})


def _give_back(held: Deposit, service: DoiService) -> None:
    found = (service.look(held.number) if held.number else None) or service.find(description_of(held.release))
    if found is not None:
        held.write(number=found.number, doi=found.doi)  # not if the next release took it over meanwhile
        if found.is_public:
            _withdraw(held, service)
            return
        service.give_back(found.number)
    held.finish(status=DepositStatus.GIVEN_BACK, doi="", number="", error="")
    _record(held.release, actions.DOI_GIVEN_BACK, doi=found.doi if found else "")


def _withdraw(held: Deposit, service: DoiService) -> None:
    release = Release.objects.select_related("study").get(pk=held.release_id)
    service.withdraw(held.number, description_of(release), release.reason)
    held.finish(status=DepositStatus.WITHDRAWN, task=DepositTask.WITHDRAW, error="")
    _record(release, actions.DOI_WITHDRAWN, doi=held.doi)


def _miss(held: Deposit, error: DepositError) -> None:
    """Give the step up. The log says so, the page has the reason and a button, and a release that waited is built without a DOI."""
    with transaction.atomic():
        release = _locked(held)
        held.finish(status=DepositStatus.FAILED, error=str(error)[:2000], stage="")
        _record(release, actions.DOI_MISSED, service=held.service, task=held.task, why=str(error)[:300])
        waiting = Release.objects.filter(pk=release.pk, status=ReleaseStatus.QUEUED, holder=None).first()
        if waiting is not None:
            transaction.on_commit(partial(send, waiting))


def _locked(held: Deposit) -> Release:
    """The release as it is now, under the locks on its study and on itself."""
    study = Study.objects.select_for_update(no_key=True).get(pk=held.release.study_id)
    found = Release.objects.select_for_update().defer("package", "data", "manifest").get(pk=held.release_id)
    found.study = study
    return found


def _record(release: Release, action: str, **details: str) -> None:
    record(actor=None, action=action, subject=release.study, details={"version": release.version, **details})
