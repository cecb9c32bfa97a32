"""The people who wait for the next batch."""

from django.db.models import Q, QuerySet

from surveys.batches import rules
from surveys.definition import DIRECT, StudyDefinition
from surveys.models import Participant, Study

GROUP = ("subsample", "arm", "answered", "is_bot")
"""The columns that tell one group of a batch from another. Bots and people never fill up each other's groups."""


def people_of_group(people: QuerySet[Participant]) -> QuerySet[Participant]:
    """These people, with all columns of `GROUP`."""
    return people.annotate(answered=~Q(subsample=DIRECT, agrees_to_direct=False))


def group_of(person: Participant) -> dict[str, object]:
    """The group among which this person is hidden: those who have finished in the same way, or all who have not finished."""
    if person.finished_on is None:
        return {"finished_on": None, "is_bot": person.is_bot}
    answered = not (person.subsample == DIRECT and person.agrees_to_direct is False)
    columns = {"subsample": person.subsample, "arm": person.arm, "answered": answered, "is_bot": person.is_bot}
    return {"finished_on__isnull": False, **columns}


def waiting_people(study_id: int) -> QuerySet[Participant]:
    """Those who have finished and are in no shown number yet."""
    return people_of_group(Participant.objects.filter(study_id=study_id, finished_on__isnull=False, counted=False, held_back=False))


def people_until_next(study: Study, definition: StudyDefinition) -> int:
    """How many more people complete the next batch."""
    groups = len(definition.group_weights) * len(definition.arm_weights)
    return rules.people_until_next(waiting=waiting_people(study.pk).count(), groups=groups)
