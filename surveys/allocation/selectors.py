"""Reading allocation lists."""

from collections.abc import Sequence

from surveys.allocation.assignment import Assignment, list_document
from surveys.models import AllocationList
from surveys.protocols import protocol_in_force


def allocation_document(allocation_list: AllocationList) -> str:
    """The exact text whose SHA-256 was published when the list was drawn."""
    lines = allocation_list.slots.order_by("position").values_list("subsample", "arm")
    return document_of_list(allocation_list, [Assignment(subsample=subsample, arm=arm) for subsample, arm in lines])


def document_of_list(allocation_list: AllocationList, assignments: Sequence[Assignment]) -> str:
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
