"""The decisions under which a study may recruit, or may not."""

from surveys.models import RUNNING, AllocationList, Decision, Study, StudyStatus, Verdict


def approval_of(study: Study) -> Decision | None:
    """The approval under which the study may recruit."""
    if study.protocol_id is None:
        return None
    return study.decisions.filter(verdict=Verdict.APPROVED, protocol_id=study.protocol_id).select_related("protocol").last()


def stopped_by(study: Study) -> Decision | None:
    """The decision that has stopped the study or its amendment: a suspension, or that it was sent back and not submitted again."""
    decisions = study.decisions.select_related("decided_by", "protocol")
    if study.suspended:
        return decisions.filter(verdict=Verdict.SUSPENDED).last()
    newest = decisions.last() if study.submitted_id is None and study.status in (StudyStatus.DRAFT, *RUNNING) else None
    return newest if newest is not None and newest.verdict in (Verdict.CHANGES, Verdict.REJECTED) else None


def hash_of_first_list(study: Study) -> str:
    """The published SHA-256 that tells this study from any other, also from one with its address that a restored back-up has lost; empty
    before the launch.
    """
    return AllocationList.objects.filter(study=study).order_by("number").values_list("sha256", flat=True).first() or ""
