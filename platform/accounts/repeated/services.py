"""Doing a request once, and keeping its answer in the very transaction of its effect: either both are there after a crash, or neither."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.core.cache import cache
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import KeptAnswer, User
from accounts.repeated.sealing import RequestKeys
from jobs.registry import routine

KEPT = timedelta(days=1)
"""At least: a row tells a day and no hour, so that it stays until the end of the next day."""
LONGEST_SECONDS = 600


@contextmanager
def held(keys: RequestKeys) -> Iterator[bool]:
    """A transaction in which nobody else does the same request. False: somebody is at it.

    PostgreSQL gives the lock back with the transaction, also that of a killed process. An embedded installation is one process, which
    remembers what it does; its transactions would wait for each other instead.
    """
    if connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [int.from_bytes(bytes.fromhex(keys.name)[:8], signed=True)])
                [free] = cursor.fetchone()
            yield free
    elif cache.add(f"repeated:{keys.name}", 1, LONGEST_SECONDS):
        try:
            with transaction.atomic():
                yield True
        finally:
            cache.delete(f"repeated:{keys.name}")
    else:
        yield False


def kept_answer(keys: RequestKeys) -> KeptAnswer | None:
    return KeptAnswer.objects.filter(pk=keys.name).first()


def keep(keys: RequestKeys, *, account: User, fingerprint: str, content: bytes) -> None:
    """Keep the answer to a request that was done in this transaction."""
    sealed = keys.sealed(content)
    KeptAnswer.objects.create(name=keys.name, account=account, fingerprint=fingerprint, sealed=sealed, kept_on=timezone.localdate())


@routine(kind="kept_answers", every=timedelta(hours=1))
def forget() -> None:
    """Answers are kept for a day."""
    KeptAnswer.objects.filter(kept_on__lt=timezone.localdate() - KEPT).delete()
