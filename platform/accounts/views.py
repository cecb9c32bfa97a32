"""The pages on which people change and recover their own account."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts import services
from accounts.access import in_own_language, require_role, user_of
from accounts.login.middleware import has_second_factor
from accounts.models import Language, Role


@in_own_language
@require_role(*Role)
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    context = {
        "second_factor": has_second_factor(user_of(request)),
        "sends_email": settings.EMAIL_IS_CONFIGURED,
        "languages": Language.choices,
    }
    return render(request, "accounts/account.html", context)


@in_own_language
@require_role(*Role)
@require_POST
def log_out_elsewhere(request: HttpRequest) -> HttpResponse:
    """End all sessions of this person but the one that asks."""
    update_session_auth_hash(request, services.end_sessions(user=user_of(request)))
    messages.success(request, _("You are logged out everywhere else."))
    return redirect("account")


@in_own_language
@require_role(*Role)
@require_POST
def notices(request: HttpRequest) -> HttpResponse:
    """Turn on or off the e-mails that tell people when it is their turn."""
    wanted = request.POST.get("wanted") == "1"
    services.want_notices(user=user_of(request), wanted=wanted)
    messages.success(
        request, _("We write to you when it is your turn.") if wanted else _("We do not write to you any more when it is your turn.")
    )
    return redirect("account")


@require_role(*Role)
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Choose the language of one's pages."""
    chosen = request.POST.get("language")
    if chosen in Language.values:
        services.choose_language(user=user_of(request), language=Language(chosen))
    return redirect("account")


@in_own_language
def forgotten_password(request: HttpRequest) -> HttpResponse:
    """A link by e-mail where e-mail can be sent; elsewhere only administrators set new passwords."""
    if not settings.EMAIL_IS_CONFIGURED:
        return render(request, "accounts/forgotten_password.html")
    from allauth.account.views import password_reset

    return cast(HttpResponse, password_reset(request))


def admin_door(request: HttpRequest) -> HttpResponse:
    """The admin's own login page knows no second factor, so everybody uses the one login page."""
    if request.user.is_authenticated:
        raise PermissionDenied(_("This page is for: %(roles)s.") % {"roles": Role.ADMINISTRATOR.label})
    return redirect_to_login(request.GET.get("next", "/admin/"))
