"""Counts of attempts, kept in the database: they hold for all processes at the same moment, and also while the cache is away."""

from datetime import timedelta

from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import AttemptCount

PERIOD = timedelta(minutes=15)


def take_attempt(kind: str, of: str, *, at_most: int) -> bool:
    """Count one more attempt within a quarter of an hour. False, and nothing counted, if there were as many already.

    One statement compares and counts, so that no number of simultaneous attempts exceeds the limit.
    """
    now = timezone.now()
    AttemptCount.objects.filter(ends_at__lte=now).delete()
    AttemptCount.objects.bulk_create([AttemptCount(key=_key(kind, of), ends_at=now + PERIOD)], ignore_conflicts=True)
    return bool(AttemptCount.objects.filter(key=_key(kind, of), number__lt=at_most).update(number=F("number") + 1))


def give_attempt_back(kind: str, of: str) -> None:
    """Count an attempt no longer, because it was none."""
    AttemptCount.objects.filter(key=_key(kind, of), number__gt=0).update(number=F("number") - 1)


def forget_attempts(kind: str, of: str) -> None:
    """Count from nothing again."""
    AttemptCount.objects.filter(key=_key(kind, of)).delete()


def _key(kind: str, of: str) -> str:
    """Keyed, because people type passwords into the field of the name."""
    return salted_hmac(f"accounts.attempts.{kind}", of, algorithm="sha256").hexdigest()
