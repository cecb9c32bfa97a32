"""The institution's answer, read more strictly than the library reads it.

SAML's profile for browsers (section 4.1.4.2 of saml-profiles-2.0-os) demands an audience, a recipient, an end and the request that is
answered, all of them under the signature. The library checks each of them only where it is there, so that an answer that lacks them could
be shown at another site, or a second time.
"""

import zlib

from lxml import etree
from onelogin.saml2.constants import OneLogin_Saml2_Constants
from onelogin.saml2.errors import OneLogin_Saml2_Error
from onelogin.saml2.response import OneLogin_Saml2_Response
from onelogin.saml2.utils import OneLogin_Saml2_Utils

UNREADABLE = (ValueError, TypeError, zlib.error, etree.LxmlError)
"""How the library says that something is no message at all."""


class StrictResponse(OneLogin_Saml2_Response):  # type: ignore[misc]
    """An answer that says for whom it is, until when, and to which request."""

    def __init__(self, settings: object, response: str) -> None:
        try:
            super().__init__(settings, response)
        except UNREADABLE as error:
            raise OneLogin_Saml2_Error(str(error), OneLogin_Saml2_Error.SAML_RESPONSE_NOT_FOUND) from error

    def is_valid(self, request_data: object, request_id: str | None = None, raise_exceptions: bool = False) -> bool:
        if not super().is_valid(request_data, request_id, raise_exceptions):
            return False
        here = OneLogin_Saml2_Utils.get_self_url_no_query(request_data)
        if not self.get_audiences():
            self._error = "The assertion names no audience"
        elif not self.get_in_response_to():
            self._error = "The response answers no request"
        elif not any(self._confirms(one, here) for one in self._query_assertion("/saml:Subject/saml:SubjectConfirmation")):
            self._error = "No confirmation of the subject names this site, an end and the request"
        else:
            return True
        return False

    def _confirms(self, confirmation: etree._Element, here: str) -> bool:
        data = confirmation.find("saml:SubjectConfirmationData", namespaces=OneLogin_Saml2_Constants.NSMAP)
        return (
            confirmation.get("Method") == OneLogin_Saml2_Constants.CM_BEARER
            and data is not None
            and data.get("Recipient") == here
            and data.get("InResponseTo") == self.get_in_response_to()
            and data.get("NotOnOrAfter") is not None
            and OneLogin_Saml2_Utils.parse_SAML_to_time(data.get("NotOnOrAfter")) > OneLogin_Saml2_Utils.now()
        )
