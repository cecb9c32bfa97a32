"""Access to studies: who may take which action. Every fetch for staff goes through an `access_*` function, which fetches and authorises at
once.

`access_study` is for people who see the study, `access_results` for people who see its results, `access_own_study` for people who run it,
`access_owned_study` for people who manage its members, and `access_analytics` for people who may ask about everybody under the privacy
budget. Each returns a `Seat`, which answers every further question of this kind.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import Http404
from django.utils import timezone

from accounts.models import Role, User
from audit.selectors import entries_about
from surveys import actions
from surveys.models import ENDED, MemberRole, Study, StudyMember, StudyStatus

OWNER_ROLES = (Role.INVESTIGATOR, Role.ADMINISTRATOR)
"""Roles that may have studies of their own."""
BEFORE_APPROVAL = (StudyStatus.DRAFT, StudyStatus.IN_REVIEW)
NO_STUDY = "There is no such study."


class StudyRole(StrEnum):
    """A person's role in one study. IRB officers may see a study without having one."""

    OWNER = "owner"
    ADMINISTRATOR = "administrator"
    EDITOR = "editor"
    VIEWER = "viewer"
    BLINDED_VIEWER = "blinded_viewer"
    ANALYST = "analyst"


@dataclass(frozen=True)
class Seat:
    """A person and a study. Their role is read once, on first use; every permission follows from it."""

    user: User
    study: Study

    @cached_property
    def role(self) -> StudyRole | None:
        if self.study.owner_id == self.user.pk:
            return StudyRole.OWNER
        return _role_of_others(
            self.user, StudyMember.objects.filter(study=self.study, user=self.user).values_list("role", flat=True).first()
        )

    @property
    def may_see_study(self) -> bool:
        """Whether pages beyond those of the privacy budget are open, as `studies_of` says it of many studies at once."""
        if self.role is None:
            return self.user.role == Role.IRB_OFFICER and (self.study.status != StudyStatus.DRAFT or self.study.protocol_id is not None)
        return self.role != StudyRole.ANALYST

    @property
    def may_ask(self) -> bool:
        """Whether this person may spend the privacy budget."""
        return self.may_change or self.role == StudyRole.ANALYST

    @property
    def may_change(self) -> bool:
        """Whether this person runs the study, rather than only sees it."""
        return self.role in (StudyRole.OWNER, StudyRole.ADMINISTRATOR, StudyRole.EDITOR)

    @property
    def owns(self) -> bool:
        """Whether this person manages the study's members."""
        return self.role in (StudyRole.OWNER, StudyRole.ADMINISTRATOR)

    @property
    def may_see_results(self) -> bool:
        """Whether this person sees results, possibly with letters in place of arms."""
        return self.role is not None and self.may_see_study

    @property
    def is_blinded(self) -> bool:
        """Whether this person must not learn which arm is which until the study is closed."""
        return self.role == StudyRole.BLINDED_VIEWER

    @property
    def may_read_log(self) -> bool:
        """People who run or review the study may read its log. It names arms, so nobody who is blinded reads it."""
        return self.may_change or (self.user.role == Role.IRB_OFFICER and not self.is_blinded and self.may_see_study)

    @property
    def may_read_ledger(self) -> bool:
        """People who run or review the study read what was asked about it, and by whom; analysts read the answers alone."""
        return self.may_read_log

    @cached_property
    def may_review(self) -> bool:
        """Whether this person may decide about the study: an IRB officer who has no part in it, and who never wrote on it."""
        if self.user.role != Role.IRB_OFFICER or self.role is not None:
            return False
        return not entries_about(self.study).filter(actor_id=self.user.pk, action__in=actions.AUTHORSHIP).exists()


def studies_of(user: User) -> QuerySet[Study]:
    """The studies that this person may see: their own and those shared with them; for IRB officers also every study ever submitted; for
    administrators all. Analysts only ask about a study, and do not see it.
    """
    studies = Study.objects.filter(rehearsal_of=None).select_related("owner").defer("definition")
    if user.role == Role.ADMINISTRATOR:
        return studies
    theirs = _owned_or_shared(user)
    if user.role == Role.IRB_OFFICER:
        theirs |= ~Q(status=StudyStatus.DRAFT) | Q(protocol__isnull=False)
    return studies.filter(theirs).exclude(pk__in=_as_analyst(user))


def studies_as_analyst(user: User) -> QuerySet[Study]:
    """The studies about which this person may ask, and which they do not see."""
    studies = Study.objects.filter(rehearsal_of=None).select_related("owner").defer("definition")
    return studies.none() if user.role == Role.ADMINISTRATOR else studies.filter(pk__in=_as_analyst(user))


