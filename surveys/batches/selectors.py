"""The people who wait for the next batch."""

from django.db.models import Count, Q, QuerySet

from surveys.batches import rules
from surveys.definition import DIRECT, StudyDefinition
from surveys.models import Participant, Step, Study

GROUP = ("subsample", "arm", "answered", "is_bot")
"""The columns that tell one group of a batch from another. Bots and people never fill up each other's groups."""


def waiting_people(study_id: int) -> QuerySet[Participant]:
    """Those who have finished and are in no shown number yet."""
    refused = Q(subsample=DIRECT, agrees_to_direct=False)
    return Participant.objects.filter(study_id=study_id, step=Step.FINISHED, counted=False).annotate(answered=~refused)


def people_until_next(study: Study, definition: StudyDefinition) -> int:
    """How many more people complete the next batch."""
    groups = len(definition.group_weights) * len(definition.arm_weights)
    return rules.people_until_next(waiting=waiting_people(study.pk).count(), groups=groups)


def waiting_by_group(study_id: int) -> dict[tuple[object, ...], int]:
    """The number of waiting people in each group."""
    rows = waiting_people(study_id).values(*GROUP).annotate(people=Count("pk")).order_by()
    return {tuple(row[name] for name in GROUP): row["people"] for row in rows}
