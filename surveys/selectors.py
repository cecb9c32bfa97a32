"""Reading studies, and who may. Every fetch for staff goes through an `access_*` function, which fetches and authorises at once:

`access_study` for whoever sees the study, `access_results` for whoever sees its results, `access_own_study` for whoever runs it, and
`access_owned_study` for whoever says who else does. `may_see_results`, `may_change` and `owns` answer the same of a study that is at hand.
"""

from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from urllib.parse import quote

from django.db.models import Count, Q, QuerySet, Sum
from django.http import Http404
from django.utils import timezone

from accounts.models import Role, User
from audit.selectors import Asked, entries_about
from surveys import actions
from surveys.definition import DIRECT, StudyDefinition
from surveys.models import (
    ENDED,
    RUNNING,
    Decision,
    Departure,
    Invitation,
    Media,
    MemberRole,
    PanelMember,
    Participant,
    Protocol,
    SlotStatus,
    Step,
    Study,
    StudyMember,
    StudyStatus,
    Tally,
    TallyKind,
    Verdict,
)
from surveys.protocols import frozen_protocol, media_facts, next_protocol
from surveys.study_file import define
from surveys.tokens import hash_of_token, panel_hash

REMINDER_DAYS = timedelta(days=30)
OWNER_ROLES = (Role.INVESTIGATOR, Role.ADMINISTRATOR)
"""Who may have studies of their own."""


class Standing(StrEnum):
    """As what somebody stands to a study. Whoever has none may still see it as an IRB officer."""

    OWNER = "owner"
    ADMINISTRATOR = "administrator"
    EDITOR = "editor"
    VIEWER = "viewer"
    BLINDED_VIEWER = "blinded_viewer"


def studies_of(user: User) -> QuerySet[Study]:
    """The studies that this person may see: their own and those shared with them; for IRB officers also all that were ever submitted;
    everything, for administrators."""
    studies = Study.objects.filter(rehearsal_of=None).select_related("owner").defer("definition")
    if user.role == Role.ADMINISTRATOR:
        return studies
    theirs = _owned_or_shared(user)
    if user.role == Role.IRB_OFFICER:
        theirs |= ~Q(status=StudyStatus.DRAFT) | Q(protocol__isnull=False)
    return studies.filter(theirs)


def studies_with_results_of(user: User) -> QuerySet[Study]:
    """The studies whose results this person may see: their own and those shared with them; everything, for administrators."""
    studies = studies_of(user)
    return studies if user.role == Role.ADMINISTRATOR else studies.filter(_owned_or_shared(user))


def access_study(user: User, slug: str) -> Study:
    """The study, if this person may see it; the same 404 whether it is forbidden or absent."""
    return _found(studies_of(user).filter(slug=slug).first())


def access_results(user: User, slug: str) -> Study:
    """The study, if this person may see its results: its owner, a member, or an administrator."""
    return _found(studies_with_results_of(user).filter(slug=slug).first())


def access_own_study(user: User, slug: str) -> Study:
    """The study, if this person may change it: its owner, an editor, or an administrator."""
    study = access_study(user, slug)
    return _found(study if may_change(user, study) else None)


def access_owned_study(user: User, slug: str) -> Study:
    """The study, if this person may say who else works on it: its owner, or an administrator."""
    study = access_study(user, slug)
    return _found(study if owns(user, study) else None)


def open_invitation(token: str) -> Invitation:
    """The invitation that this link offers, if it still does; the same 404 whether it is withdrawn, used, out of date or was never made."""
    found = open_invitations().filter(token_hash=hash_of_token(token)).first()
    if found is None:
        raise Http404("There is no such invitation.")
    return found


def open_invitations() -> QuerySet[Invitation]:
    """Those that can be accepted now."""
    waiting = Invitation.objects.filter(accepted=False, withdrawn=False, last_day__gte=timezone.localdate())
    return waiting.select_related("study", "study__owner", "user")


def standing_of(user: User, study: Study) -> Standing | None:
    """An administrator whom somebody made a blinded viewer is one, as long as they stay in the study."""
    if study.owner_id == user.pk:
        return Standing.OWNER
    role = StudyMember.objects.filter(study=study, user=user).values_list("role", flat=True).first()
    if user.role == Role.ADMINISTRATOR and role != MemberRole.BLINDED_VIEWER:
        return Standing.ADMINISTRATOR
    return Standing(role) if role else None


def may_change(user: User, study: Study) -> bool:
    """Whether this person runs the study, rather than only sees it."""
    return standing_of(user, study) in (Standing.OWNER, Standing.ADMINISTRATOR, Standing.EDITOR)


def owns(user: User, study: Study) -> bool:
    """Whether this person says who else works on the study."""
    return standing_of(user, study) in (Standing.OWNER, Standing.ADMINISTRATOR)


def may_see_results(user: User, study: Study) -> bool:
    """Whether this person sees results, if perhaps with letters in place of arms."""
    return standing_of(user, study) is not None


