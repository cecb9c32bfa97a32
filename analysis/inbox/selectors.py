"""Reads the inbox of one person, from reviews and releases alike."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Q
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Role, User
from analysis.models import DataSet, Release, ReleaseStatus
from analysis.releases.selectors import may_decide, releases
from analysis.sources.seats import deleted_soon, sent_back, waiting_data_sets
from surveys.access import Seat, studies_of
from surveys.lifecycle.selectors import stopped_by
from surveys.lifecycle.steps import conditions_wait
from surveys.models import Comment, MemberRole, Study, StudyMember, StudyStatus
from surveys.review.selectors import Queue, ends_soon, queue_of, threads_of
from webhooks.selectors import has_inherited_webhooks

RELEASE_TASKS: Mapping[ReleaseStatus, Promise] = {
    ReleaseStatus.BUILT: gettext_lazy("A release is built: look at it, then ask for its approval."),
    ReleaseStatus.FAILED: gettext_lazy("A release could not be built."),
    ReleaseStatus.OUTDATED: gettext_lazy("Somebody in a release withdrew: it must be built again."),
    ReleaseStatus.REFUSED: gettext_lazy("An officer refused a release, and says why."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRelease:
    """A release that waits for a decision. `own`: another officer decides, because this one has a part in the study."""

    release: Release
    own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTask:
    """A task of somebody who runs a study: a sentence, and the page where it is done."""

    study: Study
    sentence: str
    route: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """`queue` and `releases` are there for officers, `tasks` for people who run studies; each may be empty."""

    queue: Queue | None
    releases: list[WaitingRelease]
    data_sets: list[tuple[DataSet, bool]]
    """Each with whether another officer decides."""
    tasks: list[OwnTask]
    sent_back: list[DataSet]
    """Data sets of this person that an officer sent back."""
    deleted_soon: list[DataSet]
    """Data sets of this person whose rows are deleted within 30 days."""

    @property
    def decisions(self) -> int:
        """How many decisions this person can take now."""
        waiting = self.queue.waiting if self.queue else []
        own = [*(one.own for one in waiting), *(one.own for one in self.releases), *(own for _one, own in self.data_sets)]
        return own.count(False)


def inbox_of(user: User) -> Inbox:
    """Everything that waits for this person, the oldest first."""
    is_officer = user.role == Role.IRB_OFFICER
    return Inbox(
        queue=queue_of(user) if is_officer else None,
        releases=waiting_releases(user) if is_officer else [],
        data_sets=waiting_data_sets(user) if is_officer else [],
        tasks=list(_tasks_of(user)),
        sent_back=list(sent_back(user)),
        deleted_soon=list(deleted_soon(user)),
    )


def waiting_releases(officer: User) -> list[WaitingRelease]:
    """Releases that wait for an officer, also of a study that an officer has suspended: its data may be published all the same."""
    found = releases().filter(study__in=studies_of(officer).values("pk"), status=ReleaseStatus.REQUESTED).order_by("requested_on", "pk")
    return [WaitingRelease(release=one, own=not may_decide(officer, one)) for one in found.select_related("study__owner")]


def _tasks_of(user: User) -> Iterator[OwnTask]:
    """The tasks in the studies that this person owns or edits."""
    edited = StudyMember.objects.filter(user=user, role=MemberRole.EDITOR).values("study")
    mine = Study.objects.filter(Q(owner=user) | Q(pk__in=edited), rehearsal_of=None).exclude(status=StudyStatus.ARCHIVED)
    for study in mine.select_related("protocol", "submitted").defer("definition").order_by("title", "pk"):
        if study.owner_id == user.pk and has_inherited_webhooks(study):
            said = _("Somebody else than you has programs told about this study, which was given to you. Look whether they should be.")
            yield OwnTask(study=study, sentence=said, route="webhooks:webhooks")
        yield from _tasks_in(study)


def _tasks_in(study: Study) -> Iterator[OwnTask]:
    decision = stopped_by(study)
    if decision is not None:
        verdict = {"verdict": decision.get_verdict_display(), "day": date_format(decision.decided_on)}
        yield OwnTask(study=study, sentence=_("%(verdict)s on %(day)s.") % verdict, route="surveys:review")
    if conditions_wait(study):
        yield OwnTask(study=study, sentence=_("The approval has conditions to acknowledge."), route="surveys:study")
    if study.approved_until is not None and ends_soon(study):
        said = _("The approval ends on %(day)s, or has ended: ask to renew it.")
        yield OwnTask(study=study, sentence=said % {"day": date_format(study.approved_until)}, route="surveys:study")
    for thread in threads_of(study).values():
        if thread.is_open and _is_an_officers(thread.comments[-1]):
            said = _("An officer’s comment has no answer: %(section)s.")
            yield OwnTask(study=study, sentence=said % {"section": thread.section.label}, route="surveys:review")
    release = releases().filter(study=study).order_by("-pk").first()
    if release is not None and release.status in RELEASE_TASKS:
        yield OwnTask(study=study, sentence=str(RELEASE_TASKS[ReleaseStatus(release.status)]), route="analysis:releases")


def _is_an_officers(comment: Comment) -> bool:
    """Whether an officer wrote it who does not run the study, as some officers do."""
    return comment.author.role == Role.IRB_OFFICER and not Seat(comment.author, comment.study).may_change
