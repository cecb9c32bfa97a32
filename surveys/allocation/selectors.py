"""Reading allocation lists."""

from surveys.allocation.assignment import Assignment, list_document
from surveys.models import AllocationList


def allocation_document(allocation_list: AllocationList) -> str:
    """The exact text whose SHA-256 was published at launch."""
    assignments = [
        Assignment(subsample=subsample, arm=arm)
        for subsample, arm in allocation_list.slots.order_by("position").values_list("subsample", "arm")
    ]
    return list_document(assignments, study=allocation_list.study.slug, number=allocation_list.number, nonce=allocation_list.nonce)
