"""Where files lie, their names, their length, and files that must never be committed."""

import re

import pytest

from tests.audits.tree import APPLICATIONS, LIBRARY, ROOT, project_files

LINES_AT_MOST = 400
# File: why it may be longer.
LONGER: dict[str, str] = {}
NAMELESS = {"utils", "util", "common", "helpers", "helper", "core", "misc", "stuff"}
# Spelled so that this file does not contain them.
REGISTRY_HOSTS = [
    "py" + "pi.org",
    "pythonhosted" + ".org",
    "npm" + "js.org",
    "npm" + "js.com",
    "yarn" + "pkg.com",
    "docker" + ".io",
    "ghcr" + ".io",
]
PATHS_OF_A_MACHINE = re.compile(r"(?<![\w.}/:-])/(?:work|root|home|Users)/[\w.]")
SECRETS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|gh[pousr]_\w{36}|xox[bp]-\w{10}|[ \"']eyJ[\w-]{20,}\.")
TEXT = (".py", ".html", ".txt", ".md", ".css", ".js", ".json", ".toml", ".yml", ".yaml", ".conf", ".cfg", ".svg", ".vtt", ".po", ".sh", "")


def test_platform_is_a_source_root_and_never_a_package() -> None:
    assert not (ROOT / "platform" / "__init__.py").exists()
    assert not (ROOT / "tests" / "platform").exists()


def test_no_file_is_longer_than_one_reading() -> None:
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in project_files(".py")}
    lengths |= {str(path): len((ROOT / path).read_text().splitlines()) for path in project_files(".html", below="templates")}
    for folder in ("platform/static/css", "platform/static/js"):
        lengths |= {str(path): len((ROOT / path).read_text().splitlines()) for path in project_files(".css", ".js", below=folder)}
    assert {path: length for path, length in lengths.items() if length > LINES_AT_MOST and path not in LONGER} == {}
    assert [path for path in LONGER if lengths.get(path, 0) <= LINES_AT_MOST] == [], "no longer an exception"


def test_every_module_has_a_named_home() -> None:
    assert [str(path) for path in project_files(".py") if {path.stem, *path.parent.parts} & NAMELESS] == []


def test_every_application_has_the_same_file_names() -> None:
    for application in APPLICATIONS[1:]:
        assert (ROOT / application / "apps.py").exists(), application
        assert (ROOT / application / "migrations" / "__init__.py").exists(), application


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path)
        for folder in (LIBRARY, *APPLICATIONS, "benchmarks")
        for path in project_files(".py", below=folder)
        if "migrations" not in path.parts
        and path.name != "apps.py"
        and (text := (ROOT / path).read_text().strip())
        and not text.startswith(('"""', "#!"))
    ]
    assert silent == []


@pytest.mark.parametrize("pattern", [re.compile("|".join(map(re.escape, REGISTRY_HOSTS))), PATHS_OF_A_MACHINE, SECRETS])
def test_no_file_names_a_registry_or_a_machine_or_holds_a_secret(pattern: re.Pattern[str]) -> None:
    found = []
    for path in project_files(*TEXT):
        for number, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), start=1):
            if match := pattern.search(line):
                found.append(f"{path}:{number}: {match.group()}")
    assert found == []


def test_the_patterns_find_what_they_look_for() -> None:
    assert PATHS_OF_A_MACHINE.search("cd /" + "home/ada/candor")
    assert PATHS_OF_A_MACHINE.search('"/' + 'root/x"')
    assert SECRETS.search("-----BEGIN RSA " + "PRIVATE KEY-----")


def test_the_example_of_an_environment_holds_no_value() -> None:
    lines = [line for line in (ROOT / ".env.example").read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not line.endswith("=")] == []


def test_no_lock_with_addresses_is_committed() -> None:
    assert [
        str(path) for path in project_files() if path.name in {"uv.lock", "package-lock.json", "yarn.lock", "poetry.lock", ".env"}
    ] == []
