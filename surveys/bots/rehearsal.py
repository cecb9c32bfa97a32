"""The bots of a rehearsal, sent a few at a time by whichever worker is free. Every step may be repeated after a crash without harm."""

import time
from collections import Counter

from django.db import transaction

from audit.services import record
from candor.planning.simulation import Behaviour
from surveys import actions
from surveys.bots.crowd import send_bots
from surveys.bots.population import Habits, Population
from surveys.bots.walker import Ending
from surveys.counts import counts_of
from surveys.models import Crowd
from surveys.protocols import protocol_in_force

FEW = 25
WORKERS = 2


def sent_so_far(crowd: Crowd) -> int:
    """Bots are counted where everybody is counted, so that none is sent twice after a worker was killed; bots that were turned away leave
    no trace.
    """
    counts = counts_of(crowd.study)
    return counts.consented + counts.declined + int(crowd.endings.get(Ending.TURNED_AWAY, 0))


def send_few(crowd: Crowd) -> None:
    """Send the next few bots. The crowd then waits for its next few, so that other work comes in between."""
    start = time.monotonic()
    first = sent_so_far(crowd)
    endings = _send(crowd, first=first, n=min(FEW, crowd.bots - first)) if first < crowd.bots else Counter[Ending]()
    crowd.endings = dict(Counter(crowd.endings) + Counter({ending.value: count for ending, count in endings.items()}))
    found = {"endings": crowd.endings, "seconds": crowd.seconds + time.monotonic() - start}
    if sent_so_far(crowd) < crowd.bots:
        crowd.wait(attempts=0, **found)
        return
    with transaction.atomic():
        crowd.finish(**found)
        details = {"n": crowd.bots, "seed": crowd.seed, "endings": crowd.endings}
        record(actor=None, action=actions.BOTS_SENT, subject=crowd.study.rehearsal_of, details=details)


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
