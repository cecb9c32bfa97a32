"""The life of a data set: brought, submitted, approved or sent back, deleted; and its analysts, who are invited, accept and are approved.

Each step holds the data set's lock.
"""

from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import Any, TypedDict

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from analysis import actions
from analysis.data_sets.errors import DataSetError
from analysis.ledger.remembered import remembered_data_sets
from analysis.ledger.services import open_budget
from analysis.models import (
    DataSet,
    DataSetAnalyst,
    DataSetInvitation,
    DataSetStatus,
    Holds,
    RecordHierarchies,
    RecordPackage,
    RecordSweep,
    Source,
)
from analysis.packages.content import simulated_title
from analysis.publications.remembered import unknown_record_sets
from analysis.sources.brought import Brought
from analysis.sources.records.rows import BroughtRecords
from analysis.sources.seats import DataSetSeat
from analysis.sources.services import delete_rows, store_rows
from audit.selectors import entries_about
from audit.services import record
from surveys.drafting.names import name_from
from surveys.errors import SharingError
from surveys.languages.labels import within_sentence
from surveys.questions.plans import PrivacyBudget
from surveys.retention.remembered import deletion_is_remembered, remember_deletion
from surveys.sharing import services as sharing
from surveys.sharing.selectors import still_open

LONGEST_REASON = 2000
RESERVED = "new"
"""The address of the form."""


class Bringing(TypedDict):
    """The arguments of `bring`."""

    brought: Brought | BroughtRecords
    file: object
    title: str
    about: str
    delete_on: date


class Seen(TypedDict):
    """The parts of a data set that waits, as an officer has seen them. No day: nothing is named."""

    budget: tuple[float, float] | None
    delete_on: str | None
    about: str | None


def bring(brought: Brought | BroughtRecords, file: Any, *, title: str, about: str, delete_on: date, actor: User) -> DataSet:
    """Read the file, or the files of records, and keep the rows until this day, without keys and without texts. The title of
    simulated students says so. Raises NotReadError; nothing is kept then.
    """
    rows = brought.read(file)
    holds = Holds.RECORDS if isinstance(brought, BroughtRecords) else Holds.COLUMNS
    with transaction.atomic():
        data_set = DataSet(title=title, about=about, delete_on=delete_on, owner=actor, holds=holds, simulated=rows.simulated)
        if rows.simulated:
            data_set.title = simulated_title(title)
        _store_under_free_slug(data_set)
        store_rows(Source.objects.create(data_set=data_set), rows)
        record(actor=actor, action=actions.DATA_SET_BROUGHT, subject=data_set, details={"students": rows.n, "delete_on": delete_on})
    return data_set


@transaction.atomic
def describe(data_set: DataSet, *, about: str, actor: User) -> bool:
    """Write anew where the data come from, and what the students agreed to; False if it is as before."""
    data_set = locked(data_set, DataSetStatus.DRAFT)
    if about.splitlines() == data_set.about.splitlines():
        return False
    data_set.about = about
    data_set.save(update_fields=["about"])
    record(actor=actor, action=actions.DATA_SET_DESCRIBED, subject=data_set, details={"about": about})
    return True


@transaction.atomic
def submit(data_set: DataSet, *, budget: PrivacyBudget | None, delete_on: date, actor: User) -> None:
    """Ask the officers to approve the data set with this budget, which records have none of, and until this day.

    Raises ValueError where δ is too large for so many students.
    """
    data_set = locked(data_set, DataSetStatus.DRAFT)
    if budget is not None:
        budget.require_small_delta(data_set.students)
        data_set.epsilon, data_set.delta = budget.epsilon, budget.delta
    data_set.status, data_set.submitted_on = DataSetStatus.WAITING, timezone.localdate()
    data_set.delete_on = delete_on
    data_set.save()
    details = {"epsilon": data_set.epsilon, "delta": data_set.delta, "delete_on": delete_on}
    record(actor=actor, action=actions.DATA_SET_SUBMITTED, subject=data_set, details=details)


@transaction.atomic
def approve(
    data_set: DataSet,
    *,
    budget: tuple[float, float] | None,
    delete_on: str | None,
    analysts: Collection[int],
    actor: User,
    about: str | None = None,
) -> None:
    """Open the budget, if there is one. Budget, day, description and analysts are those that the officer saw; analysts who came meanwhile
    wait on. A package of records holds their description.
    """
    data_set = locked(data_set, DataSetStatus.WAITING, reviewer=actor)
    _require_as_seen(data_set, budget, delete_on, about)
    data_set.status, data_set.decided_by, data_set.decided_on = DataSetStatus.APPROVED, actor, timezone.localdate()
    data_set.reason = ""
    data_set.save()
    if budget is not None:
        open_budget(data_set.source, epsilon=budget[0], delta=budget[1])
    names = _let_in(data_set, analysts)
    details = {"epsilon": data_set.epsilon, "delta": data_set.delta, "delete_on": data_set.delete_on, "analysts": names}
    record(actor=actor, action=actions.DATA_SET_APPROVED, subject=data_set, details=details)


