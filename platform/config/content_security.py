"""The Content-Security-Policy: one for every page, so it is built once, where a library would build it for each response."""

from collections.abc import Callable

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
POLICY = "; ".join(f"{directive} {source}" for directive, source in _DIRECTIVES.items())


class ContentSecurityPolicyMiddleware:
    """Gives every response the policy."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response["Content-Security-Policy"] = POLICY
        return response
