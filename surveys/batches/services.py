"""Moving people into the numbers that are shown, and out of them again."""

import logging
import secrets
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet

from jobs.tasks import send_now
from surveys.batches import rules
from surveys.batches.numbers import Numbers, State, many_are_on_their_way, numbers_of, show, studies_to_renew, write_shown
from surveys.batches.order_of_arrival import (
    HELD_AT_ONCE,
    drawn,
    give_one_age,
    lay_anew,
    parts,
    stays_running,
    those_who_hide,
    vacuum,
    vacuum_soon,
)
from surveys.batches.selectors import (
    GROUP,
    batch_is_complete,
    by_group,
    finished_people,
    group_of,
    nobody_comes_any_more,
    waiting_people,
)
from surveys.batches.tally import (
    Tally,
    counted,
    counted_lines,
    kept_tally,
    not_counted,
    tally_of,
    tally_of_people,
    written_lines,
)
from surveys.batches.the_end import Ending, Standing, standing, the_end_of
from surveys.counts import comers
from surveys.events import everyone_counted, numbers_renewed
from surveys.lifecycle.steps import locked
from surveys.models import ENDED, RUNNING, KeptCounts, Participant, ShownNumbers, Study

ORDER_OF_DAYS = "order_of_days"
"""The kind of work that gives all rows of a study one age."""
ATTEMPTS = 3
"""How often the counts of a study are compared before its batches are found to come too fast."""
EVERYONE_COUNTED = "everyone_counted"
"""The kind of work that counts the people of closed studies."""
ENDS_KEPT = "remembered_ends"
"""The kind of work that remembers ends beside the database."""
FEW = 200
"""With more people left, a study that is closed leaves it to a worker to count them, part by part."""
WAIT_UNTIL_THE_END = 4 * rules.LEAST
"""How many people of each group enter the numbers of a closed study together, at the end."""
SEALED_AT_ONCE = 200
"""How many people enter the numbers in one transaction. More of them wait only where no worker was there; they enter by and by."""
entropy = secrets.SystemRandom()
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """People drawn for the next batch, laid anew and counted while nobody is held."""

    changes: int
    """How often the kept counts had been written when they were drawn."""
    comes: Sequence[UUID]
    """Those who are to be shown."""
    waits: Sequence[UUID]
    """Those who are shown and are to wait again."""
    tallies: tuple[Tally, Tally]
    """How both are counted."""
    numbers: Numbers | None
    """None: it takes too long to count everybody, and the next minute does it."""
    more: bool
    """Whether so many people wait that others are sealed after these."""


def count_next_batch(study: Study, *, note: Callable[[], None] = lambda: None) -> bool:
    """Let a complete batch of a running study into the shown numbers. False: it is not complete yet, or it changed again and again.

    Nobody waits while it is drawn, laid anew and counted. Then the study is held, as withdrawals hold it too, to see that everybody is
    still there, and to write. People who are just withdrawing are left out. `note` is called in the same transaction.
    """
    leaving: set[UUID] = set()
    sealed, attempts = False, ATTEMPTS
    while attempts:
        study = Study.objects.get(pk=study.pk)
        if not (sealed or batch_is_complete(study)):
            return False
        if nobody_comes_any_more(study):
            return _count_all(study, note)
        batch = _drawn_batch(study, leaving=leaving)
        if batch is None or not _seal(study, batch, (lambda: None) if sealed else note):
            attempts -= 1
        elif not (sealed := batch.more):
            return True
    return sealed


@transaction.atomic
def _count_all(study: Study, note: Callable[[], None]) -> bool:
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if not batch_is_complete(study):
        return False
    count_everyone(study)
    note()
    return True


