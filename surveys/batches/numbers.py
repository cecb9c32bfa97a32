"""The numbers to be shown from some moment on, read and computed while nobody is held.

With many people on their way that takes a while. They are stored under the lock of the study, if the people whom they saw are still there.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, F, QuerySet, Sum

from surveys.batches import rules
from surveys.batches.selectors import AT_THE_END, ENDED_BEFORE, TOTALS, everybody, waiting_people
from surveys.batches.tally import Lines, counted_lines, kept_lines, lines_by_group, not_counted, tallies_kept, written_lines
from surveys.counts import counts_of, exact_consent_counts, withdrawals
from surveys.models import (
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

MANY_ON_THEIR_WAY = 5000
"""With more people who have not finished, a batch leaves it to the next minute to count them: people wait for its numbers."""


class State(NamedTuple):
    """Other values whenever somebody withdraws, or others are shown. It asks for a few rows, however many people there are."""

    changes: int
    version: int
    withdrawals: int

    @classmethod
    def of(cls, study: Study) -> "State":
        return cls(
            KeptCounts.objects.filter(study=study).values_list("changes", flat=True).first() or 0,
            ShownNumbers.objects.filter(study=study).values_list("version", flat=True).first() or 0,
            withdrawals(study),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Numbers of people, and the state that they saw. People who move between those who wait and those who are shown change none."""

    as_of: State
    comers: int
    numbers: dict[str, object]
    lines: Lines | None
    """The taken lines, if they are others than those that are kept."""


def numbers_of(study: Study, *, shown_as: Callable[[int], int] = rules.in_steps) -> Numbers:
    """The numbers of everybody, as they are shown by this rule."""
    as_of = State.of(study)
    present, at_the_end = everybody(study), shown_as is int
    lines, others = _taken_so_far(study, at_the_end=at_the_end)
    exact = counts_of(study, present, present=present.total(), assigned=lines_by_group(lines))
    numbers: dict[str, object] = {name: shown_as(getattr(exact, name)) for name in TOTALS}
    if at_the_end:
        numbers[AT_THE_END] = True
    for name in ("assigned_by_group", "watched_by_group"):
        numbers[name] = _by_group(getattr(exact, name), shown_as)
    numbers["versions"] = [
        [one.version, *(shown_as(people) for people in (one.agreed, one.declined, one.withdrew))]
        for one in exact_consent_counts(study, present)
    ]
    ways = WayNumbers.objects.filter(study=study).values_list("counts", flat=True).first() or {}
    in_tens = rules.in_tens if at_the_end else rules.in_steps  # exact numbers of a small way would be about persons
    numbers["ways"] = {way: {end: in_tens(people) for end, people in ends.items()} for way, ends in ways.items()}
    return Numbers(as_of=as_of, comers=exact.comers, numbers=numbers, lines=lines if others else None)


def studies_to_renew() -> QuerySet[Study]:
    """The running studies to which so many people came that their numbers are due, by a few statements however many studies run."""
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
    return Study.objects.filter(pk__in=[key for key, people in came.items() if people >= before.get(key, 0) + rules.LEAST])


def _by_group(people: Mapping[tuple[str, str], int], shown_as: Callable[[int], int]) -> list[list[object]]:
    return [[*group, shown_as(several)] for group, several in people.items()]


def _taken_so_far(study: Study, *, at_the_end: bool) -> tuple[Lines, bool]:
    """The taken lines, and whether some are new. Before the end, those after a free one are left for the next time."""
    before = kept_lines(study.pk)
    lines = counted_lines(study.pk, before, to_the_end=at_the_end)
    return lines, lines != before


def show(study: Study, found: Numbers, **values: int) -> None:
    if found.lines is not None:  # no row before the first batch: few lines to count
        KeptCounts.objects.filter(study=study).update(lines=written_lines(found.lines))
    write_shown(study, comers=found.comers, numbers=found.numbers, **values)


def write_shown(study: Study, **values: object) -> None:
    """Write the row of shown numbers. Its version tells pages that are open, without a count of people, that they show something old."""
    if not ShownNumbers.objects.filter(study=study).update(version=F("version") + 1, **values):
        ShownNumbers.objects.create(study=study, version=1, **values)


def show_others_than_before(study: Study) -> None:
    """Mark the end of a study as one before which there was another one, with other people."""
    numbers = ShownNumbers.objects.values_list("numbers", flat=True).get(study=study)
    write_shown(study, numbers=numbers | {ENDED_BEFORE: True})


def wait_for_new_people() -> int:
    """Put the next batch of each running study off until as many new people wait as make one; how many studies these are.

    For a database that was restored. People who wait in the back-up may have been shown with others whom it has lost. A batch of the same
    people and one newcomer would tell that person, beside the numbers of before.
    """
    waiting = {study: waiting_people(study.pk).count() for study in Study.objects.filter(status__in=RUNNING).only("pk")}
    put_off = {study: people for study, people in waiting.items() if people}
    for study, people in put_off.items():
        write_shown(study, left_over=people)
    return len(put_off)


def many_are_on_their_way(study: Study) -> bool:
    _waiting, unfinished = not_counted(study.pk)
    return unfinished.values("pk")[: MANY_ON_THEIR_WAY + 1].count() > MANY_ON_THEIR_WAY