@transaction.atomic
def take_back(data_set: DataSet, *, actor: User) -> None:
    """Its owner asks for no approval any more, and may change it again."""
    data_set = locked(data_set, DataSetStatus.WAITING)
    data_set.status, data_set.epsilon, data_set.delta = DataSetStatus.DRAFT, None, None
    data_set.save()
    record(actor=actor, action=actions.DATA_SET_TAKEN_BACK, subject=data_set)


@transaction.atomic
def send_back(
    data_set: DataSet,
    *,
    reason: str,
    actor: User,
    budget: tuple[float, float] | None = None,
    delete_on: str | None = None,
    about: str | None = None,
) -> None:
    """The owner may change description, budget and analysts, and ask again. The first two and the day are those that the officer saw; no
    day: any.
    """
    data_set = locked(data_set, DataSetStatus.WAITING, reviewer=actor)
    if delete_on is not None:
        _require_as_seen(data_set, budget, delete_on, about)
    if not (reason := reason.strip()[:LONGEST_REASON]):
        raise DataSetError(_("Expected a reason in words, found none."))
    read = {"about": data_set.about, "epsilon": data_set.epsilon, "delta": data_set.delta, "delete_on": data_set.delete_on}
    data_set.status, data_set.reason, data_set.epsilon, data_set.delta = DataSetStatus.DRAFT, reason, None, None
    data_set.decided_by, data_set.decided_on = actor, timezone.localdate()
    data_set.save()
    record(actor=actor, action=actions.DATA_SET_SENT_BACK, subject=data_set, details={"reason": reason, **read})


def waiting_invitations(data_set: DataSet) -> QuerySet[DataSetInvitation]:
    """Those that can still be accepted."""
    return still_open(DataSetInvitation).filter(data_set=data_set)


@transaction.atomic
def invite_analyst(data_set: DataSet, *, addressee: str, actor: User) -> tuple[DataSetInvitation, str]:
    """Invite an e-mail address or an account; return the invitation and the token of its link, which nobody can read again."""
    data_set = locked(data_set)
    invitation = DataSetInvitation(data_set=data_set)
    token = sharing.address(invitation, to=addressee)
    if invitation.user is not None:
        _must_be_new(data_set, invitation.user)
    invitation.save()
    record(actor=actor, action=actions.ANALYST_INVITED, subject=data_set, details={"addressee": invitation.addressee})
    return invitation, token


@transaction.atomic
def withdraw_invitation(data_set: DataSet, *, invitation_id: int, actor: User) -> None:
    """Disable the invitation's link from now on."""
    data_set = _held(data_set)
    invitation = waiting_invitations(data_set).select_for_update(of=("self",)).filter(pk=invitation_id).first()
    if invitation is None:
        raise DataSetError(_("This invitation was accepted or withdrawn in the meantime."))
    invitation.withdrawn = True
    invitation.save(update_fields=["withdrawn"])
    record(actor=actor, action=actions.ANALYST_UNINVITED, subject=data_set, details={"addressee": invitation.addressee})


@transaction.atomic
def accept_invitation(invitation: DataSetInvitation, *, user: User) -> DataSetAnalyst:
    """Make this person an analyst, once. They may ask when an officer has approved them."""
    data_set = locked(invitation.data_set)
    sharing.use(invitation, user=user)
    _must_be_new(data_set, user)
    analyst = DataSetAnalyst.objects.create(data_set=data_set, user=user)
    record(actor=user, action=actions.ANALYST_ACCEPTED, subject=data_set, details={"user": user.username})
    return analyst


@transaction.atomic
def approve_analysts(data_set: DataSet, *, analysts: Collection[int], actor: User) -> None:
    """Approve analysts who came after the data set was approved: those that the officer saw."""
    data_set = locked(data_set, DataSetStatus.APPROVED, reviewer=actor)
    names = _let_in(data_set, analysts)
    if not names:
        raise DataSetError(_("No analyst waits any more."))
    record(actor=actor, action=actions.ANALYSTS_APPROVED, subject=data_set, details={"analysts": names})


