"""The bots of a rehearsal, sent a few at a time by whichever worker is free. Every step may be repeated after a crash without harm."""

import time
from collections import Counter
from collections.abc import Mapping

from django.db import transaction

from audit.services import record
from candor.planning.simulation import Behaviour
from jobs.errors import TakenError
from surveys import actions
from surveys.batches.services import count_everyone
from surveys.bots.population import Habits, Population
from surveys.bots.sending import send_bots
from surveys.bots.walker import Ending
from surveys.counts import comers
from surveys.models import BotRun, BotRunStatus, Study
from surveys.protocols import protocol_in_force

FEW = 25
WORKERS = 2


def sent_so_far(bot_run: BotRun) -> int:
    """Bots are counted where everybody is counted, so that none is sent twice after a worker was killed; bots that were turned away leave
    no trace.
    """
    return comers(bot_run.study) + int(bot_run.endings.get(Ending.TURNED_AWAY, 0))


def send_few(bot_run: BotRun) -> None:
    """Send the next few bots. The bot_run then waits for its next few, so that other work comes in between."""
    try:
        _send_few(bot_run)
    except Exception:
        if BotRun.objects.filter(pk=bot_run.pk).exists():
            raise
        raise TakenError from None  # bots whose study was deleted meet whatever is left of it


def _send_few(bot_run: BotRun) -> None:
    start = time.monotonic()
    first = sent_so_far(bot_run)
    endings = _send(bot_run, first=first, n=min(FEW, bot_run.bots - first)) if first < bot_run.bots else Counter[Ending]()
    bot_run.endings = dict(Counter(bot_run.endings) + Counter({ending.value: count for ending, count in endings.items()}))
    found = {"endings": bot_run.endings, "seconds": bot_run.seconds + time.monotonic() - start}
    try:
        if sent_so_far(bot_run) < bot_run.bots:
            bot_run.wait(attempts=0, **found)
        else:
            _finish(bot_run, found)
    except TakenError:  # those who were on their way when somebody stopped the run have ended, too
        BotRun.objects.filter(pk=bot_run.pk, status=BotRunStatus.STOPPED).update(**found)
        raise


@transaction.atomic
def _finish(bot_run: BotRun, found: Mapping[str, object]) -> None:
    rehearsed = Study.objects.select_for_update(no_key=True).get(rehearsal=bot_run.study)  # before its copy, as everywhere
    bot_run.finish(**found)
    count_everyone(bot_run.study)
    details = {"n": bot_run.bots, "seed": bot_run.seed, "endings": bot_run.endings}
    record(actor=None, action=actions.BOTS_SENT, subject=rehearsed, details=details)


def _send(bot_run: BotRun, *, first: int, n: int) -> Counter[Ending]:
    population = Population.of(
        protocol_in_force(bot_run.study).definition,
        prevalence=bot_run.prevalence,
        effect=bot_run.effect,
        cheater_proportion=bot_run.cheater_proportion,
        behaviour=Behaviour(bot_run.behaviour),
        habits=Habits(drops_out=bot_run.drops_out, under_reports=bot_run.under_reports),
        seed=bot_run.seed,
    )
    return send_bots(bot_run.study, population=population, n=n, first=first, workers=WORKERS, seed=bot_run.seed)
