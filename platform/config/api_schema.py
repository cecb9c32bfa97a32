"""Parts of the API common to all operations, and their description in the OpenAPI document: errors are problems, answers have ETags."""

from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import get_conditional_response, set_response_etag
from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiJsonRenderer2, OpenApiYamlRenderer, OpenApiYamlRenderer2
from drf_spectacular.views import SpectacularAPIView
from pydantic import TypeAdapter

from config.error_responses import PROBLEM_JSON
from config.idempotency.middleware import HEADER, LONGEST, REPEATED, SHORTEST
from surveys.definition import StudyDefinition

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
        "errors": {
            "type": "array",
            "description": "Each mistake in what was sent; `detail` above has them all as one text.",
            "items": {
                "type": "object",
                "required": ["place", "detail"],
                "properties": {
                    "place": {
                        "type": "string",
                        "description": "Names and numbers from the outside inwards, such as `arms.0.video.transcript`; empty: the whole.",
                    },
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
ANSWER = {
    "description": (
        "400 and 422 for what does not fit, also for a name that is not described; 401 without a valid token or session, "
        "403 for another role or scope, "
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
ANOTHER_PAGE = {"type": ["string", "null"], "format": "uri", "description": "The address of that page; null where there is none."}
UNSAFE = ("post", "put", "patch", "delete")
NOT_MODIFIED = {"description": "The same as what the ETag sent as If-None-Match stands for."}


def with_problems(result: dict[str, Any], generator: object, request: object, public: bool) -> dict[str, Any]:
    """drf-spectacular's postprocessing hook."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    for name, schema in schemas.items():
        if name.startswith("Paginated"):  # REST framework says `nullable`, which OpenAPI 3.1 does not know
            schema["properties"].update(next=ANOTHER_PAGE, previous=ANOTHER_PAGE)
    for name, schema in {"Problem": PROBLEM, **described_by_types()}.items():
        assert name not in schemas, f"{name} stands for two things"
        schemas[name] = schema
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


def described_by_types() -> dict[str, object]:
    """The documents whose types say what is in them: the study file, and plans."""
    from candor.planning.pareto import FrontDesign  # with SciPy, which most web processes can do without
    from candor.planning.power import StudyPlan
    from candor.planning.survey_precision import SurveyPlan

    design = {"type": "object", "description": "The design document.", "additionalProperties": True}
    front = {"type": "array", "items": _reference("PlannedFrontDesign"), "description": "The designs to choose from, if asked for."}
    return {
        **_components(StudyDefinition, "StudyDefinition", parts="Definition"),
        **_components(StudyPlan, "PlanOfExperiment", parts="Plan", design=design, front=front),
        **_components(SurveyPlan, "PlanOfSurvey", parts="SurveyPlan", design=design),
        **_components(FrontDesign, "PlannedFrontDesign", parts="Front"),
        "StudyDefinitionPatch": {
            "type": "object",
            "description": "Parts of a StudyDefinition, by RFC 7396: what is null is taken out, lists are replaced.",
            "additionalProperties": True,
        },
        "Plan": {"anyOf": [_reference("PlanOfExperiment"), _reference("PlanOfSurvey")]},
    }


def _components(of: type, name: str, *, parts: str, **more: object) -> dict[str, object]:
    """The schema of a type under this name, with `more` properties, and those of its parts under names that begin with `parts`."""
    schema = TypeAdapter(of).json_schema(ref_template=f"#/components/schemas/{parts}{{model}}")
    inside = schema.pop("$defs", {})
    schema["properties"] |= more
    return {name: _without_titles(schema), **{f"{parts}{part}": _without_titles(found) for part, found in inside.items()}}


def _without_titles(part: object) -> object:
    """Programs that write clients call classes by titles, which are the names once more, and not unique."""
    if isinstance(part, dict):
        return {key: _without_titles(value) for key, value in part.items() if not (key == "title" and isinstance(value, str))}
    return [_without_titles(one) for one in part] if isinstance(part, list) else part


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


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
        if not request.path_info.startswith("/api/"):
            return response
        if request.method == "HEAD" and isinstance(response, HttpResponse) and self.needs_etag(response):
            if not response.has_header("ETag"):
                set_response_etag(response)  # the body is here still: the server leaves it out
            return get_conditional_response(request, etag=response.get("ETag"), response=response) or response
        return super().process_response(request, response)
