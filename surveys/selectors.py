"""Reading studies. Every fetch for a member of staff goes through `access_study`, which fetches and authorises at once."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.db.models import Count, Q, QuerySet, Sum
from django.http import Http404

from accounts.models import Role, User
from surveys.assignment import Assignment, list_document
from surveys.definition import StudyDefinition
from surveys.models import AllocationList, PanelMember, Participant, SlotStatus, Step, Study, StudyStatus, Tally, TallyKind
from surveys.protocols import frozen_protocol, media_facts
from surveys.study_file import define
from surveys.tokens import panel_hash


def studies_of(user: User) -> QuerySet[Study]:
    """The studies that this person may see: their own; all that were ever submitted, for IRB officers; everything, for administrators."""
    studies = Study.objects.select_related("owner").defer("definition")
    match user.role:
        case Role.ADMINISTRATOR:
            return studies
        case Role.IRB_OFFICER:
            return studies.filter(Q(owner=user) | ~Q(status=StudyStatus.DRAFT) | Q(protocol__isnull=False))
        case Role.INVESTIGATOR:
            return studies.filter(owner=user)
        case _:
            return studies.none()


def access_study(user: User, slug: str) -> Study:
    """The study, if this person may see it; the same 404 whether it is forbidden or absent."""
    study = studies_of(user).filter(slug=slug).first()
    if study is None:
        raise Http404("There is no such study.")
    return study


def access_own_study(user: User, slug: str) -> Study:
    """The study, if this person may change it: its owner, or an administrator."""
    study = access_study(user, slug)
    if not may_change(user, study):
        raise Http404("There is no such study.")
    return study


def may_change(user: User, study: Study) -> bool:
    """Whether this person runs the study, rather than only sees it."""
    return study.owner_id == user.pk or user.role == Role.ADMINISTRATOR


def definition_for(user: User, study: Study) -> StudyDefinition:
    """A draft as its owner left it, for those who may change it; everything else as it was submitted."""
    if study.protocol_id is None or _sees_the_draft(user, study):
        return define(study.definition)
    return frozen_protocol(study.protocol_id).definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """A definition with the media that there are for it, frozen or still being written."""

    definition: StudyDefinition
    media: Mapping[str, Mapping[str, Any]]
    version: int


def edition_for(user: User, study: Study) -> Edition:
    """As `definition_for`, with the media; of a draft, whatever has been uploaded so far."""
    if study.protocol_id is None or _sees_the_draft(user, study):
        definition = define(study.definition)
        return Edition(definition=definition, media=media_facts(study, definition.files()), version=study.protocols.count() + 1)
    frozen = frozen_protocol(study.protocol_id)
    return Edition(definition=frozen.definition, media=frozen.media, version=frozen.version)


def _sees_the_draft(user: User, study: Study) -> bool:
    return study.status == StudyStatus.DRAFT and may_change(user, study)


def study_in_public(slug: str) -> Study:
    """A study that anybody may read about: one that has been approved."""
    study = (
        Study.objects.defer("definition")
        .filter(slug=slug, protocol__isnull=False)
        .exclude(status__in=(StudyStatus.DRAFT, StudyStatus.IN_REVIEW))
        .first()
    )
    if study is None:
        raise Http404("There is no such study.")
    return study


def way_back(participant: Participant, *, code: str, completion_url: str) -> str:
    """The address that sends a panel member back, with their own number where it says {identifier}. `code` is their withdrawal code."""
    if "{identifier}" not in completion_url:
        return completion_url
    member = PanelMember.objects.filter(study_id=participant.study_id, panel_hash=panel_hash(code)).first()
    return completion_url.replace("{identifier}", quote(member.identifier, safe="") if member else "")


def allocation_document(allocation_list: AllocationList) -> str:
    """The exact text whose SHA-256 was published at launch."""
    assignments = [
        Assignment(subsample=subsample, arm=arm)
        for subsample, arm in allocation_list.slots.order_by("position").values_list("subsample", "arm")
    ]
    return list_document(assignments, study=allocation_list.study.slug, number=allocation_list.number, nonce=allocation_list.nonce)


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


def counts_of(study: Study) -> Counts:
    """Consented and assigned include those who withdrew (intention to treat); finished are those whose answers are there."""
    tallies = dict(Tally.objects.filter(study=study).values_list("kind").annotate(Sum("count")))
    assigned = Counter(
        {
            (subsample, arm): count
            for subsample, arm, count in study.allocation_slots.filter(status=SlotStatus.TAKEN)
            .values_list("subsample", "arm")
            .annotate(Count("pk"))
        }
    )
    present = Participant.objects.filter(study=study)
    finished = {
        (subsample, arm): count
        for subsample, arm, count in present.filter(step=Step.FINISHED).values_list("subsample", "arm").annotate(Count("pk"))
    }
    withdrew = tallies.get(TallyKind.WITHDREW, 0)
    return Counts(
        declined=tallies.get(TallyKind.DECLINED, 0),
        consented=present.count() + withdrew,
        assigned=assigned.total(),
        finished=sum(finished.values()),
        withdrew=withdrew,
        comprehension_passed=tallies.get(TallyKind.COMPREHENSION_PASSED, 0),
        comprehension_failed=tallies.get(TallyKind.COMPREHENSION_FAILED, 0),
        assigned_by_group=assigned,
        finished_by_group=finished,
    )