@transaction.atomic
def remove_analyst(data_set: DataSet, *, user_id: int, actor: User) -> None:
    """Remove somebody, or leave, also when the rows are deleted."""
    data_set = _held(data_set)
    analyst = DataSetAnalyst.objects.select_related("user").filter(data_set=data_set, user_id=user_id).first()
    if analyst is None:
        raise DataSetError(_("This person is not an analyst of the data set any more."))
    analyst.delete()
    record(actor=actor, action=actions.ANALYST_REMOVED, subject=data_set, details={"user": analyst.user.username})


@transaction.atomic
def delete(data_set: DataSet, *, actor: User | None) -> None:
    """Delete the rows for ever. Its answers and its ledger stay, and so does a public package."""
    data_set = locked(data_set)
    data_set.forgotten_on = timezone.localdate()
    if data_set.status == DataSetStatus.WAITING:
        data_set.status, data_set.epsilon, data_set.delta = DataSetStatus.DRAFT, None, None
    data_set.save()
    delete_rows(data_set.source)
    RecordSweep.objects.filter(data_set=data_set).delete()
    RecordHierarchies.objects.filter(data_set=data_set).delete()
    if data_set.status != DataSetStatus.APPROVED:
        RecordPackage.objects.filter(data_set=data_set).delete()
    record(actor=actor, action=actions.DATA_SET_DELETED, subject=data_set, details={"due_on": data_set.delete_on})
    remember_deletion(entries_about(data_set).last())


def delete_again(*, within: Path | None = None) -> list[str]:
    """Delete rows that were deleted before and came back with a back-up; return the slugs. `within`: the folder that remembers it."""
    there = DataSet.objects.filter(forgotten_on=None)
    back = [one for one in there if deletion_is_remembered(entries_about(one).last(), within=within)]
    for data_set in back:
        delete(data_set, actor=None)
    return [one.slug for one in back]


def _require_as_seen(data_set: DataSet, budget: tuple[float, float] | None, delete_on: str | None, about: str | None) -> None:
    """Call it under the lock: its owner may have taken it back and asked for something else. Browsers send other ends of lines."""
    if (*(budget or (None, None)), delete_on) != (data_set.epsilon, data_set.delta, str(data_set.delete_on or "")):
        raise DataSetError(_("The budget or the day was changed meanwhile. Look at it again."))
    if about is not None and about.splitlines() != data_set.about.splitlines():
        raise DataSetError(_("The description was changed meanwhile. Look at it again."))


def locked(data_set: DataSet, *expected: DataSetStatus, reviewer: User | None = None) -> DataSet:
    """The data set as it is now, which nobody else changes until the transaction ends."""
    found = _held(data_set)
    if found.forgotten_on is not None:
        raise DataSetError(_("The data are deleted."))
    if expected and found.status not in expected:
        raise DataSetError(_("The data set is in another state: %(status)s.") % {"status": within_sentence(found.get_status_display())})
    if reviewer and not DataSetSeat(reviewer, found).may_review:
        raise DataSetError(_("Another IRB officer decides: you have a part in this data set."))
    return found


def _held(data_set: DataSet) -> DataSet:
    return DataSet.objects.select_for_update(of=("self",)).select_related("owner").get(pk=data_set.pk)


def _let_in(data_set: DataSet, seen: Collection[int]) -> list[str]:
    """Approve these analysts, of those who wait; their names."""
    waiting = DataSetAnalyst.objects.filter(data_set=data_set, user__in=seen, approved_on=None)
    names = sorted(waiting.values_list("user__username", flat=True))
    waiting.update(approved_on=timezone.localdate())
    return names


def _store_under_free_slug(data_set: DataSet) -> None:
    """Another one of the same title may come at the same moment: then the next short name is taken."""
    data_set.slug = _free_slug(data_set.title)
    data_set.full_clean(validate_unique=False)
    try:
        with transaction.atomic():
            data_set.save(force_insert=True)
    except IntegrityError:
        if not DataSet.objects.filter(slug=data_set.slug).exists():
            raise
        _store_under_free_slug(data_set)


def _free_slug(title: str) -> str:
    """A short name that no other data set has, nor had when it was published or asked about after a back-up was made."""
    wanted = name_from(title, between="-", otherwise="data-set")
    lost = {*unknown_record_sets(), *remembered_data_sets()}
    taken = {RESERVED, *lost, *DataSet.objects.filter(slug__startswith=wanted).values_list("slug", flat=True)}
    return next(name for number in range(1, len(taken) + 2) if (name := wanted if number == 1 else f"{wanted}-{number}") not in taken)


def _must_be_new(data_set: DataSet, user: User) -> None:
    if user == data_set.owner or DataSetAnalyst.objects.filter(data_set=data_set, user=user).exists():
        raise SharingError(_("%(name)s has a part in this data set already.") % {"name": user.username})
