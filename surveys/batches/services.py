"""Moving people into the numbers that are shown, and out of them again."""

from django.db import transaction

from surveys.batches import rules
from surveys.batches.selectors import GROUP, people_until_next, waiting_by_group, waiting_people
from surveys.lifecycle.steps import locked
from surveys.models import ENDED, RUNNING, Participant, Study
from surveys.protocols import protocol_in_force


@transaction.atomic
def count_next_batch(study: Study) -> bool:
    """Let a complete batch of a running study into the shown numbers. False: it is not complete yet."""
    study = locked(study)
    if study.status not in RUNNING or people_until_next(study, protocol_in_force(study).definition):
        return False
    for group, people in rules.taken(waiting_by_group(study.pk)).items():
        of_group = waiting_people(study.pk).filter(**dict(zip(GROUP, group, strict=True)))
        _count(list(of_group.order_by("?").values_list("pk", flat=True)[:people]))
    Study.objects.filter(pk=study.pk).update(numbers_withheld=False)
    return True


@transaction.atomic
def count_everyone(study: Study) -> None:
    """Let everybody into the shown numbers, because the study has ended and nobody comes any more."""
    if locked(study).status in ENDED:
        _count(list(Participant.objects.filter(study=study, counted=False).values_list("pk", flat=True)))
        Study.objects.filter(pk=study.pk).update(numbers_withheld=False)


def _count(keys: list[object]) -> None:
    Participant.objects.filter(pk__in=keys).update(counted=True)