def _drawn_batch(study: Study, *, leaving: set[UUID]) -> Batch | None:
    """The people of the next batch, without those who are `leaving`. None: some more are, which is noted."""
    changes = State.of(study).changes
    waiting: dict[tuple[object, ...], list[UUID]] = defaultdict(list)
    for key, *group in waiting_people(study.pk).values_list("pk", *GROUP):
        if key not in leaving:
            waiting[tuple(group)].append(key)
    most = rules.taken({group: len(people) for group, people in waiting.items()})
    taken = rules.few_of(most, most=SEALED_AT_ONCE)
    comes = [key for group, people in taken.items() for key in entropy.sample(waiting[group], people)]
    # So many wait again that whole tens stay, which hides who withdrew since the last batch. They are no part of this one, so that they
    # cannot make up for each other.
    waits = []
    for group, people in tally_of(study.pk).groups().items():
        if too_many := people % rules.LEAST:
            alike = finished_people(study.pk, counted=True).filter(**_of(group))
            waits += drawn(alike.exclude(pk__in=leaving), too_many)
    everybody = sorted(comes + waits)
    if busy := set(everybody) - set(_laid_anew(study, everybody)):
        leaving |= busy
        return None
    tallies = tally_of_people(comes), tally_of_people(waits)
    numbers = None if taken != most or many_are_on_their_way(study) else numbers_of(study)
    return Batch(changes=changes, comes=comes, waits=waits, tallies=tallies, numbers=numbers, more=taken != most)


def _laid_anew(study: Study, people: Sequence[UUID]) -> list[UUID]:
    """Lay the rows of these people anew, a few at once, as long as the study runs; those whose rows somebody else holds are left out.

    After the end nobody's row is held here: those who hide somebody that left are drawn among the rows which nobody holds.
    """
    laid: list[UUID] = []
    for part in parts(people, HELD_AT_ONCE):
        with transaction.atomic():
            if not stays_running(study):
                break
            free = Participant.objects.filter(pk__in=part).select_for_update(skip_locked=True, of=("self",))
            held = list(free.values_list("pk", flat=True))
            lay_anew(held)
        laid += held
    return laid


@transaction.atomic
def _seal(study: Study, batch: Batch, note: Callable[[], None]) -> bool:
    """Let the batch in, unless somebody of it is gone, or those who are shown are others. Newcomers do not wait for it."""
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    now = State.of(study)
    if study.status not in RUNNING or now.changes != batch.changes:
        return False
    everybody = [*batch.comes, *batch.waits]
    there = Participant.objects.filter(Q(pk__in=batch.comes, counted=False) | Q(pk__in=batch.waits, counted=True))
    if len(there.select_for_update(skip_locked=True, of=("self",)).values_list("pk")) < len(everybody):
        return False
    Participant.objects.filter(pk__in=everybody).update(counted=~F("counted"))
    give_one_age(everybody)
    comes, waits = batch.tallies
    _keep_change(study.pk, before=waits, after=comes)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    left_over = waiting_people(study.pk).count()
    if batch.numbers is not None and batch.numbers.as_of == now:
        show(study, batch.numbers, left_over=left_over)
    else:
        write_shown(study, left_over=left_over)
    note()
    transaction.on_commit(vacuum_soon)
    return True


def let_steps_end(study: Study) -> list[Standing]:
    """Wait until everybody who is just sending a page is done; where each of them stands then. Steps hold people first and then the study,
    and so must closing.
    """
    return standing(study, hold=True)


def few_are_left(study: Study) -> bool:
    """Whether so few people are not in the shown numbers yet that all can be let in together."""
    left = (people.values("pk")[: FEW + 1].count() for people in not_counted(study.pk))
    return sum(left) <= FEW


