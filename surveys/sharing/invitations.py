"""An invitation as the invited person sees it. Opening the link changes nothing; accepting is a click."""

from django.contrib import messages
from django.contrib.auth import login
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.access import user_of
from accounts.forms import OwnAccountForm
from surveys.errors import SharingError
from surveys.sharing import services as sharing
from surveys.sharing.selectors import open_invitation

BACKEND = "accounts.login.backends.SlowedBackend"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """The offer: the study, the inviter and the role; a button for logged-in people, two ways to log in for everybody else."""
    found = open_invitation(token)
    errors = []
    if request.method == "POST" and request.user.is_authenticated:
        try:
            sharing.accept_invitation(found, user=user_of(request))
            messages.success(request, _("The study is shared with you now."))
            return redirect("surveys:study", found.study.slug)
        except SharingError as error:
            errors = [{"field": "", "message": str(error)}]
    context = {"invitation": found, "token": token, "errors": errors}
    return render(request, "surveys/investigator/invitation.html", context, status=409 if errors else 200)


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def new_account(request: HttpRequest, token: str) -> HttpResponse:
    """An account for somebody who was invited and has none; then the invitation again, to be accepted."""
    found = open_invitation(token)
    if request.user.is_authenticated or found.user_id is not None:
        return redirect("surveys:invitation", token)
    form = OwnAccountForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            data = form.cleaned_data
            user = sharing.create_invited_user(found, username=data["username"], password=data["password1"])
            login(request, user, backend=BACKEND)
            return redirect("surveys:invitation", token)
        except ValidationError as error:  # somebody else took the name in the meantime
            form.add_error("username", error.messages[0])
        except SharingError as error:
            form.add_error(None, str(error))
    return render(request, "surveys/investigator/new_account.html", {"invitation": found, "form": form}, status=422 if form.errors else 200)
