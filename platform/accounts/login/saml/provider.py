"""The institution's provider of identities: how a person is told from others, and what is kept to log out there, too."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, Protocol

from allauth.socialaccount.providers.saml.provider import SAMLProvider
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts import services

if TYPE_CHECKING:
    from allauth.socialaccount.models import SocialLogin

TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims"
SESSION = "saml_session"
"""In the session: by what names the provider knows it."""


def refuse(sentence: str) -> NoReturn:
    """No login, a line in the log, and the sentence on the page."""
    services.record_failed_login("", door="single sign-on")
    raise PermissionDenied(sentence)


class Answer(Protocol):
    """The library's view of an answer that it has checked."""

    def get_attributes(self) -> Mapping[str, Sequence[str]]: ...
    def get_nameid(self) -> str | None: ...
    def get_nameid_format(self) -> str | None: ...
    def get_nameid_nq(self) -> str | None: ...
    def get_nameid_spnq(self) -> str | None: ...
    def get_session_index(self) -> str | None: ...


class InstitutionProvider(SAMLProvider):  # type: ignore[misc]
    """One provider of identities, which the settings name."""

    default_attribute_mapping = {  # noqa: RUF012  # as allauth reads it
        "uid": ["urn:oasis:names:tc:SAML:attribute:subject-id", "urn:oasis:names:tc:SAML:attribute:pairwise-id"],
        "email": ["urn:oid:0.9.2342.19200300.100.1.3", f"{CLAIMS}/emailaddress", "mail", "email"],
        "first_name": ["urn:oid:2.5.4.42", f"{CLAIMS}/givenname", "givenName", "firstName"],
        "last_name": ["urn:oid:2.5.4.4", f"{CLAIMS}/surname", "sn", "lastName"],
        "username": ["urn:oid:0.9.2342.19200300.100.1.1", "urn:oid:1.3.6.1.4.1.5923.1.1.1.6", "uid", "username"],
    }

    def extract_uid(self, data: Answer) -> str:
        """The same text at each login: the attribute that the settings name, a subject identifier, or a name that is not transient."""
        named = self.app.settings["id_attribute"]
        values = data.get_attributes().get(named, []) if named else [super().extract_uid(data)]
        if len(values) != 1 or not values[0]:
            refuse(_("Expected one value of the attribute %(name)s, found %(count)d.") % {"name": named or "NameID", "count": len(values)})
        if values[0] == data.get_nameid() and not named and data.get_nameid_format() == TRANSIENT:
            refuse(_("Your institution gives you another name at each login. It has to release a lasting identifier to this site."))
        return str(values[0])

    def sociallogin_from_response(self, request: HttpRequest, response: Answer) -> "SocialLogin":
        request.session[SESSION] = {
            "name_id": response.get_nameid(),
            "name_id_format": response.get_nameid_format(),
            "nq": response.get_nameid_nq(),
            "spnq": response.get_nameid_spnq(),
            "session_index": response.get_session_index(),
        }
        return super().sociallogin_from_response(request, response)

    def unstash_redirect_state(self, request: HttpRequest, state_id: str) -> object:
        """An answer counts once, in the browser that asked, for ten minutes."""
        try:
            return super().unstash_redirect_state(request, state_id)
        except PermissionDenied:
            refuse(_("This answer of your institution belongs to no login that was begun here. Log in once more."))
