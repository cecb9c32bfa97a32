"""The page on which people make tokens for their programs, and revoke them."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from accounts.access import in_own_language, require_confirmed_person, require_role, user_of
from accounts.models import ApiToken, Role, TokenScope
from accounts.services import issue_token, revoke_token
from accounts.tokens.forms import NAME_IS_TAKEN, NewTokenForm


@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """One's own tokens: what they may do, until when; a new one is shown once."""
    user = user_of(request)
    if request.method == "POST" and request.POST.get("action") == "revoke":
        if revoke_token(user=user, name=request.POST.get("name", ""), actor=user):
            messages.success(request, gettext("The token was revoked: it opens nothing any more."))
        return redirect("account_tokens")
    if request.method == "POST":
        require_confirmed_person(request)
    form = NewTokenForm(request.POST or None, user=user)
    made = ""
    if request.method == "POST" and form.is_valid():
        sent = form.cleaned_data
        days = (sent["last_day"] - timezone.localdate()).days
        try:
            made = issue_token(user=user, name=sent["name"], scope=TokenScope(sent["scope"]), days=days, actor=user)
            form = NewTokenForm(user=user)
        except ValidationError:  # another click has just made one of this name
            form.add_error("name", NAME_IS_TAKEN)
    context = {
        "form": form,
        "made": made,
        "errors": [{"field": name, "message": problems[0]} for name, problems in form.errors.items()],
        "tokens": ApiToken.objects.filter(user=user).order_by("name"),
        "today": timezone.localdate(),
    }
    return render(request, "accounts/tokens.html", context, status=422 if form.errors else 200)
