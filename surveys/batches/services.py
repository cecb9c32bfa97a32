"""Moving people into the numbers that are shown, and out of them again."""

import logging
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, QuerySet, Sum

from jobs.tasks import send_now
from surveys.batches import rules
from surveys.batches.order_of_arrival import HELD_AT_ONCE, drawn, forget_what_was_overwritten, lay_anew, parts
from surveys.batches.selectors import (
    AT_THE_END,
    GROUP,
    TOTALS,
    batch_is_complete,
    by_group,
    everybody,
    finished_people,
    group_of,
    nobody_comes_any_more,
    waiting_people,
)
from surveys.batches.tally import (
    Tally,
    counted,
    counted_lines,
    differences,
    kept_lines,
    kept_tally,
    lines_by_group,
    not_counted,
    read,
    taken_until,
    tallies_kept,
    tally_of,
    written_lines,
)
from surveys.counts import comers, counts_of, exact_consent_counts
from surveys.events import everyone_counted, numbers_renewed
from surveys.lifecycle.steps import locked
from surveys.models import (
    ENDED,
    RUNNING,
    AttritionCount,
    CounterKind,
    KeptCounts,
    Participant,
    ShardedCounter,
    ShownNumbers,
    Study,
    WayNumbers,
)

ORDER_OF_DAYS = "order_of_days"
"""The kind of work that gives all rows of a study one age."""
ATTEMPTS = 3
"""How often the counts of a study are compared before its batches are found to come too fast."""
EVERYONE_COUNTED = "everyone_counted"
"""The kind of work that counts the people of closed studies."""
FEW = 200
"""With more people left, a study that is closed leaves it to a worker to count them, part by part."""
WAIT_UNTIL_THE_END = 4 * rules.LEAST
"""How many people of each group enter the numbers of a closed study together, at the end."""
MANY_ON_THEIR_WAY = 5000
"""With more people who have not finished, a batch leaves it to the next minute to count them: people wait for its numbers."""
entropy = secrets.SystemRandom()
logger = logging.getLogger(__name__)


@transaction.atomic
def count_next_batch(study: Study) -> bool:
    """Let a complete batch of a running study into the shown numbers. False: it is not complete yet.

    People who are just withdrawing are left out: they hold their rows and wait for the study, which this holds. Newcomers do not wait.
    """
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if not batch_is_complete(study):
        return False
    if nobody_comes_any_more(study):
        count_everyone(study)
        return True
    waiting = _held(waiting_people(study.pk))
    taken = rules.taken({group: len(people) for group, people in waiting.items()})
    batch = [key for group, people in taken.items() for key in entropy.sample(waiting[group], people)]
    # So many wait again that whole tens stay, which hides who withdrew since the last batch. They are no part of this one, so that they
    # cannot make up for each other.
    again = []
    for group, people in tally_of(study.pk).groups().items():
        if too_many := people % rules.LEAST:
            alike = finished_people(study.pk, counted=True).filter(**_of(group))
            again += drawn(alike.select_for_update(skip_locked=True, of=("self",)), too_many)
    _count(study.pk, batch)
    _count(study.pk, again, shown=False)
    lay_anew(batch + again)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    left_over = waiting_people(study.pk).count()
    if _many_are_on_their_way(study):
        ShownNumbers.objects.update_or_create(study=study, defaults={"left_over": left_over})
        _show_others(study)
    else:
        keep_shown_numbers(study, left_over=left_over)
    transaction.on_commit(forget_what_was_overwritten)
    return True


def let_steps_end(study: Study) -> None:
    """Wait until everybody who is just sending a page is done. Steps hold people first and then the study, and so must closing."""
    list(Participant.objects.filter(study=study, counted=False).select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))


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
    with transaction.atomic():
        let_steps_end(study)
        if (study := locked(study)).numbers_withheld:
            _count_who_is_left(study)


def _let_in(study: Study, people: QuerySet[Participant], keys: Sequence[UUID]) -> None:
    for part in parts(keys, HELD_AT_ONCE):
        with transaction.atomic():
            held = list(people.filter(pk__in=part).select_for_update(of=("self",)).values_list("pk", flat=True))
            if not Study.objects.select_for_update(no_key=True).get(pk=study.pk).numbers_withheld:
                return
            _count(study.pk, held)  # the night that begins with the end lays them anew


@transaction.atomic
def count_everyone(study: Study) -> None:
    """Let everybody into the shown numbers, because the study, or the run of its bots, has ended and nobody comes any more."""
    let_steps_end(study)
    study = locked(study)
    if nobody_comes_any_more(study):
        _count_who_is_left(study)