def count_everyone_in_parts(study: Study) -> None:
    """Let everybody into the numbers of a closed study, a few at once, while none are shown; a call after a kill goes on.

    Parts follow the random keys. So many people of each group wait until the end that the numbers which follow differ from those shown
    before by `LEAST` people or more, also if some withdraw meanwhile. No step goes on any more: the study was closed before this began.
    A worker that lost this work to another one may go on later: once numbers are shown it lets nobody in who is held back.
    """
    _waiting, unfinished = not_counted(study.pk)
    _let_in(study, unfinished, sorted(unfinished.values_list("pk", flat=True)))
    waiting = waiting_people(study.pk)
    for group in by_group(waiting):
        alike = waiting.filter(**_of(group))
        _let_in(study, alike, sorted(alike.values_list("pk", flat=True))[WAIT_UNTIL_THE_END:])
    vacuum()  # or those who are left are looked for among all who were let in
    ready = the_end_of(study)
    with transaction.atomic():
        found = let_steps_end(study)
        if (study := locked(study)).numbers_withheld:
            _count_who_is_left(study, found, ready)


def _let_in(study: Study, people: QuerySet[Participant], keys: Sequence[UUID]) -> None:
    for part in parts(keys, HELD_AT_ONCE):
        with transaction.atomic():
            held = list(people.filter(pk__in=part).select_for_update(of=("self",)).values_list("pk", flat=True))
            alike = tally_of_people(held)
            if not Study.objects.select_for_update(no_key=True).get(pk=study.pk).numbers_withheld:
                return
            _count(study.pk, held, alike=alike)  # the night that begins with the end lays them anew


@transaction.atomic
def count_everyone(study: Study, ready: Ending | None = None) -> None:
    """Let everybody into the shown numbers, because the study, or the run of its bots, has ended and nobody comes any more."""
    found = let_steps_end(study)
    study = locked(study)
    if nobody_comes_any_more(study):
        _count_who_is_left(study, found, ready)


def _count_who_is_left(study: Study, found: list[Standing], ready: Ending | None) -> None:
    """A shown group in which fewer than `LEAST` wait, since others who waited withdrew, stays as it is: its last few would show. If
    somebody who was shown withdrew, too, `LEAST` of it are held back beside them. The end is counted again if it is not `ready` any more.
    """
    if ready is None or ready.standing != found or ready.numbers.as_of != State.of(study):
        ready = the_end_of(study)
    _count(study.pk, ready.comes, alike=ready.tally)
    for group in ready.few if study.numbers_withheld else ():
        alike = finished_people(study.pk, counted=True).filter(**_of(group)).exclude(pk__in=ready.held_back)
        _count(study.pk, those_who_hide(study, alike, rules.LEAST), shown=False)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    show(study, ready.numbers, left_over=0)
    everyone_counted.send(sender=Study, study_id=study.pk)
    transaction.on_commit(lambda: send_now(ORDER_OF_DAYS))
    transaction.on_commit(lambda: send_now(ENDS_KEPT))


def count_people_of_closed_studies() -> None:
    """Count everybody of studies that were closed with many people left."""
    for study in Study.objects.filter(status__in=ENDED, numbers_withheld=True):
        count_everyone_in_parts(study)


def hide_withdrawal(study: Study, *, withdrawn: Participant, leaving: Collection[str] = ()) -> None:
    """After the end, hold back people of the group of somebody who was counted and is deleted: no difference is theirs alone.

    Those held back before stay so. If they were let in again and others drawn, this person would be missing each time, beside ever others:
    after a few withdrawals they would be the only one who always was. Call it with the study locked. (While a study runs, the next batch
    does so.)

    `leaving`: the hashes of people who are to be withdrawn next. One of them would hide somebody now and nobody afterwards, so that in
    another order another number of people would be left.
    """
    hold_back(study, group_of(withdrawn).exclude(withdrawal_hash__in=leaving), rules.LEAST - 1)


def hold_back(study: Study, alike: QuerySet[Participant], people: int) -> None:
    """Take so many of these out of the shown numbers, or all of a group that would be too small after that. The study is locked."""
    shown, smallest = alike.filter(counted=True), people + rules.LEAST
    too_small = shown[:smallest].count() < smallest
    _count(study.pk, those_who_hide(study, shown, smallest if too_small else people), shown=False)
    write_shown(study)