def is_blinded_viewer(user: User, study: Study) -> bool:
    """Whether this person must not learn which arm is which until the study is closed."""
    return standing_of(user, study) == Standing.BLINDED_VIEWER


def blinded_studies_of(user: User) -> list[Study]:
    """The studies in which this person must not learn yet which arm is which, with their rehearsals."""
    theirs = (
        StudyMember.objects.filter(user=user, role=MemberRole.BLINDED_VIEWER).exclude(study__owner=user).exclude(study__status__in=ENDED)
    )
    keys = theirs.values("study")
    return list(Study.objects.filter(Q(pk__in=keys) | Q(rehearsal_of__in=keys)).defer("definition").order_by("slug"))


def _owned_or_shared(user: User) -> Q:
    return Q(owner=user) | Q(pk__in=StudyMember.objects.filter(user=user).values("study"))


def _found(study: Study | None) -> Study:
    if study is None:
        raise Http404("There is no such study.")
    return study


def may_read_log(user: User, study: Study) -> bool:
    """Who runs the study and who reviews it may read what was done to it. Arms stand in there by name, so nobody who is blinded."""
    standing = standing_of(user, study)
    if standing == Standing.BLINDED_VIEWER:
        return False
    return user.role == Role.IRB_OFFICER or standing in (Standing.OWNER, Standing.ADMINISTRATOR, Standing.EDITOR)


def log_for(
    user: User, *, study: Study | None = None, kind: str = "", person: str = "", since: date | None = None, until: date | None = None
) -> Asked:
    """The entries of the audit log that this person may read, of those they ask for: none about a study in which they are still blinded.

    Every way to read the log begins here.
    """
    return Asked(subject=study, hidden=blinded_studies_of(user), kind=kind, person=person, since=since, until=until)


def names_of_hidden(asked: Asked) -> list[str]:
    """The studies about which somebody reads nothing; a rehearsal has no name of its own."""
    return [one.slug for one in asked.hidden if isinstance(one, Study) and one.rehearsal_of_id is None]


def access_log(user: User, slug: str) -> Study:
    """The study, if this person may read its log."""
    study = access_study(user, slug)
    return _found(study if may_read_log(user, study) else None)


def may_review(user: User, study: Study) -> bool:
    """Whether this person may decide about the study: an IRB officer who has no part in it, and who never wrote on it."""
    if user.role != Role.IRB_OFFICER or standing_of(user, study) is not None:
        return False
    return not entries_about(study).filter(actor_id=user.pk, action__in=actions.AUTHORSHIP).exists()


def approval_of(study: Study) -> Decision | None:
    """The approval under which the study may recruit."""
    return study.decisions.filter(verdict=Verdict.APPROVED, protocol_id=study.protocol_id or 0).select_related("protocol").last()


def stopped_by(study: Study) -> Decision | None:
    """The decision that has stopped the study: its suspension, or that it was sent back, as long as it was not submitted again."""
    decisions = study.decisions.select_related("decided_by")
    if study.suspended:
        return decisions.filter(verdict=Verdict.SUSPENDED).last()
    newest = decisions.last() if study.status == StudyStatus.DRAFT else None
    return newest if newest is not None and newest.verdict in (Verdict.CHANGES, Verdict.REJECTED) else None


def definition_for(user: User, study: Study) -> StudyDefinition:
    """A draft as its owner left it, for those who may change it; everything else as it was submitted."""
    if study.protocol_id is None or _sees_the_draft(user, study):
        return define(study.definition)
    return frozen_protocol(study.protocol_id).definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """A definition with the media that there are for it, frozen or still being written."""

    definition: StudyDefinition
    media: Media
    version: int


def edition_for(user: User, study: Study) -> Edition:
    """What participants would see: for whoever may change the study its draft, or the amendment that is being written; for others what
    waits for the officers, or else what is in force."""
    found = _protocol_at_hand(user, study, draft=study.status in RUNNING and study.submitted_id is None)
    if study.protocol is not None and found.sha256 == study.protocol.sha256:
        found = study.protocol
    return Edition(definition=define(found.definition), media=found.media, version=found.version)


def protocol_for(user: User, study: Study, *, version: int | None = None, draft: bool = False) -> Protocol | None:
    """A frozen version, by default the one that waits or else the one in force; or, for whoever may change it, the draft as it would be.

    The draft of a study that is not running yet needs not be asked for. It is not stored. None: there is no such version.
    """
    if version is not None:
        return study.protocols.filter(version=version).first()
    return _protocol_at_hand(user, study, draft=draft)


def _protocol_at_hand(user: User, study: Study, *, draft: bool) -> Protocol:
    frozen = study.submitted or study.protocol
    if frozen is None or (may_change(user, study) and (draft or study.status == StudyStatus.DRAFT)):
        definition = define(study.definition)
        return next_protocol(study, definition, media=media_facts(study, definition.files()))
    return frozen


