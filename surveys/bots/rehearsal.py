"""The crowd of a rehearsal, sent a few at a time by whichever worker is free. Every step may be repeated after a crash without harm."""

import time
from collections import Counter

from django.db import transaction
from django.utils import timezone

from audit.services import record
from candor.planning.simulation import Behaviour
from surveys import actions
from surveys.bots.crowd import send_bots
from surveys.bots.population import Habits, Population
from surveys.bots.walker import Ending
from surveys.counts import counts_of
from surveys.models import Crowd, CrowdStatus
from surveys.protocols import protocol_in_force

FEW = 25
WORKERS = 2


def sent_so_far(crowd: Crowd) -> int:
    """Counted where everybody is counted, so that nobody is sent twice after a worker was killed; who was turned away leaves no trace."""
    counts = counts_of(crowd.study)
    return counts.consented + counts.declined + int(crowd.endings.get(Ending.TURNED_AWAY, 0))


def send_next(crowd_id: int, turn: int) -> int | None:
    """Send the next few bots, if it is still this turn's; gives the turn that follows, or None when there is nothing more to do."""
    mine = Crowd.objects.filter(pk=crowd_id, status=CrowdStatus.WALKING)
    if not mine.filter(turn=turn).update(turn=turn + 1, heard_at=timezone.now()):
        return None
    crowd = Crowd.objects.select_related("study").get(pk=crowd_id)
    start = time.monotonic()
    try:
        first = sent_so_far(crowd)
        endings = _send(crowd, first=first, n=min(FEW, crowd.bots - first)) if first < crowd.bots else Counter[Ending]()
    except Exception as error:
        mine.filter(turn=turn + 1).update(status=CrowdStatus.FAILED, heard_at=None, error=f"{type(error).__name__}: {error}"[:2000])
        raise
    with transaction.atomic():
        stored = mine.select_for_update().filter(turn=turn + 1).first()
        if stored is None:  # stopped, deleted or taken over in the meantime
            return None
        stored.endings = dict(Counter(stored.endings) + Counter({ending.value: count for ending, count in endings.items()}))
        stored.seconds += time.monotonic() - start
        stored.silences, stored.heard_at = 0, timezone.now()
        over = sent_so_far(stored) >= stored.bots
        if over:
            stored.status, stored.heard_at = CrowdStatus.DONE, None
        stored.save()
        if over:
            details = {"n": stored.bots, "seed": stored.seed, "endings": stored.endings}
            record(actor=None, action=actions.BOTS_SENT, subject=stored.study.rehearsal_of, details=details)
    return None if over else turn + 1


def _send(crowd: Crowd, *, first: int, n: int) -> Counter[Ending]:
    population = Population.of(
        protocol_in_force(crowd.study).definition,
        prevalence=crowd.prevalence,
        effect=crowd.effect,
        cheater_proportion=crowd.cheater_proportion,
        behaviour=Behaviour(crowd.behaviour),
        habits=Habits(drops_out=crowd.drops_out, under_reports=crowd.under_reports),
    )
    return send_bots(crowd.study, population=population, n=n, first=first, workers=WORKERS, seed=crowd.seed)
