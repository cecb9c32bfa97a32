"""The decisions under which a study may recruit, or may not."""

from surveys.models import RUNNING, Decision, Study, StudyStatus, Verdict
from surveys.protocols import frozen_protocol


def approval_of(study: Study) -> Decision | None:
    """The approval under which the study may recruit."""
    if study.protocol_id is None:
        return None
    return study.decisions.filter(verdict=Verdict.APPROVED, protocol_id=study.protocol_id).select_related("protocol").last()


def versions_that_recruited(study: Study) -> dict[int, int]:
    """The versions of the protocol to which people could agree since the launch, each with its key."""
    if study.protocol_id is None:
        return {}
    if study.launched_protocol_id in (None, study.protocol_id):  # never amended; pages of results ask often
        in_force = frozen_protocol(study.protocol_id)
        return {in_force.version: in_force.id}
    first, last = (frozen_protocol(key).version for key in (study.launched_protocol_id, study.protocol_id))
    approved = study.decisions.filter(verdict=Verdict.APPROVED, protocol__version__range=(first, last))
    return dict(approved.values_list("protocol__version", "protocol_id")) | {last: study.protocol_id}


def stopped_by(study: Study) -> Decision | None:
    """The decision that has stopped the study or its amendment: a suspension, or that it was sent back and not submitted again."""
    decisions = study.decisions.select_related("decided_by")
    if study.suspended:
        return decisions.filter(verdict=Verdict.SUSPENDED).last()
    newest = decisions.last() if study.submitted_id is None and study.status in (StudyStatus.DRAFT, *RUNNING) else None
    return newest if newest is not None and newest.verdict in (Verdict.CHANGES, Verdict.REJECTED) else None