def _count_who_is_left(study: Study) -> None:
    """A shown group in which fewer than `LEAST` wait, since others who waited withdrew, stays as it is: its last few would show. If
    somebody who was shown withdrew, too, `LEAST` of it are held back beside them.
    """
    waiting = by_group(waiting_people(study.pk))
    few = [group for group, people in tally_of(study.pk).groups().items() if people and waiting.get(group, 0) < rules.LEAST]
    held_back = [key for group in few for key in waiting_people(study.pk).filter(**_of(group)).values_list("pk", flat=True)]
    others = Participant.objects.filter(study=study, counted=False)
    _count(study.pk, list(others.exclude(pk__in=held_back).values_list("pk", flat=True)))
    for group in few if study.numbers_withheld else ():
        alike = finished_people(study.pk, counted=True).filter(**_of(group)).exclude(pk__in=held_back)
        _count(study.pk, drawn(alike.select_for_update(skip_locked=True, of=("self",)), rules.LEAST), shown=False)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    keep_shown_numbers(study, left_over=0, shown_as=int)
    everyone_counted.send(sender=Study, study_id=study.pk)
    transaction.on_commit(lambda: send_now(ORDER_OF_DAYS))


def count_people_of_closed_studies() -> None:
    """Count everybody of studies that were closed with many people left."""
    for study in Study.objects.filter(status__in=ENDED, numbers_withheld=True):
        count_everyone_in_parts(study)


def hide_withdrawal(study: Study, *, withdrawn: Participant) -> None:
    """After the end, hold back people of the group of somebody who was counted and is deleted: no difference is theirs alone.

    Those held back before are let in again and others are drawn. A group that would be too small after that is held back as a whole. Call
    it with the study locked. (While a study runs, the next batch does so.)
    """
    rows = group_of(withdrawn).select_for_update(skip_locked=True, of=("self",))
    not_counted = rows.filter(counted=False, finished_on__isnull=withdrawn.finished_on is None)  # there is an index of these
    held = list(not_counted.values_list("pk", flat=True))
    wanted = rules.held_back_after(len(held))
    shown = drawn(rows.filter(counted=True), wanted + rules.LEAST)
    if len(shown) + len(held) < wanted + rules.LEAST:
        _count(study.pk, shown, shown=False)
        _show_others(study)
        return
    again = entropy.sample(shown, min(wanted, len(shown)))
    _count(study.pk, held)
    _count(study.pk, again, shown=False)
    _show_others(study)


def show_who_is_on_the_way(study: Study) -> bool:
    """Renew the shown numbers of people who have not finished, once `LEAST` more have come since they were renewed. False: too early.

    The moment depends on the number of comers alone: otherwise a number that moves would name the person who moved it.
    """
    shown = ShownNumbers.objects.filter(study=study).values_list("comers", flat=True).first() or 0
    if study.status not in RUNNING or comers(study, present=_present(study)) < shown + rules.LEAST:
        return False
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # people may come meanwhile; batches and the end wait
        if study.status not in RUNNING:
            return False
        keep_shown_numbers(study)
    numbers_renewed.send(sender=Study, study_id=study.pk)
    return True


def renew_who_is_on_the_way() -> list[Study]:
    """Renew these numbers of all running studies to which enough people have come, found by a few statements however many studies run."""
    running = Study.objects.filter(status__in=RUNNING)
    came = Counter({study.pk: 0 for study in running.only("pk")})
    for study_id, tally in tallies_kept(running):
        came[study_id] += tally.people.total()
    decided = ShardedCounter.objects.filter(study__in=running, kind__in=(CounterKind.DECLINED, CounterKind.WITHDREW, CounterKind.EXCLUDED))
    for rows, number in (
        (Participant.objects.filter(study__in=running, counted=False), Count("pk")),
        (decided, Sum("count")),
        (AttritionCount.objects.filter(study__in=running), Sum("count")),
    ):
        came.update(dict(rows.values_list("study").annotate(number).order_by()))
    before = dict(ShownNumbers.objects.filter(study__in=running).values_list("study", "comers"))
    enough = [key for key, people in came.items() if people >= before.get(key, 0) + rules.LEAST]
    return [study for study in Study.objects.filter(pk__in=enough) if show_who_is_on_the_way(study)]


def keep_shown_numbers(study: Study, *, shown_as: Callable[[int], int] = rules.in_steps, **values: int) -> None:
    """Keep the numbers to be shown from now on."""
    present, at_the_end = everybody(study), shown_as is int
    exact = counts_of(study, present, present=present.total(), assigned=_taken_so_far(study, at_the_end=at_the_end))
    numbers: dict[str, object] = {name: shown_as(getattr(exact, name)) for name in TOTALS}
    if at_the_end:
        numbers[AT_THE_END] = True
    for name in ("assigned_by_group", "watched_by_group"):
        numbers[name] = [[*group, shown_as(people)] for group, people in getattr(exact, name).items()]
    numbers["versions"] = [
        [one.version, *(shown_as(people) for people in (one.agreed, one.declined, one.withdrew))]
        for one in exact_consent_counts(study, present)
    ]
    ways = WayNumbers.objects.filter(study=study).values_list("counts", flat=True).first() or {}
    in_tens = rules.in_tens if at_the_end else rules.in_steps  # exact numbers of a small way would be about persons
    numbers["ways"] = {way: {end: in_tens(people) for end, people in ends.items()} for way, ends in ways.items()}
    ShownNumbers.objects.update_or_create(study=study, defaults={"comers": exact.comers, "numbers": numbers, **values})
    _show_others(study)


