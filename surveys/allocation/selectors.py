"""Reading allocation lists."""

from collections.abc import Iterable, Iterator
from functools import cache

from audit.selectors import entries_about
from surveys import actions
from surveys.allocation.assignment import Assignment, list_document
from surveys.models import AllocationList, DrawingStatus, ListDrawing, Study, StudyStatus
from surveys.protocols import protocol_in_force


def allocation_document(allocation_list: AllocationList) -> str:
    """The exact text whose SHA-256 was published when the list was drawn."""
    return document_of_list(allocation_list, _lines(allocation_list))


def _lines(allocation_list: AllocationList) -> Iterator[Assignment]:
    line = cache(lambda subsample, arm: Assignment(subsample=subsample, arm=arm))
    stored = allocation_list.slots.order_by("position").values_list("subsample", "arm")
    return (line(*one) for one in stored.iterator(chunk_size=10_000))


def document_of_list(allocation_list: AllocationList, assignments: Iterable[Assignment]) -> str:
    """The text of a list with these lines. It names the stratum where the study draws within strata."""
    study = allocation_list.study
    in_strata = protocol_in_force(study).definition.strata != [""]
    return list_document(
        assignments,
        study=study.slug,
        number=allocation_list.number,
        nonce=allocation_list.nonce,
        stratum=allocation_list.stratum if in_strata else None,
    )


def were_changed_by_hand(study: Study) -> bool:
    """Whether somebody ever set a quota or stopped an arm while the study ran. Undoing it gives nobody who came meanwhile another arm."""
    return entries_about(study).filter(action=actions.ARM_CHANGED).exists()


def drawing_of(study: Study) -> ListDrawing | None:
    """The drawing of the first lists of a study that has not opened, whether it goes on, was stopped or failed."""
    if study.status != StudyStatus.APPROVED:
        return None
    return ListDrawing.objects.filter(study=study, protocol=study.protocol_id, launched_by__isnull=False).first()


def is_being_launched(study: Study) -> bool:
    """Whether the study opens as soon as its lists are drawn."""
    drawing = drawing_of(study)
    return drawing is not None and drawing.status == DrawingStatus.DRAWING
