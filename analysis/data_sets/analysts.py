"""The analysts of a data set: invited by its owner, who accept, and whom an IRB officer approves."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from analysis import actions
from analysis.data_sets.errors import DataSetError
from analysis.data_sets.services import let_in, locked
from analysis.models import DataSet, DataSetAnalyst, DataSetInvitation, DataSetStatus
from audit.services import record
from surveys.errors import SharingError
from surveys.sharing import services as sharing
from surveys.sharing.selectors import still_open


def waiting_invitations(data_set: DataSet) -> QuerySet[DataSetInvitation]:
    """Those that can still be accepted."""
    return still_open(DataSetInvitation).filter(data_set=data_set)


@transaction.atomic
def invite(data_set: DataSet, *, addressee: str, actor: User) -> tuple[DataSetInvitation, str]:
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
    invitation = waiting_invitations(data_set).select_for_update(of=("self",)).filter(pk=invitation_id).first()
    if invitation is None:
        raise DataSetError(_("This invitation was accepted or withdrawn in the meantime."))
    invitation.withdrawn = True
    invitation.save(update_fields=["withdrawn"])
    record(actor=actor, action=actions.ANALYST_UNINVITED, subject=data_set, details={"addressee": invitation.addressee})


@transaction.atomic
def accept(invitation: DataSetInvitation, *, user: User) -> DataSetAnalyst:
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
    names = let_in(data_set, analysts)
    if not names:
        raise DataSetError(_("No analyst waits any more."))
    record(actor=actor, action=actions.ANALYSTS_APPROVED, subject=data_set, details={"analysts": names})


@transaction.atomic
def remove_analyst(data_set: DataSet, *, user_id: int, actor: User) -> None:
    """Remove somebody, or leave."""
    analyst = DataSetAnalyst.objects.select_related("user").filter(data_set=data_set, user_id=user_id).first()
    if analyst is None:
        raise DataSetError(_("This person is not an analyst of the data set any more."))
    analyst.delete()
    record(actor=actor, action=actions.ANALYST_REMOVED, subject=data_set, details={"user": analyst.user.username})


def _must_be_new(data_set: DataSet, user: User) -> None:
    if user == data_set.owner or DataSetAnalyst.objects.filter(data_set=data_set, user=user).exists():
        raise SharingError(_("%(name)s has a part in this data set already.") % {"name": user.username})
