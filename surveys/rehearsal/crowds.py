"""Rehearsals that were left by their worker, or forgotten by the broker, are sent on."""

import logging
from datetime import timedelta

from django.utils import timezone

from surveys.models import Crowd, CrowdStatus

SILENCE = timedelta(seconds=60)
MOST_SILENCES = 5

logger = logging.getLogger(__name__)


def take_over(*, silence: timedelta = SILENCE) -> list[tuple[int, int]]:
    """Take crowds away from workers of whom nothing was heard for this long, or whose message was lost; gives each with its next turn."""
    now, taken = timezone.now(), []
    for crowd in Crowd.objects.filter(status=CrowdStatus.WALKING, heard_at__lte=now - silence):
        left = Crowd.objects.filter(pk=crowd.pk, status=CrowdStatus.WALKING, turn=crowd.turn)
        if crowd.silences >= MOST_SILENCES:
            error = f"Given up after {crowd.silences} workers fell silent."
            left.update(status=CrowdStatus.FAILED, heard_at=None, error=error)
        elif left.update(turn=crowd.turn + 1, silences=crowd.silences + 1, heard_at=now):
            taken.append((crowd.pk, crowd.turn + 1))
        logger.warning("The bots of a rehearsal were left by their worker")
    return taken


def forget_workers() -> None:
    """All workers are gone, so that the next sweep may send their bots on without waiting."""
    Crowd.objects.filter(status=CrowdStatus.WALKING).update(heard_at=timezone.now() - timedelta(days=1))
