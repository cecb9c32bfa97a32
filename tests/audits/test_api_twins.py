"""Programs can do what pages do: every page has its twin in the API, and every service that a page calls is called by the API as well."""

import ast
from collections.abc import Iterator
from inspect import unwrap
from pathlib import Path
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.audits.api_twins import LEFT_OUT, OF_BROWSERS, OF_STRANGERS, OTHERWISE, TWINS
from tests.audits.test_permissions import own_routes

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {"surveys": ROOT, "analysis": ROOT, "webhooks": ROOT, "lti": ROOT, "accounts": ROOT / "platform", "config": ROOT / "platform"}
# These serve people without an account, who have no API, or draw what is written elsewhere.
WITHOUT_PROGRAMS = ("surveys/journey/", "surveys/classroom/", "surveys/public/", "lti/views.py", "platform/accounts/login/")
SECRETS = "accounts.services."
"""Passwords, sessions, tokens and second factors, of which `OF_BROWSERS` says why."""


def views(patterns: list[URLPattern | URLResolver] | None = None, namespace: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns, f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace)
        else:
            yield f"{namespace}{pattern.name or ''}", pattern.callback


def is_of_api(name: str) -> bool:
    return name.rpartition(":")[2].startswith("api_")


def operations() -> set[str]:
    """Every method at every address of the API, as `TWINS` writes them."""
    found = set()
    for name, view in views():
        if is_of_api(name):
            made = getattr(view, "cls", None)
            found |= {f"{method.upper()} {name}" for method in ("get", "post", "put", "patch", "delete") if hasattr(made, method)}
    return found


@pytest.mark.usefixtures("mail_server")
def test_every_page_has_a_twin_or_a_reason_why_not() -> None:
    pages = {name for name in own_routes() if not is_of_api(name)}
    lines = [*TWINS, *OF_STRANGERS, *OF_BROWSERS]
    assert len(lines) == len(set(lines)), "a page stands in two lists"
    assert pages - set(lines) == set(), "a line in api_twins.py for each page: its twin, or the reason why it has none"
    assert set(lines) - pages == set(), "these pages are gone"


def test_every_twin_is_there() -> None:
    assert {twin for twins in TWINS.values() for twin in twins} - operations() == set()


def test_every_operation_that_changes_something_is_a_twin() -> None:
    """Programs can do no more than people, whose pages say what a step means."""
    named = {twin for twins in TWINS.values() for twin in twins}
    assert {one for one in operations() if not one.startswith("GET ")} - named == set()


def test_every_page_that_takes_something_has_a_twin_that_does() -> None:
    """A page that is known to take GET alone may have a twin that only reads."""
    without = []
    for name, view in views():
        if name in TWINS and takes_more_than_get(view) and all(twin.startswith("GET ") for twin in TWINS[name]):
            without.append(name)
    assert not without


def takes_more_than_get(view: object) -> bool:
    """True unless the methods of a view are known to be safe ones: of a class, or of a function as Django's decorators say it."""
    made = getattr(view, "view_class", None)
    if made is not None:
        return hasattr(made, "post") and "post" in made.http_method_names
    methods = [found for layer in layers(view) for found in cells(layer) if isinstance(found, list | tuple) and "GET" in found]
    return "POST" in methods[0] if methods else True


def layers(view: object) -> Iterator[object]:
    while view is not None:
        yield view
        view = getattr(view, "__wrapped__", None)


def cells(layer: object) -> list[object]:
    return [cell.cell_contents for cell in getattr(layer, "__closure__", None) or ()]


def test_methods_of_views_are_read_right() -> None:
    taken = {name: takes_more_than_get(view) for name, view in views()}
    assert [name for name in ("surveys:studies", "analysis:results", "surveys:build_archive") if taken[name]] == []
    assert all(taken[name] for name in ("surveys:people", "analysis:releases_one", "surveys:build_about", "analysis:plan"))
    assert unwrap(dict(views())["surveys:people"]).__name__ == "people"


def test_every_service_that_pages_call_is_called_by_the_api() -> None:
    by_pages, by_api = calls(of_api=False), calls(of_api=True)
    elsewhere = {*OTHERWISE, *LEFT_OUT}
    missing = {one: pages for one, pages in by_pages.items() if one not in {*by_api, *elsewhere} and not one.startswith(SECRETS)}
    assert not missing
    assert elsewhere <= set(by_pages), "a service in OTHERWISE or LEFT_OUT that no page calls any more"
    assert set(OTHERWISE.values()) <= set(by_api)
    assert len(by_pages) > 60


def test_an_action_of_a_page_that_programs_cannot_take_is_found() -> None:
    """The negative control: a page that calls a service of which the API knows nothing."""
    page = ast.parse("from surveys.sharing import services as sharing\ndef view(request):\n    sharing.dissolve(request)\n")
    assert set(called_in(page)) == {"surveys.sharing.services.dissolve"}
    assert "surveys.sharing.services.dissolve" not in calls(of_api=True)


def calls(*, of_api: bool) -> dict[str, set[str]]:
    """The functions of `services` modules that pages, or the API, call: by whom."""
    found: dict[str, set[str]] = {}
    for name, place in SOURCES.items():
        for path in (place / name).rglob("*.py"):
            here = path.relative_to(ROOT).as_posix()
            if belongs_to(here, of_api=of_api):
                for service in called_in(ast.parse(path.read_text())):
                    found.setdefault(service, set()).add(here)
    return found


def belongs_to(path: str, *, of_api: bool) -> bool:
    parts = path.removesuffix(".py").split("/")
    is_api = "api" in parts or path == "surveys/studies/forms.py" or path == "surveys/studies/study_actions.py"
    if of_api:
        return is_api or path in ("analysis/releases/services.py",)  # its `take_step` stands for six of its functions
    is_page = parts[-1] == "views" or parts[-1].endswith("_page") or path.startswith("surveys/builder/")
    return is_page and not is_api and parts[-1] not in ("services", "__init__") and not path.startswith(WITHOUT_PROGRAMS)


def called_in(tree: ast.AST) -> Iterator[str]:
    """Names of functions that come from a module called `services`, with that module."""
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                if one.name == "services":
                    modules[one.asname or one.name] = f"{node.module}.services"
                elif node.module.endswith(".services") and one.name[0].islower():
                    yield f"{node.module}.{one.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules and node.attr[0].islower():
            yield f"{modules[node.value.id]}.{node.attr}"
