"""Parts of the API common to all operations, and their description in the OpenAPI document: errors are problems, answers have ETags."""

from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiJsonRenderer2, OpenApiYamlRenderer, OpenApiYamlRenderer2
from drf_spectacular.views import SpectacularAPIView

from config.error_responses import PROBLEM_JSON
from config.idempotency.middleware import HEADER, LONGEST, REPEATED, SHORTEST

PROBLEM = {
    "type": "object",
    "description": "An RFC 9457 problem document.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "`urn:candor:problem:…`, which never changes with the language, or `about:blank`."},
        "title": {"type": "string"},
        "status": {"type": "integer", "example": 409},
        "detail": {"type": "string", "description": "The expected and the received input."},
        "advice": {"type": "string", "description": "A way to solve the problem."},
        "errors": {"description": "By field, what is wrong with it."},
    },
}
ANSWER = {
    "description": (
        "400 and 422 for what does not fit, 401 without a valid token or session, 403 for another role or scope, "
        "404 for a study that is not there or not yours, 409 for a step that is not open now, 412 and 428 for a change without the "
        "newest version's ETag, 429 for too many requests."
    ),
    "content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
AWAY = {
    "description": "A part of the site is away, busy or full. The same request can be sent again after the seconds in Retry-After.",
    "content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
IDEMPOTENCY_KEY = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": (
        "A random text, such as a UUID, for this request alone. Sent again with the same key within a day, it is not done again, and "
        f"gets the same answer with `{REPEATED}: true`. The same key with another request gets 422, and 409 while the first is just being "
        "done. Errors are not kept: the request may be corrected and sent again with the same key."
    ),
    "schema": {"type": "string", "minLength": SHORTEST, "maxLength": LONGEST, "pattern": r"^[!#-\[\]-~]*$"},
    "example": "0d3b7a52-6c0e-4d5e-9a55-2f4f1a0c8f7e",
}
UNSAFE = ("post", "put", "patch", "delete")
NOT_MODIFIED = {"description": "The same as what the ETag sent as If-None-Match stands for."}


def with_problems(result: dict[str, Any], generator: object, request: object, public: bool) -> dict[str, Any]:
    """drf-spectacular's postprocessing hook."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    result["components"].setdefault("parameters", {})["IdempotencyKey"] = IDEMPOTENCY_KEY
    for operations in result["paths"].values():
        for method in UNSAFE:
            if method in operations:
                operations[method].setdefault("parameters", []).append({"$ref": "#/components/parameters/IdempotencyKey"})
        for operation in operations.values():
            operation["responses"]["4XX"] = ANSWER
            operation["responses"]["503"] = AWAY
        if "get" in operations:
            operations["get"]["responses"]["304"] = NOT_MODIFIED
    return result


class DocumentMadeOnce(SchemaGenerator):
    """The document is the same for everybody, and takes a tenth of a second: a process makes it once in each language."""

    def get_schema(self, request: object = None, public: bool = False) -> object:
        if not public or self.api_version:
            return super().get_schema(request=request, public=public)  # type: ignore[no-untyped-call]
        return _document(get_language())


@lru_cache(maxsize=4)
def _document(language: str | None) -> object:
    return SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


class WrittenOnce(OpenApiYamlRenderer):
    """To write the document as YAML takes twice as long as to make it."""

    def render(self, data: object, accepted_media_type: str | None = None, renderer_context: object = None) -> bytes:
        if data is _document(language := get_language()):
            return _written(language)
        return _as_yaml(data)


class WrittenOnce2(WrittenOnce):
    media_type = OpenApiYamlRenderer2.media_type


def _as_yaml(data: object) -> bytes:
    written: bytes = OpenApiYamlRenderer().render(data)  # type: ignore[no-untyped-call]
    return written


@lru_cache(maxsize=4)
def _written(language: str | None) -> bytes:
    return _as_yaml(_document(language))


class DocumentView(SpectacularAPIView):
    generator_class = DocumentMadeOnce
    renderer_classes = [WrittenOnce, WrittenOnce2, OpenApiJsonRenderer, OpenApiJsonRenderer2]  # noqa: RUF012


class ConditionalApiMiddleware(ConditionalGetMiddleware):
    """Clients that send the last answer's ETag get 304 while nothing has changed. Pages differ each time, by their CSRF token."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return super().process_response(request, response) if request.path_info.startswith("/api/") else response
