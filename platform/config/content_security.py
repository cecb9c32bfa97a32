"""The Content-Security-Policy: built once for all pages, where a library would build it for each response."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

# Nothing from elsewhere, nothing inline, no frames: a page can load from and send to this site alone.
_DIRECTIVES = {
    "default-src": "'none'",
    **dict.fromkeys(
        ("script-src", "style-src", "img-src", "font-src", "connect-src", "media-src", "form-action", "manifest-src"), "'self'"
    ),
    **dict.fromkeys(("object-src", "base-uri"), "'none'"),
    "frame-ancestors": "'none'",
}
# An object store whose operator chose signed links plays lectures to browsers itself.
if settings.MEDIA_BUCKET and settings.MEDIA_BUCKET.seen_by:
    _DIRECTIVES["media-src"] = f"'self' {settings.MEDIA_BUCKET.seen_by}"


def _policy(**others: str) -> str:
    directives = _DIRECTIVES | {name.replace("_", "-"): source for name, source in others.items()}
    return "; ".join(f"{directive} {source}" for directive, source in directives.items())


POLICY = _policy()
# The protocol packet and the builder show pages as students see them: those of the preview, which stores nothing, and no others.
FRAMING = _policy(frame_src="'self'")
FRAMING_PAGES = ("surveys:protocol", "surveys:protocol_version", "surveys:build")
BUILDING = ("surveys:build_", "analysis:build_")
FRAMED = {"surveys:preview": _policy(frame_ancestors="'self'")}


class ContentSecurityPolicyMiddleware:
    """Gives every response the policy."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        page = request.resolver_match.view_name if request.resolver_match else ""
        framed_by, sends_to = getattr(response, "framed_by", ""), getattr(response, "sends_to", "")
        if framed_by or sends_to:  # a page for a course platform, which shows it in its own, or one that sends a form to a panel
            form_action = " ".join(filter(None, ("'self'", sends_to)))
            response["Content-Security-Policy"] = _policy(frame_ancestors=framed_by or "'none'", form_action=form_action)
            return response
        framing = page in FRAMING_PAGES or page.startswith(BUILDING)
        response["Content-Security-Policy"] = FRAMING if framing else FRAMED.get(page, POLICY)
        if page in FRAMED:
            response["X-Frame-Options"] = "SAMEORIGIN"
        return response
