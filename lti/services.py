"""Letting credit go: whole batches, in an order drawn by chance, at a moment that no single student decides."""

import secrets
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from audit.services import record
from jobs.registry import routine
from jobs.tasks import send
from lti import actions
from lti.models import BatchStatus, CreditBatch
from lti.selectors import given_up
from surveys.batches import rules
from surveys.models import CreditBook, Study

KEPT = timedelta(days=90)
"""How long students stay known whose credit no platform takes."""
WEEK = timedelta(days=7)
entropy = secrets.SystemRandom()


@routine(kind="credit", every=timedelta(hours=1))
def let_credit_go() -> None:
    """Send what waits, of each study in which ten students or more wait."""
    for book in CreditBook.objects.exclude(waiting=[]).select_related("study"):
        make_batch(book.study, least=rules.LEAST)
    CreditBatch.objects.filter(status=BatchStatus.FAILED, ended_on__lt=timezone.localdate() - KEPT).update(places=[])


@routine(kind="last_credit", every=WEEK)
def let_the_last_go() -> None:
    """Send what waits, however few they are, of each study that ended a week ago or earlier. A student who hands in alone by then has a
    week in common with others, not an hour.
    """
    ended = CreditBook.objects.filter(study__closed_on__lte=timezone.localdate() - WEEK)
    for book in ended.exclude(waiting=[]).select_related("study"):
        make_batch(book.study)


def send_the_last(sender: object, *, study_id: int, **kwargs: object) -> None:
    """Before operational data are deleted, and with them the book of credit, what waits goes on its way."""
    if CreditBook.objects.filter(study=study_id).exists():
        make_batch(Study.objects.get(pk=study_id))


@transaction.atomic
def make_batch(study: Study, *, least: int = 1) -> CreditBatch | None:
    """Move everybody who waits into one batch, to be sent by a worker; nobody if fewer than `least` wait."""
    book = CreditBook.objects.select_for_update().get(study=study)
    if len(book.waiting) < least:
        return None
    places = entropy.sample(book.waiting, len(book.waiting))
    book.waiting = []
    book.save()
    batch = CreditBatch.objects.create(study=study, people=len(places), places=places, due_at=timezone.now())
    transaction.on_commit(partial(send, batch))
    return batch


@transaction.atomic
def send_again(study: Study, *, actor: User) -> int:
    """Send what platforms did not take in about a day, as far as its students are still known; return how many batches there are."""
    batches = list(given_up(study).select_for_update())
    for batch in batches:
        batch.status, batch.due_at, batch.holder, batch.attempts, batch.ended_on = BatchStatus.WAITING, timezone.now(), None, 0, None
        batch.save()
        transaction.on_commit(partial(send, batch))
    if batches:
        record(actor=actor, action=actions.SENT_AGAIN, subject=study, details={"batches": len(batches)})
    return len(batches)