def show_who_is_on_the_way(study: Study) -> bool:
    """Renew the shown numbers of people who have not finished, once `LEAST` more have come since they were renewed. False: too early.

    The moment depends on the number of comers alone: otherwise a number that moves would name the person who moved it.
    """
    shown = ShownNumbers.objects.filter(study=study).values_list("comers", flat=True).first() or 0
    if study.status not in RUNNING or comers(study, present=_present(study)) < shown + rules.LEAST:
        return False
    if any(_show_unless_changed(study, numbers_of(study)) for _attempt in range(ATTEMPTS)):
        numbers_renewed.send(sender=Study, study_id=study.pk)
        return True
    return False


@transaction.atomic
def _show_unless_changed(study: Study, numbers: Numbers) -> bool:
    """Show these numbers of a running study, unless somebody withdrew meanwhile, or others are shown. People may come."""
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if study.status not in RUNNING or State.of(study) != numbers.as_of:
        return False
    show(study, numbers)
    return True


def renew_who_is_on_the_way() -> list[Study]:
    """Renew these numbers of all running studies to which enough people have come."""
    return [study for study in studies_to_renew() if show_who_is_on_the_way(study)]


def keep_shown_numbers(study: Study, *, shown_as: Callable[[int], int] = rules.in_steps) -> None:
    """Keep the numbers to be shown from now on."""
    show(study, numbers_of(study, shown_as=shown_as))


def _of(group: Iterable[object]) -> dict[str, object]:
    """The columns of a group, to filter by."""
    return dict(zip(GROUP, group, strict=True))


def _count(study_id: int, keys: Sequence[UUID], *, shown: bool = True, alike: Tally | None = None) -> None:
    """Let these people into the shown numbers, or out of them. `alike` is their tally, where somebody has counted them before."""
    tally, nobody = tally_of_people(keys) if alike is None else alike, Tally.of_nobody()
    for part in parts(keys):
        Participant.objects.filter(pk__in=part).update(counted=shown)
    _keep_change(study_id, before=nobody if shown else tally, after=tally if shown else nobody)


@contextmanager
def people_change(study_id: int, keys: Collection[object]) -> Iterator[None]:
    """Keep the counts in step while the block changes these people or deletes them.

    Call it in a transaction that holds the people and the study. Only what it changes is counted, however many others there are.
    """
    before = counted(pk__in=list(keys))
    yield
    _keep_change(study_id, before=before, after=counted(pk__in=list(keys)))


def forget_people(study_id: int, alike: Tally) -> None:
    """Keep the counts in step with people who were counted as `alike` and are deleted. Call it with the study locked."""
    _keep_change(study_id, before=alike, after=Tally.of_nobody())


def _keep_change(study_id: int, *, before: Tally, after: Tally) -> None:
    if before != after:
        kept = kept_tally(study_id)
        _keep(study_id, (kept and kept.changed(before=before, after=after)) or counted(study=study_id))


def _keep(study_id: int, tally: Tally) -> None:
    if not KeptCounts.objects.filter(study=study_id).update(**tally.written(), changes=F("changes") + 1):
        KeptCounts.objects.create(study_id=study_id, **tally.written(), changes=1)


def count_again(study: Study) -> None:
    """Keep counts made anew from the rows of people. Nobody is held while they are counted, unless batches come all the time."""
    for attempt in range(ATTEMPTS + 1):
        changes = State.of(study).changes
        found = counted(study=study.pk), counted_lines(study.pk, {})
        with transaction.atomic():
            Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # people may come meanwhile; batches and withdrawals wait
            unchanged = State.of(study).changes == changes
            if unchanged or attempt == ATTEMPTS:
                tally, lines = found if unchanged else (counted(study=study.pk), counted_lines(study.pk, {}))
                _keep(study.pk, tally)
                KeptCounts.objects.filter(study=study.pk).update(lines=written_lines(lines))
                write_shown(study)
                return


def _present(study: Study) -> int:
    return tally_of(study.pk).people.total() + sum(people.count() for people in not_counted(study.pk))
