"""The team of a study: its owner, its members, pending invitations, and an invitation as the invited person sees it."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.contrib.auth import login
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.access import in_own_language, require_role, user_of
from accounts.forms import OwnAccountForm
from accounts.models import Role, User
from candor.written_numbers import number_in_digits
from surveys.access import OWNER_ROLES, access_analytics, access_owned_study, access_results
from surveys.errors import SharingError
from surveys.models import Invitation, InvitationLink, MemberRole, Study
from surveys.sharing import services as sharing
from surveys.sharing.offers import offered_link
from surveys.sharing.selectors import open_invitation, open_invitations

BACKEND = "accounts.login.backends.SlowedBackend"
WHAT_THEY_DO = {
    MemberRole.EDITOR: gettext_lazy("changes and runs the study, and sees its results"),
    MemberRole.VIEWER: gettext_lazy("sees everything and changes nothing"),
    MemberRole.BLINDED_VIEWER: gettext_lazy("sees letters in place of arms until the study is closed"),
    MemberRole.ANALYST: gettext_lazy("asks about everybody under the privacy budget, and sees nothing else"),
}


@never_cache
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """All members see the team; the owner invites, changes and removes; everybody may leave."""
    user, action = user_of(request), request.POST.get("action", "")
    if action == "leave":
        study = access_analytics(user, slug).study
        sharing.remove_member(study, user_id=user.pk, actor=user)
        messages.success(request, _("You left the study “%(title)s”.") % {"title": study.title})
        return redirect("surveys:studies")
    seat = access_results(user, slug)
    study = seat.study
    errors, offered, typed = [], None, ""
    if request.method == "POST":
        study = access_owned_study(user, slug).study
        try:
            if action != "invite":
                CHANGES[action](study, request.POST, user)
                return redirect("surveys:people", slug)
            typed = request.POST.get("addressee", "")
            invitation, token = sharing.invite(study, addressee=typed, role=_role(request.POST), actor=user)
            offered, typed = offered_link(request, invitation, reverse("surveys:invitation", args=[token])), ""
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
        "cannot_own": sharing.CANNOT_OWN,
        "owns": seat.owns,
        "errors": errors,
        "offered": offered,
        "typed": typed,
        "days": sharing.DAYS,
    }
    return render(request, "surveys/investigator/people.html", context, status=422 if errors else 200)


def _role(data: Mapping[str, str]) -> MemberRole:
    if (role := data.get("role", "")) not in MemberRole.values:
        raise SharingError(_("Choose a role from the list."))
    return MemberRole(role)


def _number(data: Mapping[str, str], name: str) -> int:
    """The number of a row; 0, which no row has, where none is named."""
    return number_in_digits(data.get(name, ""), most=17) or 0


CHANGES: dict[str, Callable[[Study, Mapping[str, str], User], None]] = {
    "change": lambda study, data, user: sharing.change_member_role(study, user_id=_number(data, "member"), role=_role(data), actor=user),
    "remove": lambda study, data, user: sharing.remove_member(study, user_id=_number(data, "member"), actor=user),
    "transfer": lambda study, data, user: sharing.transfer_study(study, user_id=_number(data, "member"), actor=user),
    "withdraw": lambda study, data, user: sharing.withdraw_invitation(study, invitation_id=_number(data, "invitation"), actor=user),
}


@never_cache
@in_own_language
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """The offer to work on a study."""
    found = open_invitation(Invitation, token)

    def accept(user: User) -> HttpResponse:
        member = sharing.accept_invitation(found, user=user)
        messages.success(request, _("The study is shared with you now."))
        return redirect("analysis:analytics" if member.role == MemberRole.ANALYST else "surveys:study", found.study.slug)

    return answered_invitation(request, found, accept=accept, account=reverse("surveys:new_account", args=[token]))


@never_cache
@sensitive_post_parameters("password1", "password2")
@in_own_language
@require_http_methods(["GET", "HEAD", "POST"])
def new_account(request: HttpRequest, token: str) -> HttpResponse:
    """An account for somebody who was invited to a study and has none."""
    return account_for(request, open_invitation(Invitation, token), back=reverse("surveys:invitation", args=[token]))


def answered_invitation(
    request: HttpRequest, found: InvitationLink, *, accept: Callable[[User], HttpResponse], account: str
) -> HttpResponse:
    """The title, the inviter and the role; a button for logged-in people, two ways to log in for everybody else."""
    errors = []
    if request.method == "POST" and request.user.is_authenticated:
        try:
            return accept(user_of(request))
        except SharingError as error:
            errors = [{"field": "", "message": str(error)}]
    context = {"invitation": found, "account": account, "errors": errors}
    return render(request, "surveys/investigator/invitation.html", context, status=409 if errors else 200)


def account_for(request: HttpRequest, found: InvitationLink, *, back: str) -> HttpResponse:
    """A new account for somebody who was invited; then the invitation again, to be accepted."""
    if request.user.is_authenticated or found.user_id is not None:
        return redirect(back)
    form = OwnAccountForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            data = form.cleaned_data
            user = sharing.create_invited_user(found, username=data["username"], password=data["password1"])
            login(request, user, backend=BACKEND)
            return redirect(back)
        except ValidationError as error:  # somebody else took the name in the meantime
            form.add_error("username", error.messages[0])
        except SharingError as error:
            form.add_error(None, str(error))
    return render(request, "surveys/investigator/new_account.html", {"invitation": found, "form": form}, status=422 if form.errors else 200)
