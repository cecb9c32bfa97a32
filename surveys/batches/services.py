"""Moving people into the numbers that are shown, and out of them again."""

from collections.abc import Callable

from django.db import transaction

from surveys.batches import rules
from surveys.batches.selectors import GROUP, TOTALS, batch_is_complete, by_group, finished_people, nobody_comes_any_more, waiting_people
from surveys.counts import comers, exact_consent_counts, exact_counts
from surveys.events import everyone_counted
from surveys.lifecycle.steps import locked
from surveys.models import RUNNING, Participant, ShownNumbers, Study


@transaction.atomic
def count_next_batch(study: Study) -> bool:
    """Let a complete batch of a running study into the shown numbers. False: it is not complete yet."""
    study = locked(study)
    if not batch_is_complete(study):
        return False
    if nobody_comes_any_more(study):
        count_everyone(study)
        return True
    for group, people in by_group(finished_people(study.pk, counted=True)).items():
        _move(study, group, people % rules.LEAST, counted=False)  # hides who withdrew since the last batch
    for group, people in rules.taken(by_group(waiting_people(study.pk))).items():
        _move(study, group, people, counted=True)
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    keep_shown_numbers(study, left_over=waiting_people(study.pk).count())
    return True


@transaction.atomic
def count_everyone(study: Study) -> None:
    """Let everybody into the shown numbers, because the study, or the run of its bots, has ended and nobody comes any more."""
    study = locked(study)
    if nobody_comes_any_more(study):
        _count(list(Participant.objects.filter(study=study, counted=False).values_list("pk", flat=True)))
        Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
        keep_shown_numbers(study, left_over=0, shown_as=int)
        everyone_counted.send(sender=Study, study_id=study.pk)


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
    ShownNumbers.objects.update_or_create(study=study, defaults={"comers": exact.comers, "numbers": numbers, **values})


def _move(study: Study, group: tuple[object, ...], people: int, *, counted: bool) -> None:
    """Draw so many people of a group, to be counted or to wait again."""
    of_group = finished_people(study.pk, counted=not counted).filter(**dict(zip(GROUP, group, strict=True)))
    _count(list(of_group.order_by("?").values_list("pk", flat=True)[:people]), counted=counted)


def _count(keys: list[object], *, counted: bool = True) -> None:
    Participant.objects.filter(pk__in=keys).update(counted=counted)
