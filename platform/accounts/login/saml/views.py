"""Addresses that the institution's provider of identities knows, and the way out there.

This module and all that it imports are loaded when somebody comes by SAML.
"""

from http import HTTPStatus

from allauth.socialaccount.providers.saml import views
from allauth.socialaccount.providers.saml.utils import build_auth, get_app_or_404
from django.contrib.auth.views import LogoutView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from onelogin.saml2.auth import OneLogin_Saml2_Auth

from accounts.login.saml.provider import SESSION
from accounts.login.saml.responses import UNREADABLE, StrictResponse

OneLogin_Saml2_Auth.response_class = StrictResponse  # the library's own place for this

KEPT = ("HTTP_HOST", "HTTP_X_FORWARDED_PROTO", "PATH_INFO", "SCRIPT_NAME", "SERVER_NAME", "SERVER_PORT")
GOODBYE = "saml_goodbye"
PLAIN = "text/plain; charset=utf-8"

finish_acs, login, metadata = views.finish_acs, require_GET(views.login), require_GET(views.metadata)


@require_POST
def acs(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """The answer waits for the next request, which bears the session; of its headers only those stay that say where it came to."""
    headers = request.META
    if "SAMLResponse" not in request.POST:
        return HttpResponse(_("Expected an answer of your institution."), status=HTTPStatus.BAD_REQUEST, content_type=PLAIN)
    request.META = {name: headers[name] for name in KEPT if name in headers}
    try:
        response: HttpResponseBase = views.acs(request, organization_slug=organization_slug)
    finally:
        request.META = headers
    return response


@require_GET
def sls(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """Ends the session when the provider asks for it, signed. Its answer to our own request changes nothing: that session has ended."""
    app = get_app_or_404(request, organization_slug)
    if "SAMLRequest" not in request.GET:
        return redirect("home")
    if not app.settings["idp"]["slo_url"]:
        raise Http404("SAML_IDP_LOGOUT_URL is not set")
    try:
        if "Signature" in request.GET:
            response: HttpResponseBase = views.sls(request, organization_slug=organization_slug)
            return response
    except UNREADABLE:
        pass
    said = _("Expected a request to log out that your institution signed.")
    return HttpResponse(said, status=HTTPStatus.BAD_REQUEST, content_type=PLAIN)


def log_out(request: HttpRequest) -> HttpResponseBase:
    """Out of Candor at once; then a page with the way out of the institution's login, which a form may not lead to."""
    known = request.session.get(SESSION)
    response = LogoutView.as_view()(request)
    if known and not request.user.is_authenticated:
        request.session[GOODBYE] = known
        return redirect("saml_goodbye")
    return response


@require_GET
def goodbye(request: HttpRequest) -> HttpResponseBase:
    """Says that the institution's login goes on, and links to its end."""
    known = request.session.pop(GOODBYE, None)
    if not known:
        return redirect("home")
    provider = get_app_or_404(request, "sso").get_provider(request)
    address = build_auth(request, provider).logout(return_to="", **known)
    return render(request, "account/logged_out_here.html", {"address": address, "institution": provider.name})
