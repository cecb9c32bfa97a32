"""Moving people into the numbers that are shown, and out of them again."""

import secrets
from collections import defaultdict
from typing import Any

from django.db import transaction
from django.db.models import Count, Q

from jobs.tasks import send_now
from surveys.batches import rules
from surveys.batches.order_of_arrival import forget_what_was_overwritten, lay_anew
from surveys.batches.selectors import GROUP, group_of, people_of_group, people_until_next, waiting_people
from surveys.lifecycle.steps import locked
from surveys.models import ENDED, RUNNING, Participant, Study
from surveys.protocols import protocol_in_force

ORDER_OF_DAYS = "order_of_days"
"""The kind of work that gives all rows of a study one age."""
entropy = secrets.SystemRandom()


@transaction.atomic
def count_next_batch(study: Study) -> bool:
    """Let a complete batch of a running study into the shown numbers. False: it is not complete yet.

    People who are just withdrawing are left out: they hold their rows and wait for the study, which this holds.
    """
    study = locked(study)
    if study.status not in RUNNING or people_until_next(study, protocol_in_force(study).definition):
        return False
    waiting: dict[tuple[object, ...], list[Any]] = defaultdict(list)
    for key, *group in waiting_people(study.pk).select_for_update(skip_locked=True, of=("self",)).values_list("pk", *GROUP):
        waiting[tuple(group)].append(key)
    taken = rules.taken({group: len(keys) for group, keys in waiting.items()})
    batch = [key for group, people in taken.items() for key in entropy.sample(waiting[group], people)]
    Participant.objects.filter(pk__in=batch).update(counted=True)
    lay_anew(batch)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    transaction.on_commit(forget_what_was_overwritten)
    return True


def let_steps_end(study: Study) -> None:
    """Wait until everybody who is just sending a page is done. Steps hold people first and then the study, and so must closing."""
    list(Participant.objects.filter(study=study, counted=False).select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def count_everyone(study: Study) -> None:
    """Let everybody into the shown numbers, because the study has ended and nobody comes any more.

    Where fewer than `LEAST` people wait in a group that was shown before, it stays as it was shown: the difference would tell about them.
    """
    if locked(study).status not in ENDED:
        return
    everybody = Participant.objects.filter(study=study)
    finished = people_of_group(everybody.filter(finished_on__isnull=False))
    by_group = finished.values_list(*GROUP).order_by()
    for *group, waiting, shown in by_group.annotate(
        waiting=Count("pk", filter=Q(counted=False, held_back=False)), shown=Count("pk", filter=Q(counted=True) | Q(held_back=True))
    ):
        if shown:
            in_group = finished.filter(**dict(zip(GROUP, group, strict=True)), counted=False).values_list("pk", flat=True)
            everybody.filter(pk__in=list(in_group)).update(held_back=waiting < rules.LEAST)
    everybody.filter(counted=False, held_back=False).update(counted=True)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    transaction.on_commit(lambda: send_now(ORDER_OF_DAYS))


def hide_withdrawal(study: Study, *, withdrawn: Participant) -> None:
    """Hold back people of the group of somebody who was counted and is deleted, so that no difference of numbers is theirs alone.

    Those held back before are let in again and others are drawn. A group that would be too small after that is held back as a whole. Call
    it with the study locked.
    """
    rows = people_of_group(Participant.objects.filter(study=study)).filter(**group_of(withdrawn))
    held, counted = [], []
    columns = ("pk", "counted", "held_back")
    for key, is_counted, is_held in rows.select_for_update(skip_locked=True, of=("self",)).values_list(*columns):
        if is_counted:
            counted.append(key)
        elif is_held:
            held.append(key)
    wanted = rules.held_back_after(len(held))
    people = Participant.objects.filter(study=study)
    if len(counted) + len(held) < wanted + rules.LEAST:
        people.filter(pk__in=counted).update(counted=False, held_back=True)
        return
    drawn = entropy.sample(counted, min(wanted, len(counted)))
    people.filter(pk__in=held).update(counted=True, held_back=False)
    people.filter(pk__in=drawn).update(counted=False, held_back=True)
