"""The team of a study: invitations, members and their roles, and the owner. The audit log records every change."""

import secrets
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Role, User
from accounts.services import create_user
from audit.services import record
from surveys import actions
from surveys.access import OWNER_ROLES
from surveys.errors import SharingError
from surveys.lifecycle.steps import locked
from surveys.models import Invitation, InvitationLink, MemberRole, Study, StudyMember
from surveys.sharing.selectors import Link, still_open
from surveys.tokens import hash_of_token

DAYS = 14
CANNOT_OWN = (MemberRole.BLINDED_VIEWER, MemberRole.ANALYST)
"""They must not see what an owner sees."""


@transaction.atomic
def invite(study: Study, *, addressee: str, role: MemberRole, actor: User) -> tuple[Invitation, str]:
    """Invite an e-mail address or an account; return the invitation and the token of its link, which nobody can read again."""
    study = locked(study, by=actor, owning=True)
    invitation = Invitation(study=study, role=role)
    token = address(invitation, to=addressee)
    if invitation.user is not None:
        _must_be_new(study, invitation.user)
    invitation.save()
    record(actor=actor, action=actions.INVITED, subject=study, details={"addressee": invitation.addressee, "role": role})
    return invitation, token


def address(invitation: InvitationLink, *, to: str) -> str:
    """Address an invitation to an e-mail address or an account, for so many days; return the token of its link. Nothing is stored yet."""
    invitation.addressee = to = to.strip()
    invitation.user = None if "@" in to else User.objects.filter(username=to, is_active=True).first()
    if invitation.user is None:
        try:
            validate_email(to)
        except ValidationError as error:
            if not to:
                raise SharingError(_("Write an e-mail address, or the name of an account.")) from error
            raise SharingError(_("Expected an e-mail address or the name of an account, found “%(text)s”.") % {"text": to[:150]}) from error
    token = secrets.token_urlsafe(32)
    invitation.token_hash, invitation.last_day = hash_of_token(token), timezone.localdate() + timedelta(days=DAYS)
    invitation.full_clean()
    return token


@transaction.atomic
def withdraw_invitation(study: Study, *, invitation_id: int, actor: User) -> None:
    """Disable the invitation's link from now on."""
    study = locked(study, by=actor, owning=True)
    invitation = (
        Invitation.objects.select_for_update(of=("self",)).filter(study=study, pk=invitation_id, accepted=False, withdrawn=False).first()
    )
    if invitation is None:
        raise SharingError(_("This invitation was accepted or withdrawn in the meantime."))
    invitation.withdrawn = True
    invitation.save(update_fields=["withdrawn"])
    record(actor=actor, action=actions.INVITATION_WITHDRAWN, subject=study, details={"addressee": invitation.addressee})


@transaction.atomic
def accept_invitation(invitation: Invitation, *, user: User) -> StudyMember:
    """Make this person a member, once. The study is held before its invitations and members, as when it is given away."""
    study = locked(invitation.study)
    invitation = use(invitation, user=user)
    _must_be_new(study, user)
    member = StudyMember(study=study, user=user, role=invitation.role)
    member.full_clean()
    member.save()
    details = {"user": user.username, "role": member.role}
    record(actor=user, action=actions.INVITATION_ACCEPTED, subject=study, details=details)
    return member


def use(invitation: Link, *, user: User) -> Link:
    """Accept an invitation, which this ends, in the caller's transaction."""
    invitation = _locked(invitation)
    if invitation.user_id not in (None, user.pk):
        raise SharingError(_("This invitation is for another account."))
    invitation.accepted, invitation.user = True, user
    invitation.save(update_fields=["accepted", "user"])
    return invitation


@transaction.atomic
def create_invited_user(invitation: InvitationLink, *, username: str, password: str) -> User:
    """An account for somebody who was invited and has none: an analyst, who sees only what is shared. One for each invitation."""
    invitation = _locked(invitation)
    if invitation.user_id is not None:
        raise SharingError(_("There is an account for this invitation already. Log in with it."))
    user = create_user(username=username, password=password, role=Role.ANALYST, email=invitation.addressee)
    invitation.user = user
    invitation.save(update_fields=["user"])
    return user


@transaction.atomic
def change_member_role(study: Study, *, user_id: int, role: MemberRole, actor: User) -> None:
    study = locked(study, by=actor, owning=True)
    member = _member(study, user_id)
    former, member.role = member.role, role
    if former == role:
        return
    member.full_clean()
    member.save(update_fields=["role"])
    details = {"user": member.user.username, "from": former, "to": role}
    record(actor=actor, action=actions.MEMBER_ROLE_CHANGED, subject=study, details=details)


@transaction.atomic
def remove_member(study: Study, *, user_id: int, actor: User) -> None:
    """Remove somebody from the study; members may leave by themselves."""
    study = locked(study) if actor.pk == user_id else locked(study, by=actor, owning=True)
    member = _member(study, user_id)
    username = member.user.username
    member.delete()
    record(actor=actor, action=actions.MEMBER_REMOVED, subject=study, details={"user": username, "role": member.role})


@transaction.atomic
def transfer_study(study: Study, *, user_id: int, actor: User) -> None:
    """Make a member the owner; the former owner stays as an editor."""
    study = locked(study, by=actor, owning=True)
    give_study(study, user=_member(study, user_id).user, actor=actor)


@transaction.atomic
def give_study(study: Study, *, user: User, actor: User) -> None:
    """The same for somebody who may have had no part in it; administrators do so."""
    study = locked(study)
    former, member = study.owner, StudyMember.objects.select_for_update(of=("self",)).filter(study=study, user=user).first()
    if user == former:
        return
    if user.role not in OWNER_ROLES:
        raise SharingError(_("Only an investigator or an administrator can own a study."))
    if not user.is_active:
        raise SharingError(_("This person’s account is switched off."))
    if member is not None and member.role in CANNOT_OWN:
        raise SharingError(_("A blinded viewer or an analyst cannot own the study; give them another role first."))
    study.owner = user
    if member is not None:
        member.delete()
    StudyMember.objects.create(study=study, user=former, role=MemberRole.EDITOR)
    study.save(update_fields=["owner"])
    record(actor=actor, action=actions.TRANSFERRED, subject=study, details={"from": former.username, "to": user.username})


def _locked(invitation: Link) -> Link:
    found = still_open(type(invitation)).filter(pk=invitation.pk).select_for_update(of=("self",)).first()
    if found is None:
        raise SharingError(_("This invitation was accepted or withdrawn in the meantime."))
    return found


def _member(study: Study, user_id: int) -> StudyMember:
    member = StudyMember.objects.select_for_update(of=("self",)).select_related("user").filter(study=study, user_id=user_id).first()
    if member is None:
        raise SharingError(_("This person is not a member of the study any more."))
    return member


def _must_be_new(study: Study, user: User) -> None:
    if study.owner_id == user.pk or StudyMember.objects.filter(study=study, user=user).exists():
        raise SharingError(_("%(name)s works on this study already.") % {"name": user.username})
