"""Moving people into the numbers that are shown, and out of them again."""

import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from jobs.tasks import send_now
from surveys.batches import rules
from surveys.batches.order_of_arrival import forget_what_was_overwritten, lay_anew
from surveys.batches.selectors import (
    GROUP,
    TOTALS,
    batch_is_complete,
    by_group,
    finished_people,
    group_of,
    nobody_comes_any_more,
    waiting_people,
)
from surveys.counts import comers, exact_consent_counts, exact_counts
from surveys.events import everyone_counted
from surveys.lifecycle.steps import locked
from surveys.models import RUNNING, Participant, ShownNumbers, Study, WayNumbers

ORDER_OF_DAYS = "order_of_days"
"""The kind of work that gives all rows of a study one age."""
entropy = secrets.SystemRandom()


@transaction.atomic
def count_next_batch(study: Study) -> bool:
    """Let a complete batch of a running study into the shown numbers. False: it is not complete yet.

    People who are just withdrawing are left out: they hold their rows and wait for the study, which this holds.
    """
    study = locked(study)
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
    for group, people in by_group(finished_people(study.pk, counted=True)).items():
        if too_many := people % rules.LEAST:
            counted = finished_people(study.pk, counted=True).filter(**_of(group))
            free = counted.select_for_update(skip_locked=True, of=("self",))
            again += list(free.order_by("?").values_list("pk", flat=True)[:too_many])
    _count(batch)
    _count(again, counted=False)
    lay_anew(batch + again)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    keep_shown_numbers(study, left_over=waiting_people(study.pk).count())
    transaction.on_commit(forget_what_was_overwritten)
    return True


def let_steps_end(study: Study) -> None:
    """Wait until everybody who is just sending a page is done. Steps hold people first and then the study, and so must closing."""
    list(Participant.objects.filter(study=study, counted=False).select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def count_everyone(study: Study) -> None:
    """Let everybody into the shown numbers, because the study, or the run of its bots, has ended and nobody comes any more.

    A shown group in which fewer than `LEAST` wait, since others who waited withdrew, stays as it is: its last few would show.
    """
    study = locked(study)
    if nobody_comes_any_more(study):
        shown = by_group(finished_people(study.pk, counted=True))
        few = [group for group, people in by_group(waiting_people(study.pk)).items() if people < rules.LEAST and shown.get(group)]
        held_back = [key for group in few for key in waiting_people(study.pk).filter(**_of(group)).values_list("pk", flat=True)]
        everybody = Participant.objects.filter(study=study, counted=False)
        everybody.exclude(pk__in=held_back).update(counted=True)
        Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
        keep_shown_numbers(study, left_over=0, shown_as=int)
        everyone_counted.send(sender=Study, study_id=study.pk)
        transaction.on_commit(lambda: send_now(ORDER_OF_DAYS))


def hide_withdrawal(study: Study, *, withdrawn: Participant) -> None:
    """After the end, hold back people of the group of somebody who was counted and is deleted: no difference is theirs alone.

    Those held back before are let in again and others are drawn. A group that would be too small after that is held back as a whole. Call
    it with the study locked. (While a study runs, the next batch does so.)
    """
    rows = group_of(withdrawn).select_for_update(skip_locked=True, of=("self",))
    alike = list(rows.values_list("pk", "counted"))
    counted, held = [key for key, is_counted in alike if is_counted], [key for key, is_counted in alike if not is_counted]
    wanted = rules.held_back_after(len(held))
    if len(counted) + len(held) < wanted + rules.LEAST:
        _count(counted, counted=False)
        _show_others(study)
        return
    drawn = entropy.sample(counted, min(wanted, len(counted)))
    _count(held)
    _count(drawn, counted=False)
    _show_others(study)


def show_who_is_on_the_way(study: Study) -> bool:
    """Renew the shown numbers of people who have not finished, once `LEAST` more have come since they were renewed. False: too early.

    The moment depends on the number of comers alone: otherwise a number that moves would name the person who moved it.
    """
    shown = ShownNumbers.objects.filter(study=study).values_list("comers", flat=True).first() or 0
    if study.status not in RUNNING or comers(study) < shown + rules.LEAST:
        return False
    keep_shown_numbers(study)
    return True


def keep_shown_numbers(study: Study, *, shown_as: Callable[[int], int] = rules.in_steps, **values: int) -> None:
    """Keep the numbers to be shown from now on."""
    exact = exact_counts(study)
    numbers: dict[str, object] = {name: shown_as(getattr(exact, name)) for name in TOTALS}
    for name in ("assigned_by_group", "watched_by_group"):
        numbers[name] = [[*group, shown_as(people)] for group, people in getattr(exact, name).items()]
    numbers["versions"] = [
        [one.version, *(shown_as(people) for people in (one.agreed, one.declined, one.withdrew))] for one in exact_consent_counts(study)
    ]
    ways = WayNumbers.objects.filter(study=study).values_list("counts", flat=True).first() or {}
    in_tens = rules.in_tens if shown_as is int else rules.in_steps  # exact numbers of a small way would be about persons
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


def _count(keys: Iterable[UUID], *, counted: bool = True) -> None:
    Participant.objects.filter(pk__in=list(keys)).update(counted=counted)
