"""Requests for computations, their cancellation, and the blinding of readers."""

from contextlib import suppress
from datetime import timedelta
from functools import partial

from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from accounts.models import User
from analysis import actions
from analysis.models import Blinding, Run, RunKind, RunStatus
from analysis.news.announcing import announce
from analysis.runs import runner
from audit.services import record
from jobs.tasks import send
from surveys.batches.selectors import batch_is_complete
from surveys.errors import TransitionError
from surveys.lifecycle.steps import locked
from surveys.models import ENDED, Study


def request_refresh(study_id: int, *, kind: RunKind = RunKind.FIRST_RESULTS) -> None:
    """See to it that the results take in everybody who is counted by now."""
    if (run := runner.queue_run(study_id, kind=kind)) is not None:
        send(run)


def request_full_results(study: Study, *, actor: User) -> None:
    """Compute the full results now; a waiting or running computation is superseded."""
    if study.protocol_id is None:
        raise TransitionError(gettext("There is nothing to compute yet."))
    if study.numbers_withheld and study.status in ENDED:
        raise TransitionError(gettext("Everybody who took part is being counted. All numbers are computed after that."))
    if study.numbers_withheld:
        raise TransitionError(gettext("Somebody took their data out. All numbers are computed again with the next batch of people."))
    if study.forgotten_on is not None:
        raise TransitionError(gettext("Background answers are deleted, so not everything can be computed again."))
    with transaction.atomic():
        locked(study, by=actor, no_key=True)
        runner.end_unfinished(study.pk, kind=RunKind.FULL_RESULTS, status=RunStatus.SUPERSEDED)
        if (run := runner.queue_run(study.pk, kind=RunKind.FULL_RESULTS, after=timedelta(0))) is not None:
            transaction.on_commit(partial(send, run))
        record(actor=actor, action=actions.COMPUTATION_REQUESTED, subject=study)


@transaction.atomic
def cancel_full_results(study: Study, *, actor: User) -> bool:
    """Stop the full computation. False: there was none."""
    locked(study, by=actor, no_key=True)
    stopped = runner.end_unfinished(study.pk, kind=RunKind.FULL_RESULTS, status=RunStatus.CANCELLED)
    if stopped:
        record(actor=actor, action=actions.COMPUTATION_STOPPED, subject=study)
    return stopped


@transaction.atomic
def blind(study: Study, *, on: bool, actor: User) -> None:
    """From now on show everybody letters instead of arms, until the study is closed; or show the arms again."""
    locked(study, by=actor, no_key=True)
    blinding, _created = Blinding.objects.get_or_create(study=study)
    if blinding.is_active == on:
        return
    blinding.is_active = on
    blinding.full_clean()
    blinding.save()
    record(actor=actor, action=actions.BLINDED if on else actions.UNBLINDED, subject=study)


def refresh_when_somebody_finished(sender: object, *, study: Study, **kwargs: object) -> None:
    """Have a batch counted as soon as it is complete. Within a batch nothing is computed or written, whoever asks."""
    if batch_is_complete(study):
        request_refresh(study.pk)


def refresh_when_answers_change(sender: object, *, study_id: int, **kwargs: object) -> None:
    refresh_when_somebody_finished(sender, study=Study.objects.only("status", "protocol_id", "rehearsal_of_id").get(pk=study_id))


def tell_open_pages(sender: object, *, study_id: int, **kwargs: object) -> None:
    """Announce renewed numbers of people."""
    announce(study_id)


def refresh_when_everyone_is_counted(sender: object, *, study_id: int, **kwargs: object) -> None:
    """Compute the last results of a study, or of a rehearsal. A computation under way may have read people of whom some were counted."""
    for kind in RunKind:
        runner.end_unfinished(study_id, kind=kind, status=RunStatus.SUPERSEDED)
        transaction.on_commit(partial(_request_where_there, study_id, kind=kind))


def _request_where_there(study_id: int, *, kind: RunKind) -> None:
    with suppress(IntegrityError):  # a rehearsal that ends may be deleted, or begun anew, in the same moment
        request_refresh(study_id, kind=kind)


def delete_results_that_saw_the_person(sender: object, *, study_id: int, **kwargs: object) -> None:
    """Delete every stored result with a withdrawal, since the difference of two results would be that person's answers.

    Computations under way lose their rows, so they cannot store anything. In a study that has ended new ones wait from the same
    transaction on, so that none can begin with the person still in.
    """
    Run.objects.filter(study=study_id).delete()
    if Study.objects.filter(pk=study_id, status__in=ENDED).exists():
        for kind in RunKind:
            if (run := runner.queue_run(study_id, kind=kind)) is not None:
                transaction.on_commit(partial(send, run))


def full_results_are_awaited(sender: object, *, study_id: int, **kwargs: object) -> bool:
    """Whether results that use background answers are waiting or being computed."""
    return Run.objects.filter(study=study_id, kind=RunKind.FULL_RESULTS, status__in=(RunStatus.QUEUED, RunStatus.RUNNING)).exists()


def stop_when_data_are_forgotten(sender: object, *, study_id: int, **kwargs: object) -> None:
    """End the running computation, with its copy of the background answers; first results, which use none, are computed once more."""
    for kind in RunKind:
        runner.end_unfinished(study_id, kind=kind, status=RunStatus.SUPERSEDED)
    transaction.on_commit(lambda: request_refresh(study_id))
