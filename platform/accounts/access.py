"""Who may use a page: by role. Which study they may see is for the `access_*` selectors to say."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _

from accounts.models import Role, User

Arguments = ParamSpec("Arguments")
View = Callable[Concatenate[HttpRequest, Arguments], HttpResponseBase]


def require_role(*roles: Role) -> Callable[[View[Arguments]], View[Arguments]]:
    """Only these roles pass; whoever is not logged in is asked to, whoever has another role gets 403."""

    def decorate(view: View[Arguments]) -> View[Arguments]:
        @wraps(view)
        def guarded(request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if user_of(request).role not in roles:
                names = ", ".join(str(role.label) for role in roles)
                raise PermissionDenied(_("This page is for: %(roles)s.") % {"roles": names})
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def user_of(request: HttpRequest) -> User:
    """The person who is logged in, with their type known."""
    return cast(User, request.user)
