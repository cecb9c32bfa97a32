"""Access to pages by role. The `access_*` selectors decide access to single studies."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.errors import LoggedOutError
from accounts.models import Role, User

Arguments = ParamSpec("Arguments")
View = Callable[Concatenate[HttpRequest, Arguments], HttpResponseBase]


def comes_as_staff(request: HttpRequest) -> bool:
    """Whether a request brings a session or a token, whatever it is worth. Participants have neither."""
    return settings.SESSION_COOKIE_NAME in request.COOKIES or "HTTP_AUTHORIZATION" in request.META


def require_role(*roles: Role) -> Callable[[View[Arguments]], View[Arguments]]:
    """Let only these roles pass. Visitors without a session are asked to log in, and get back what they typed; other roles get 403."""

    def decorate(view: View[Arguments]) -> View[Arguments]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                if request.FILES or request.POST.keys() - {"csrfmiddlewaretoken"}:
                    raise LoggedOutError
                return redirect_to_login(request.get_full_path())
            if user_of(request).role not in roles:
                names = ", ".join(str(role.label) for role in roles)
                raise PermissionDenied(_("This page is for: %(roles)s.") % {"roles": names})
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def language_of_reader(request: HttpRequest) -> str:
    """The language of the account or, if nobody chose one, of the browser, among those of staff's pages."""
    return getattr(request.user, "language", "") or translation.get_language_from_request(request)


def in_own_language(view: View[Arguments]) -> View[Arguments]:
    """Show a page that is there in every language in that of the account or, if nobody chose one, of the browser."""

    @wraps(view)
    def shown(request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponseBase:
        language = language_of_reader(request)
        request.own_language = language  # type: ignore[attr-defined]  # an error's page speaks it, too
        with translation.override(language):
            response = view(request, *args, **kwargs)
            return response.render() if isinstance(response, SimpleTemplateResponse) else response  # or it would be written later

    return shown


def require_confirmed_person(request: HttpRequest) -> None:
    """Ask for the password or a code again, unless somebody gave it within the last five minutes; what they sent is then taken up."""
    from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required

    raise_if_reauthentication_required(request, app="accounts")


def user_of(request: HttpRequest) -> User:
    """The logged-in person, with their type known."""
    return cast(User, request.user)
