"""Every setting that is read is in docs/operations.md and, where Compose reads it, in .env.example; and nothing else is."""

import ast
import re
from collections.abc import Iterator

import yaml

from tests.audits.tree import ROOT, project_files

READERS = ("platform", "surveys", "analysis", "webhooks", "lti")
# Set by the programs that start others, never by administrators.
CHOSEN_BY_PROGRAMS = {"DJANGO_SETTINGS_MODULE", "OPENBLAS_NUM_THREADS"}
# For one computer only; Compose has its own ports and no demonstration.
EMBEDDED_ONLY = {"PORT", "DEMO_BOTS"}
COMPOSE = (ROOT / "docker-compose.yml").read_text()


def names_read_in(source: str) -> Iterator[str]:
    """The environment variables that a module reads: `os.environ["X"]`, `os.environ.get("X", …)`, `os.getenv("X")`, and the names in a
    tuple called REQUIRED.
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(value=str(name))):
                yield name
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get" | "setdefault" | "pop"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name
            case ast.Call(func=ast.Attribute(attr="getenv") | ast.Name(id="getenv"), args=[ast.Constant(value=str(name)), *_]):
                yield name
            case ast.Assign(targets=[ast.Name(id="REQUIRED")], value=ast.Tuple(elts=elements)):
                yield from (element.value for element in elements if isinstance(element, ast.Constant) and isinstance(element.value, str))


def settings_read() -> set[str]:
    found = {
        name
        for folder in READERS
        for path in project_files(".py", below=folder)
        if not str(path).endswith("settings/test.py")
        for name in names_read_in((ROOT / path).read_text())
    }
    # dj_database_url reads this one.
    return (found | {"DATABASE_URL"}) - CHOSEN_BY_PROGRAMS


def compose_variables() -> set[str]:
    return set(re.findall(r"\$\{([A-Z_]+)", COMPOSE))


def table_of_settings() -> list[str]:
    """The rows of the first table under "Install for real", as they stand, up to the first line that is no row."""
    section = (ROOT / "docs" / "operations.md").read_text().split("## Install for real")[1].split("\n## ")[0]
    rows = section[section.index("| Variable |") :].splitlines()
    end = next(number for number, row in enumerate(rows) if not row.startswith("|"))
    assert not any(row.startswith("| `") for row in rows[end:]), "a blank line breaks the table"
    return rows[2:end]


def test_the_reader_sees_every_way_of_reading() -> None:
    source = 'import os\nREQUIRED = ("A", "B")\nos.environ["C"]\nos.environ.get("D", "")\nos.getenv("E")\nos.environ.get(name)'
    assert set(names_read_in(source)) == {"A", "B", "C", "D", "E"}


def test_the_table_of_settings_is_whole_and_true() -> None:
    documented = [name for row in table_of_settings() for name in re.findall(r"`([A-Z][A-Z_]+)`", row.split("|")[1])]
    assert sorted(documented) == sorted(set(documented)), "twice"
    assert set(documented) == settings_read() | compose_variables()


def test_the_example_has_every_variable_that_compose_reads() -> None:
    example = re.findall(r"^(?:# )?([A-Z][A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert sorted(example) == sorted(compose_variables())


def test_the_example_shows_the_values_that_hold_without_it() -> None:
    defaults = dict(re.findall(r"\$\{([A-Z_]+):?-([^}]*)\}", COMPOSE))
    shown = dict(re.findall(r"^# ([A-Z][A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert shown == defaults


def test_compose_passes_on_every_setting() -> None:
    """A value in .env that no container gets would be ignored without a word."""
    web = yaml.safe_load(COMPOSE)["services"]["web"]["environment"]
    built_in = set(re.findall(r"^ENV (\w+)=|^    ([A-Z_]+)=", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    assert settings_read() - EMBEDDED_ONLY - {name for pair in built_in for name in pair} <= set(web)
