"""How a worker draws long lists: each follows from a seed, its hash is stored first, and then its lines, part by part.

A worker that takes over draws the same lists again, which takes seconds, and goes on with the next part. No part holds the study for long.
"""

from typing import cast

from django.db import transaction
from django.utils.translation import gettext as _

from surveys.allocation.assignment import Assignment, Expanded, commitment
from surveys.allocation.lines import store_lines
from surveys.allocation.selectors import document_of_list
from surveys.allocation.services import Planned, begin_list, draw_assignments, lines_of, record_further_list
from surveys.errors import SurveyError
from surveys.models import RUNNING, AllocationList, AllocationSlot, DrawingStatus, ListDrawing, Study, StudyStatus
from surveys.protocols import frozen_protocol

PART = 1000
"""How many lines are stored in one transaction. Somebody who withdraws meanwhile waits for one of them."""


def draw_lines(drawing: ListDrawing) -> bool:
    """Draw and store all lines of this drawing that are missing. False: nobody wants them any more, and the drawing has ended."""
    if drawing.launched_by_id is not None and not any("number" in one for one in drawing.lists):
        _delete_lines_of_another_version(drawing)
    definition, before = frozen_protocol(drawing.protocol_id).definition, 0
    for place, planned in enumerate(cast("list[Planned]", drawing.lists)):
        entropy = Expanded(bytes.fromhex(drawing.seed) + place.to_bytes(4, "big"))
        assignments = draw_assignments(definition, planned, entropy=entropy)
        found = _begun(drawing, place, assignments)
        for start in range(found.slots.count() if found else 0, len(assignments), PART):
            if found is None or not _store_part(drawing, found, assignments, start=start, before=before):
                drawing.finish(status=DrawingStatus.STOPPED)
                return False
        before += len(assignments)
    return True


def _begun(drawing: ListDrawing, place: int, assignments: list[Assignment]) -> AllocationList | None:
    """The row of this list, which is stored with its hash before its lines; None: nobody wants it any more."""
    planned = drawing.lists[place]
    if "number" in planned:
        found = AllocationList.objects.get(study=drawing.study_id, number=planned["number"])
        if commitment(document_of_list(found, assignments)) != found.sha256:
            raise SurveyError(_("This version draws another list than the one whose hash is stored. Start a worker of the version before."))
        return found
    with transaction.atomic():
        study = _held(drawing)
        if not _is_wanted(drawing, study):
            return None
        definition = frozen_protocol(drawing.protocol_id).definition
        found = begin_list(study, definition, stratum=planned["stratum"], assignments=assignments)
        if drawing.launched_by_id is None:
            record_further_list(found)
        planned["number"] = found.number
        drawing.write(lists=drawing.lists)
        return found


@transaction.atomic
def _store_part(drawing: ListDrawing, found: AllocationList, assignments: list[Assignment], *, start: int, before: int) -> bool:
    study, part = _held(drawing), assignments[start : start + PART]
    if drawing.launched_by_id is not None and not _is_wanted(drawing, study):
        return False  # a further list, whose hash is public, gets all of its lines
    store_lines(lines_of(found, part, start=start))
    drawing.write(stored=before + start + len(part), attempts=0)
    return True


def _held(drawing: ListDrawing) -> Study:
    """The study, held against changes of its arms and its status; people still take lines, and newcomers are stored."""
    return Study.objects.select_for_update(no_key=True).get(pk=drawing.study_id)


def _is_wanted(drawing: ListDrawing, study: Study) -> bool:
    """Whether the study is about to open with the version for which the list is drawn, or runs."""
    if drawing.launched_by_id is None:
        return study.status in RUNNING
    return study.status == StudyStatus.APPROVED and study.protocol_id == drawing.protocol_id


def _delete_lines_of_another_version(drawing: ListDrawing) -> None:
    """Delete what was drawn for an earlier version whose launch was stopped. Nobody has taken a line of it."""
    never_opened = {"study": drawing.study_id, "study__launched_on": None}
    lines = AllocationSlot.objects.filter(**never_opened)
    while keys := list(lines.values_list("pk", flat=True)[:PART]):
        drawing.write(attempts=0)
        AllocationSlot.objects.filter(pk__in=keys).delete()
    AllocationList.objects.filter(**never_opened).delete()
