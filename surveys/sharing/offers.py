"""The link of an invitation, which is shown once, and sent where e-mail can be sent."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.access import user_of
from accounts.sending import send_if_configured
from surveys.models import InvitationLink
from surveys.sharing.services import DAYS


def offered_link(request: HttpRequest, invitation: InvitationLink, path: str) -> dict[str, object]:
    """The link, shown only this once, and whether it went out by e-mail."""
    link = request.build_absolute_uri(path)
    address = invitation.user.email if invitation.user else invitation.addressee
    text = _(
        "%(owner)s invites you to “%(title)s” on Candor, as: %(role)s.\n\n"
        "Open this link within %(days)d days:\n%(link)s\n\nIf you do not know what this is about, ignore this message."
    ) % {
        "owner": user_of(request).get_username(),
        "title": invitation.whole.title,
        "role": invitation.get_role_display(),
        "days": DAYS,
        "link": link,
    }
    sent = send_if_configured(to=address, subject=_("Invitation"), text=text)
    return {"link": link, "addressee": invitation.addressee, "sent": sent}
