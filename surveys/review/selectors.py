"""Reads the data of reviews: the officers' queue, threads of comments, signatures, and who may review."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Role, User
from surveys.access import Seat, studies_of
from surveys.models import RUNNING, SIGNED_PARTS, Comment, PacketSection, Protocol, SignOff, Study, StudyStatus, Verdict

ENDS_SOON = timedelta(days=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A study that waits for a decision. `own`: whether this officer has a part in it. `reviewer`: to whom it is assigned."""

    study: Study
    days: int
    open_threads: int
    own: bool
    reviewer: User | None

    @property
    def kind(self) -> str:
        """A `protocol` of a study that does not run yet, an `amendment` of one that does, or the `renewal` of its approval."""
        if self.study.status == StudyStatus.IN_REVIEW:
            return "protocol"
        return "renewal" if self.study.submitted_id == self.study.protocol_id else "amendment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    waiting: list[Waiting]
    ending: list[Study]
    suspended: list[Study]


def queue_of(officer: User) -> Queue:
    """The points for the officer's attention. Waiting first, the oldest first."""
    seen = studies_of(officer).select_related("owner", "submitted", "protocol", "reviewer")
    today = timezone.localdate()
    running = seen.filter(status__in=(StudyStatus.APPROVED, StudyStatus.RECRUITING, StudyStatus.PAUSED))
    return Queue(
        waiting=[_waiting(study, officer, today) for study in seen.filter(submitted__isnull=False).order_by("submitted_on", "pk")],
        ending=list(running.filter(submitted=None, approved_until__lte=today + ENDS_SOON).order_by("approved_until")),
        suspended=list(running.filter(suspended=True)),
    )


def ends_soon(study: Study) -> bool:
    """Whether the approval of a study that may recruit ends soon or has ended, and nobody has asked to renew it."""
    may_recruit = study.status in (StudyStatus.APPROVED, *RUNNING) and study.submitted_id is None
    return may_recruit and study.approved_until is not None and study.approved_until <= timezone.localdate() + ENDS_SOON


def _waiting(study: Study, officer: User, today: date) -> Waiting:
    return Waiting(
        study=study,
        days=(today - (study.submitted_on or today)).days,
        open_threads=open_threads(study),
        own=not Seat(officer, study).may_review,
        reviewer=reviewer_of(study),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """The comments on one section. It is open until a remark resolves it, and again with the next one."""

    section: PacketSection
    comments: list[Comment] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return bool(self.comments) and not self.comments[-1].resolves


def threads_of(study: Study) -> Mapping[str, Thread]:
    """The thread of every section, by its name, empty ones too."""
    threads = {section.value: Thread(section=section) for section in PacketSection}
    for comment in Comment.objects.filter(study=study).select_related("author", "protocol"):
        threads[comment.section].comments.append(comment)
    return threads


def open_threads(study: Study) -> int:
    """How many sections have comments that nobody has resolved."""
    return sum(thread.is_open for thread in threads_of(study).values())


def last_reviewed_before(protocol: Protocol) -> Protocol | None:
    """The newest older version on which officers decided; without one, there is nothing to compare with."""
    reviewed: QuerySet[Protocol] = Protocol.objects.filter(
        study=protocol.study_id, version__lt=protocol.version, decisions__verdict__in=(Verdict.APPROVED, Verdict.CHANGES, Verdict.REJECTED)
    )
    return reviewed.order_by("-version").first()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """The officers' signatures under one version, by part."""

    by_part: Mapping[str, tuple[User, ...]]
    parts: int = len(SIGNED_PARTS)

    @property
    def counts(self) -> dict[User, int]:
        """How many parts each officer has signed."""
        officers = [officer for signers in self.by_part.values() for officer in signers]
        return {officer: officers.count(officer) for officer in dict.fromkeys(officers)}

    def readers(self) -> list[User]:
        """The officers who have signed every part."""
        return [officer for officer, count in self.counts.items() if count == self.parts]


def signed_in(protocol: Protocol | None) -> Signed:
    """Every signature under this version, with an empty tuple for a part that nobody signed."""
    found: dict[str, tuple[User, ...]] = dict.fromkeys(SIGNED_PARTS, ())
    for one in SignOff.objects.filter(protocol=protocol).select_related("officer") if protocol and protocol.pk else ():
        found[one.part] += (one.officer,)
    return Signed(by_part=found)


def possible_reviewers(study: Study) -> list[User]:
    """The officers who may review this study."""
    officers = User.objects.filter(role=Role.IRB_OFFICER, is_active=True).order_by("username")
    return [officer for officer in officers if Seat(officer, study).may_review]


def reviewer_of(study: Study) -> User | None:
    """The officer to whom the review is assigned; nobody, if that officer may not review it any more."""
    assigned = study.reviewer
    return assigned if assigned is not None and assigned.is_active and Seat(assigned, study).may_review else None
