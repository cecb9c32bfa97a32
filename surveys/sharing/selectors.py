"""Invitations that can still be accepted."""

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from surveys.models import Invitation
from surveys.tokens import hash_of_token


def open_invitation(token: str) -> Invitation:
    """The invitation behind this link, if it is still open; the same 404 whether it was withdrawn, used, expired or never made."""
    found = open_invitations().filter(token_hash=hash_of_token(token)).first()
    if found is None:
        raise Http404("There is no such invitation.")
    return found


def open_invitations() -> QuerySet[Invitation]:
    """Invitations that can be accepted now."""
    waiting = Invitation.objects.filter(accepted=False, withdrawn=False, last_day__gte=timezone.localdate())
    return waiting.select_related("study", "study__owner", "user")
