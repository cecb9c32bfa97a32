"""The team of a study: its owner, its members, and pending invitations."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from accounts.models import Role, User
from accounts.sending import send_if_configured
from surveys.access import OWNER_ROLES, access_owned_study, access_results
from surveys.errors import SharingError
from surveys.models import Invitation, MemberRole, Study
from surveys.sharing import services as sharing
from surveys.sharing.selectors import open_invitations

WHAT_THEY_DO = {
    MemberRole.EDITOR: gettext_lazy("changes and runs the study, and sees its results"),
    MemberRole.VIEWER: gettext_lazy("sees everything and changes nothing"),
    MemberRole.BLINDED_VIEWER: gettext_lazy("sees letters in place of arms until the study is closed"),
}


@never_cache
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """All members see the team; the owner invites, changes and removes; everybody may leave."""
    user = user_of(request)
    seat = access_results(user, slug)
    study = seat.study
    errors, offered, typed = [], None, ""
    if request.method == "POST":
        action = request.POST.get("action", "")
        if action == "leave":
            sharing.remove_member(study, user_id=user.pk, actor=user)
            messages.success(request, _("You left the study “%(title)s”.") % {"title": study.title})
            return redirect("surveys:studies")
        study = access_owned_study(user, slug).study
        try:
            if action != "invite":
                CHANGES[action](study, request.POST, user)
                return redirect("surveys:people", slug)
            typed = request.POST.get("addressee", "")
            invitation, token = sharing.invite(study, addressee=typed, role=_role(request.POST), actor=user)
            offered, typed = _offer(request, invitation, token), ""
        except KeyError:
            errors = [{"field": "", "message": _("This cannot be done here.")}]
        except SharingError as error:
            errors = [{"field": "addressee" if action == "invite" else "", "message": str(error)}]
    context = {
        "study": study,
        "members": study.members.select_related("user"),
        "invitations": open_invitations().filter(study=study),
        "roles": [(role.value, role.label, WHAT_THEY_DO[role]) for role in MemberRole],
        "choices": [(role.value, f"{role.label}: {WHAT_THEY_DO[role]}") for role in MemberRole],
        "chosen": request.POST.get("role", MemberRole.VIEWER),
        "owner_roles": OWNER_ROLES,
        "owns": seat.owns,
        "errors": errors,
        "offered": offered,
        "typed": typed,
        "days": sharing.DAYS,
    }
    return render(request, "surveys/investigator/people.html", context, status=422 if errors else 200)


def _offer(request: HttpRequest, invitation: Invitation, token: str) -> dict[str, object]:
    """The link, shown only this once, and whether it went out by e-mail."""
    link = request.build_absolute_uri(reverse("surveys:invitation", args=[token]))
    address = invitation.user.email if invitation.user else invitation.addressee
    text = _(
        "%(owner)s invites you to the study “%(title)s” on Candor, as: %(role)s.\n\n"
        "Open this link within %(days)d days:\n%(link)s\n\nIf you do not know what this is about, ignore this message."
    ) % {
        "owner": user_of(request).get_username(),
        "title": invitation.study.title,
        "role": invitation.get_role_display(),
        "days": sharing.DAYS,
        "link": link,
    }
    sent = send_if_configured(to=address, subject=_("Invitation to a study"), text=text)
    return {"link": link, "addressee": invitation.addressee, "sent": sent}


def _role(data: Mapping[str, str]) -> MemberRole:
    if (role := data.get("role", "")) not in MemberRole.values:
        raise SharingError(_("Choose a role from the list."))
    return MemberRole(role)


def _number(data: Mapping[str, str], name: str) -> int:
    """An id that no row has; stands for "no such row"."""
    text = data.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else 0


CHANGES: dict[str, Callable[[Study, Mapping[str, str], User], None]] = {
    "change": lambda study, data, user: sharing.change_member_role(study, user_id=_number(data, "member"), role=_role(data), actor=user),
    "remove": lambda study, data, user: sharing.remove_member(study, user_id=_number(data, "member"), actor=user),
    "transfer": lambda study, data, user: sharing.transfer_study(study, user_id=_number(data, "member"), actor=user),
    "withdraw": lambda study, data, user: sharing.withdraw_invitation(study, invitation_id=_number(data, "invitation"), actor=user),
}