def _sees_the_draft(user: User, study: Study) -> bool:
    return study.status == StudyStatus.DRAFT and may_change(user, study)


def rehearsal_of(study: Study) -> Study | None:
    """The sandbox copy in which bots walk, for whoever runs the study. No other function gives it out: it is no study among studies."""
    return Study.objects.filter(rehearsal_of=study).select_related("crowd").first()


def study_in_public(slug: str) -> Study:
    """A study that anybody may read about: one that has been approved."""
    study = (
        Study.objects.defer("definition")
        .filter(slug=slug, protocol__isnull=False, rehearsal_of=None)
        .exclude(status__in=(StudyStatus.DRAFT, StudyStatus.IN_REVIEW))
        .first()
    )
    if study is None:
        raise Http404("There is no such study.")
    return study


def months_kept(study: Study) -> int:
    """For how long after closing: as the protocol in force says, but no longer than any version that somebody here has agreed to."""
    agreed = Participant.objects.filter(study=study).values_list("protocol_id", flat=True).distinct()
    versions = {study.protocol_id or 0, *agreed}
    return min(frozen_protocol(version).definition.retention.months_after_closing for version in versions)


def day_of_forgetting(study: Study) -> date | None:
    """The day on which operational data are deleted; None while the study is not closed."""
    if study.closed_on is None or study.protocol_id is None:
        return None
    months = study.closed_on.month - 1 + months_kept(study)
    year, month = study.closed_on.year + months // 12, months % 12 + 1
    return date(year, month, min(study.closed_on.day, monthrange(year, month)[1]))


def forgets_soon(study: Study) -> bool:
    """Whether operational data are still there and will be deleted within `REMINDER_DAYS`."""
    day = day_of_forgetting(study)
    return study.forgotten_on is None and day is not None and day <= timezone.localdate() + REMINDER_DAYS


def way_back(participant: Participant, *, code: str, completion_url: str) -> str:
    """The address that sends a panel member back, with their own number where it says {identifier}. `code` is their withdrawal code."""
    if "{identifier}" not in completion_url:
        return completion_url
    member = PanelMember.objects.filter(study_id=participant.study_id, panel_hash=panel_hash(code)).first()
    return completion_url.replace("{identifier}", quote(member.identifier, safe="") if member else "")


@dataclass(frozen=True, slots=True)
class Alike:
    """How many of those present are at the same step, in the same group, and came and finished on the same days."""

    step: str
    subsample: str
    arm: str
    agrees_to_direct: bool | None
    consented_on: date | None
    finished_on: date | None
    people: int

    @property
    def answered(self) -> bool:
        """Who was drawn to be asked without a die but had not agreed to that has finished, too, but without answers."""
        return self.step == Step.FINISHED and not (self.subsample == DIRECT and self.agrees_to_direct is False)


def present_people(study: Study) -> list[Alike]:
    """Everybody who has not withdrawn, in one pass over the table: whatever is counted of them comes from these few rows."""
    alike = ("step", "subsample", "arm", "agrees_to_direct", "consented_on", "finished_on")
    return [Alike(*row) for row in Participant.objects.filter(study=study).values_list(*alike).annotate(Count("pk"))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many people are where: the one definition of every count, for all pages, results and exports."""

    declined: int
    consented: int
    assigned: int
    finished: int
    withdrew: int
    comprehension_passed: int
    comprehension_failed: int
    assigned_by_group: Mapping[tuple[str, str], int]
    finished_by_group: Mapping[tuple[str, str], int]


def counts_of(study: Study, present: Iterable[Alike] | None = None) -> Counts:
    """Consented and assigned include those who withdrew (intention to treat); finished are those whose answers are there.

    `present` spares the query of `present_people` to whoever has asked it.
    """
    tallies = dict(Tally.objects.filter(study=study).values_list("kind").annotate(Sum("count")))
    assigned = Counter(
        {
            (subsample, arm): count
            for subsample, arm, count in study.allocation_slots.filter(status=SlotStatus.TAKEN)
            .values_list("subsample", "arm")
            .annotate(Count("pk"))
        }
    )
    there, finished = 0, Counter[tuple[str, str]]()
    for alike in present_people(study) if present is None else present:
        there += alike.people
        if alike.answered:
            finished[alike.subsample, alike.arm] += alike.people
    withdrew = tallies.get(TallyKind.WITHDREW, 0)
    departed = Departure.objects.filter(study=study).aggregate(Sum("count"))["count__sum"] or 0
    return Counts(
        declined=tallies.get(TallyKind.DECLINED, 0),
        consented=there + withdrew + departed,
        assigned=assigned.total(),
        finished=finished.total(),
        withdrew=withdrew,
        comprehension_passed=tallies.get(TallyKind.COMPREHENSION_PASSED, 0),
        comprehension_failed=tallies.get(TallyKind.COMPREHENSION_FAILED, 0),
        assigned_by_group=assigned,
        finished_by_group=finished,
    )
