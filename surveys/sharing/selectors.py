"""Invitations that can still be accepted."""

from typing import TypeVar

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from surveys.models import Invitation, InvitationLink
from surveys.tokens import hash_of_token

Link = TypeVar("Link", bound=InvitationLink)


def open_invitation(kind: type[Link], token: str) -> Link:
    """The invitation behind this link, if it is still open; the same 404 whether it was withdrawn, used, expired or never made."""
    found = still_open(kind).filter(token_hash=hash_of_token(token)).first()
    if found is None:
        raise Http404("There is no such invitation.")
    return found


def open_invitations() -> QuerySet[Invitation]:
    """Invitations to studies that can be accepted now."""
    return still_open(Invitation).select_related("study", "study__owner")


def still_open(kind: type[Link]) -> QuerySet[Link]:
    """Invitations of this kind that can be accepted now."""
    waiting = kind._default_manager.filter(accepted=False, withdrawn=False, last_day__gte=timezone.localdate())
    return waiting.select_related("user")