def _show_others(study: Study) -> None:
    """Tell pages that are open, without a count of people, that they show something old."""
    ShownNumbers.objects.filter(study=study).update(version=F("version") + 1)


def _held(people: QuerySet[Participant]) -> dict[tuple[object, ...], list[UUID]]:
    """The keys of these people by group, locked; without those whom somebody else holds."""
    found: dict[tuple[object, ...], list[UUID]] = defaultdict(list)
    for key, *group in people.select_for_update(skip_locked=True, of=("self",)).values_list("pk", *GROUP):
        found[tuple(group)].append(key)
    return found


def _of(group: Iterable[object]) -> dict[str, object]:
    """The columns of a group, to filter by."""
    return dict(zip(GROUP, group, strict=True))


def _count(study_id: int, keys: Collection[UUID], *, shown: bool = True) -> None:
    for part in parts(list(keys)):
        before = Tally.of_nobody() if shown else counted(pk__in=part)
        Participant.objects.filter(pk__in=part).update(counted=shown)
        _keep_change(study_id, before=before, after=counted(pk__in=part) if shown else Tally.of_nobody())


@contextmanager
def people_change(study_id: int, keys: Collection[object]) -> Iterator[None]:
    """Keep the counts in step while the block changes these people or deletes them.

    Call it in a transaction that holds the people and the study. Only what it changes is counted, however many others there are.
    """
    before = counted(pk__in=list(keys))
    yield
    _keep_change(study_id, before=before, after=counted(pk__in=list(keys)))


def _keep_change(study_id: int, *, before: Tally, after: Tally) -> None:
    if before != after:
        kept = kept_tally(study_id)
        _keep(study_id, (kept and kept.changed(before=before, after=after)) or counted(study=study_id))


def _keep(study_id: int, tally: Tally) -> None:
    KeptCounts.objects.get_or_create(study_id=study_id)
    KeptCounts.objects.filter(study=study_id).update(**tally.written(), changes=F("changes") + 1)


@transaction.atomic
def count_again(study: Study) -> None:
    """Keep counts made anew from the rows of people."""
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # people may come meanwhile; batches and withdrawals wait
    _keep(study.pk, counted(study=study.pk))
    KeptCounts.objects.filter(study=study.pk).update(lines=written_lines(counted_lines(study.pk, {})))
    _show_others(study)


def wrong_counts(study: Study) -> dict[str, int] | None:
    """How many kept counts of each kind differ from what the rows of people tell. None: nothing is kept yet, or batches came all the time.

    It holds no row, so that nobody waits: counts that were written meanwhile are compared again.
    """
    for _attempt in range(ATTEMPTS):
        before = KeptCounts.objects.filter(study=study.pk, changes__gt=0).first()
        if before is None:
            return None
        found = counted(study=study.pk)
        if KeptCounts.objects.filter(study=study.pk, changes=before.changes).exists():
            lines = kept_lines(study.pk)
            return differences(read(before), found) | ({} if lines == taken_until(study.pk, lines) else {"lines": 1})
    return None


def check_counts() -> None:
    """Compare the kept counts of all studies with the rows of people, and count again where they differ or where there are none."""
    for study in Study.objects.filter(protocol__isnull=False).defer("definition"):
        wrong = wrong_counts(study)
        if wrong:
            logger.error("The kept counts of %s were wrong and are counted again; please report this: %s", study.slug, ", ".join(wrong))
        if wrong or not KeptCounts.objects.filter(study=study, changes__gt=0).exists():
            count_again(study)


def _many_are_on_their_way(study: Study) -> bool:
    _waiting, unfinished = not_counted(study.pk)
    return unfinished.values("pk")[: MANY_ON_THEIR_WAY + 1].count() > MANY_ON_THEIR_WAY


def _present(study: Study) -> int:
    return tally_of(study.pk).people.total() + sum(people.count() for people in not_counted(study.pk))


def _taken_so_far(study: Study, *, at_the_end: bool) -> Counter[tuple[str, str]]:
    """The taken lines, of which only those are counted that are new. Before the end, those after a free one are left for the next time."""
    before = kept_lines(study.pk)
    lines = counted_lines(study.pk, before, to_the_end=at_the_end)
    if lines != before:
        KeptCounts.objects.filter(study=study).update(lines=written_lines(lines))  # no row before the first batch: few lines to count
    return lines_by_group(lines)
