"""The documents point only at files, headings, commands and addresses that exist, and name every address of the API."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator

from tests.audits.tree import ROOT, project_files
from tests.audits.who_may_enter import RECRUITING, VISITORS

DOCUMENTS = [path for path in project_files(".md") if "vendor" not in path.parts]


def prose(document: Path) -> str:
    return re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)


def leads_somewhere(document: Path, file: str, heading: str) -> bool:
    target = document.parent / file if file else document
    if not heading or target.suffix != ".md":
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", prose(target), re.MULTILINE)
    return heading in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_link_inside_the_project_leads_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", prose(ROOT / document))
    broken = [target for target in targets if "://" not in target[0] and not leads_somewhere(ROOT / document, *target)]
    assert broken == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_make_command_in_the_documents_exists(document: Path) -> None:
    offered = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", (ROOT / document).read_text())) <= offered


def with_unnamed_parts(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


def requests_of_the_table(document: str) -> dict[str, set[str]]:
    """The methods of each address, as the first column of the table writes them: `GET`, `POST studies/`, `DELETE …/files/{name}/`. The `…`
    stands for a beginning of the row's address before; so an address may be told that does not exist.
    """
    told: dict[str, set[str]] = defaultdict(set)
    for row in re.findall(r"^\| (`[A-Z].*?) \| ", document, re.MULTILINE):
        before, methods, read = "", set[str](), False
        for word in re.findall(r"[^\s`,;]+", " ".join(re.findall(r"`[^`]+`", row))):
            if word.isupper():
                methods, read = ({word} if read else methods | {word}), False
            else:
                path, read = with_unnamed_parts(word.partition("?")[0]), True
                places = [before[:at] + path[1:] for at, letter in enumerate(before) if letter == "/"] if path.startswith("…") else [path]
                before = before if path.startswith("…") else path
                for place in places:
                    told[place] |= methods
    return told


def requests_of_the_api() -> dict[str, set[str]]:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return {with_unnamed_parts(path.removeprefix("/api/v1/")): {method.upper() for method in found} for path, found in paths.items()}


def test_the_page_of_the_api_names_every_request() -> None:
    told = requests_of_the_table((ROOT / "docs" / "api.md").read_text())
    answered = requests_of_the_api()
    assert {path: methods for path, methods in answered.items() if told.get(path) != methods} == {}


def test_a_request_that_the_page_leaves_out_is_found() -> None:
    page = "| `GET`, `PUT studies/{slug}/credit/`, `POST …/credit/send-again/` | credit | owner |"
    told = requests_of_the_table(page)
    assert told["studies/{}/credit/"] == {"GET", "PUT"}
    assert told["studies/{}/credit/send-again/"] == {"POST"}
    assert "studies/{}/runs/" not in told


READERS = {
    "owner, administrators": {"owner", "administrator"},
    "those who run the study": {"owner", "editor", "administrator"},
    "those who run the study, IRB officers": {"owner", "editor", "officer", "administrator"},
    "those who see results": {"owner", "editor", "viewer", "blinded", "administrator"},
    "those who see the study": {"owner", "editor", "viewer", "blinded", "officer", "administrator"},
}
"""The words of the last column, before its first semicolon: who may read."""


def readers_of_the_api() -> dict[str, set[str]]:
    """The readers of each address of a study that recruits, where there are any: `test_permissions.py` holds the server to them."""
    found = {}
    for route, statuses in RECRUITING.items():
        namespace, _, name = route.partition(":")
        readers = {visitor for visitor, status in zip(VISITORS, statuses, strict=True) if status == 200}
        if name.startswith("api_") and readers:
            _prefix, resolver = get_resolver().namespace_dict[namespace]
            ((path, _parameters),) = resolver.reverse_dict.getlist(name)[0][0]
            found[re.sub(r"%\(\w+\)s", "{}", path).removeprefix("api/v1/")] = readers
    return found


def test_the_page_of_the_api_says_who_reads_what_of_a_study() -> None:
    told: dict[str, set[str]] = {}
    for row in re.findall(r"^\| `[A-Z].*\|$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE):
        who = row.rstrip("| ").rpartition(" | ")[2].partition(";")[0]
        told |= {path: READERS.get(who, {who}) for path, methods in requests_of_the_table(row).items() if "GET" in methods}
    wrong = {path: (readers, told[path]) for path, readers in readers_of_the_api().items() if told[path] != readers}
    assert wrong == {}


def told_rooms(root: str) -> list[str]:
    (tree,) = re.findall(r"## The rooms\n\n```\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    (part,) = re.findall(rf"^{root}/ .*\n((?:  .*\n)+)", tree, re.MULTILINE)
    return [room for line in part.splitlines() for room in re.findall(r"([a-z_]+)/", re.split(r" {2,}", line.strip())[0])]


@pytest.mark.parametrize("root", ["candor", "surveys", "analysis"])
def test_the_page_for_contributors_names_every_room(root: str) -> None:
    there = {module.parent.name for module in (ROOT / root).glob("*/*.py")} - {"management", "migrations", "templatetags"}
    assert sorted(told_rooms(root)) == sorted(there)


def test_it_names_the_rooms_of_surveys_in_the_order_of_their_imports() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one.get("containers") == ["surveys"])
    depth = {room: at for at, layer in enumerate(layers) for room in layer.split(" | ")}
    found = [depth[room] for room in told_rooms("surveys") if room in depth]
    assert found == sorted(found)