def studies_with_results_of(user: User) -> QuerySet[Study]:
    """The studies whose results this person may see: their own and those shared with them; for administrators all."""
    studies = studies_of(user)
    return studies if user.role == Role.ADMINISTRATOR else studies.filter(_owned_or_shared(user))


def blinded_studies_of(user: User) -> list[Study]:
    """The studies, with their rehearsals, in which this person must not learn yet which arm is which."""
    theirs = (
        StudyMember.objects.filter(user=user, role=MemberRole.BLINDED_VIEWER).exclude(study__owner=user).exclude(study__status__in=ENDED)
    )
    keys = theirs.values("study")
    return list(Study.objects.filter(Q(pk__in=keys) | Q(rehearsal_of__in=keys)).defer("definition").order_by("slug"))


def access_study(user: User, slug: str) -> Seat:
    """The study, if this person may see it; the same 404 whether access is forbidden or the study absent."""
    return _seat(user, slug, lambda seat: seat.may_see_study)


def access_results(user: User, slug: str) -> Seat:
    """The study, if this person may see its results: its owner, a member, or an administrator."""
    return _seat(user, slug, lambda seat: seat.may_see_results)


def access_analytics(user: User, slug: str) -> Seat:
    """The study, if this person may see it or ask about it: `may_ask` says which."""
    return _seat(user, slug, lambda seat: seat.may_see_study or seat.may_ask)


def access_own_study(user: User, slug: str) -> Seat:
    """The study, if this person may change it: its owner, an editor, or an administrator."""
    return _seat(user, slug, lambda seat: seat.may_change)


def access_owned_study(user: User, slug: str) -> Seat:
    """The study, if this person may manage its members: its owner, or an administrator."""
    return _seat(user, slug, lambda seat: seat.owns)


def access_log(user: User, slug: str) -> Seat:
    """The study, if this person may read its log."""
    return _seat(user, slug, lambda seat: seat.may_read_log)


def is_public(study: Study) -> bool:
    """Whether anybody may read about this study: it has been approved."""
    return study.rehearsal_of_id is None and study.status not in BEFORE_APPROVAL


def study_in_public(slug: str) -> Study:
    """A study that anybody may read about."""
    return _found(Study.objects.defer("definition").filter(rehearsal_of=None).exclude(status__in=BEFORE_APPROVAL), slug)


def studies_for_strangers() -> QuerySet[Study, Study]:
    """The studies on the page of public studies: they take people in now, and their approved protocol says that they are listed."""
    recruiting = Study.objects.defer("definition").filter(status=StudyStatus.RECRUITING, rehearsal_of=None)
    return recruiting.filter(protocol__definition__entry__listed=True, approved_until__gte=timezone.localdate()).order_by("slug")


def _as_analyst(user: User) -> QuerySet[StudyMember, int]:
    return StudyMember.objects.filter(user=user, role=MemberRole.ANALYST).exclude(study__owner=user).values_list("study_id", flat=True)


def _owned_or_shared(user: User) -> Q:
    return Q(owner=user) | Q(pk__in=StudyMember.objects.filter(user=user).values("study"))


def _role_of_others(user: User, given: str | None) -> StudyRole | None:
    """An administrator whom somebody made a blinded viewer stays blinded as long as they are in the study."""
    if user.role == Role.ADMINISTRATOR and given != MemberRole.BLINDED_VIEWER:
        return StudyRole.ADMINISTRATOR
    return StudyRole(given) if given else None


def _seat(user: User, slug: str, may: Callable[[Seat], bool]) -> Seat:
    """One query brings the study and the person's role in it: an absent study takes as long as a forbidden one."""
    given = Subquery(StudyMember.objects.filter(study=OuterRef("pk"), user=user).values("role"))
    study = _found(Study.objects.filter(rehearsal_of=None).select_related("owner").defer("definition").annotate(given=given), slug)
    seat = Seat(user, study)
    if study.owner_id != user.pk:
        vars(seat)["role"] = _role_of_others(user, vars(study)["given"])
    if not may(seat):
        raise Http404(NO_STUDY)
    return seat


def _found(studies: QuerySet[Study], slug: str) -> Study:
    try:
        if "\0" not in slug:  # the log's filter takes any text; PostgreSQL takes no NUL
            return studies.get(slug=slug)
    except Study.DoesNotExist:
        pass
    raise Http404(NO_STUDY)
