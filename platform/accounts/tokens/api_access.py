"""Access to the API: people by session, programs by token, both by role. The `access_*` selectors decide access to single studies."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, ErrorDetail, ValidationError
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.serializers import ListSerializer, Serializer
from rest_framework.settings import api_settings

from accounts.models import ApiToken, Role, TokenScope, User, hash_of_api_token
from accounts.services import record_refused_token
from accounts.tokens.field_errors import Complaints, in_own_words
from candor.errors import what_came

Sent = TypeVar("Sent", bound=Serializer[object])
SENT_WITH_FORMS = frozenset({"csrfmiddlewaretoken"})
MOST_NAMED = 5
READING = (TokenScope.READ, TokenScope.WRITE)
WRITING = (TokenScope.WRITE,)


class ApiTokenAuthentication(TokenAuthentication):
    """`Authorization: Bearer …`."""

    keyword = "Bearer"

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        """Unknown and expired tokens get the same answer as those of accounts that are switched off."""
        token = ApiToken.objects.select_related("user").filter(token_hash=hash_of_api_token(key)).first()
        if token is None or not lives(token):
            record_refused_token(token)
            raise AuthenticationFailed(_("This token is unknown, revoked or out of date."))
        return token.user, token


def lives(token: ApiToken) -> bool:
    """Whether a token opens anything today."""
    return token.last_day >= timezone.localdate() and token.user.is_active


def sender_of(request: HttpRequest) -> tuple[User, str] | None:
    """The account that sends a request, and the token by which it says so: empty for a session. None: a stranger. Nothing is recorded.

    The header is read as the API reads it: words between any white space, and the session counts beside every other scheme.
    """
    scheme, _space, key = " ".join(request.headers.get("Authorization", "").split()).partition(" ")
    if scheme.lower() == ApiTokenAuthentication.keyword.lower():
        token = ApiToken.objects.select_related("user").filter(token_hash=hash_of_api_token(key)).first()
        return (token.user, key) if token is not None and lives(token) else None
    return (request.user, "") if isinstance(request.user, User) else None


class HasScope(BasePermission):
    """A token opens the addresses of its scope: by default READ and WRITE read, and WRITE alone changes something.

    A view may name other `reading_scopes` and `writing_scopes`. One with `changes_nothing` accepts data from any token that reads.
    """

    def has_permission(self, request: Request, view: object) -> bool:
        reads = request.method in SAFE_METHODS or getattr(view, "changes_nothing", False)
        scopes = getattr(view, "reading_scopes", READING) if reads else getattr(view, "writing_scopes", WRITING)
        if not isinstance(request.auth, ApiToken) or request.auth.scope in scopes:
            return True
        self.message = _("This token has the scope %(found)s; expected one with the scope %(expected)s.") % {
            "found": request.auth.scope,
            "expected": " or ".join(scopes),
        }
        return False


class HasRole(BasePermission):
    """Access by the view's `roles`, by default all, and, where not everybody who reads may write, its `writing_roles`."""

    def has_permission(self, request: Request, view: object) -> bool:
        roles: tuple[Role, ...] = getattr(view, "roles", tuple(Role))
        if request.method not in SAFE_METHODS:
            roles = getattr(view, "writing_roles", roles)
        self.message = f"This is for: {', '.join(str(role.label) for role in roles)}."
        return isinstance(request.user, User) and request.user.role in roles


def person_of(request: Request) -> User:
    """The logged-in person; `HasRole` lets nobody else in."""
    assert isinstance(request.user, User)
    return request.user


def checked(serializer: type[Sent], data: object, *, in_a_query: bool = False) -> Sent:
    """The data that were sent, in the form that they must have; otherwise the answer says what is wrong with them.

    A query may have names for others, such as `page`.
    """
    sent = serializer(data=data)
    if not in_a_query:
        refuse_unknown_names(sent, data)
    if not sent.is_valid():
        raise ValidationError(in_own_words(sent.errors, sent, data))
    return sent


def refuse_unknown_names(form: Serializer[object], data: object) -> None:
    """A misspelt name is an error: if it were passed over, its value would be missing, and nobody would be told."""
    if problems := _unknown_names(form, data):
        raise ValidationError(problems)


def _unknown_names(field: object, data: object) -> dict[str, Complaints]:
    """The complaints, at the place of each object that has such names."""
    if isinstance(field, ListSerializer) and isinstance(data, list | tuple):
        inside = {str(at): _unknown_names(field.child, one) for at, one in enumerate(data)}
        return {at: problems for at, problems in inside.items() if problems}
    if not (isinstance(field, Serializer) and isinstance(data, Mapping)):
        return {}
    inside = {name: _unknown_names(one, data[name]) for name, one in field.fields.items() if name in data}
    problems: dict[str, Complaints] = {name: found for name, found in inside.items() if found}
    if unknown := [name for name in data if name not in field.fields and name not in SENT_WITH_FORMS]:
        known = ", ".join(name for name, one in field.fields.items() if not one.read_only)
        told = {"known": known, "found": ", ".join(what_came(name) for name in unknown[:MOST_NAMED])}
        problems[api_settings.NON_FIELD_ERRORS_KEY] = [ErrorDetail(_("Expected names among %(known)s, found %(found)s.") % told, "invalid")]
    return problems


def asked_choice(request: Request, name: str, choices: Sequence[str]) -> str | None:
    """The value of `name` in the query; anything except one of `choices` is an error, not a filter that does nothing."""
    asked = request.query_params.get(name)
    if asked is not None and asked not in choices:
        raise ValidationError(
            {name: [_("Expected one of %(choices)s, found %(found)s.") % {"choices": ", ".join(choices), "found": what_came(asked)}]}
        )
    return asked
