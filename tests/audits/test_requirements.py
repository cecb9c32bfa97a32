"""The locks: in step with pyproject.toml, complete, pinned by hash, without addresses. `make lock` makes them."""

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.audits.tree import ROOT

NAMES = ("production", "complete", "development", "sources", "schemas")
PRODUCTION, COMPLETE, DEVELOPMENT, SOURCES, SCHEMAS = (ROOT / f"requirements/{name}.txt" for name in NAMES)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = PROJECT["dependency-groups"]
# A server needs the library, the packages of the platform, and those that build the package.
SERVER: list[str] = PROJECT["project"]["dependencies"] + GROUPS["platform"] + GROUPS["build"]


def pins(lock: Path) -> dict[str, set[Requirement]]:
    """The pinned requirements of a lock by name; one name has several where markers choose."""
    found: dict[str, set[Requirement]] = {}
    for line in lock.read_text().splitlines():
        if re.match(r"[a-z0-9]", line):
            requirement = Requirement(line.removesuffix("\\").strip())
            found.setdefault(canonicalize_name(requirement.name), set()).add(requirement)
    return found


def version(requirement: Requirement) -> str:
    (specifier,) = requirement.specifier
    assert specifier.operator == "==", requirement
    return specifier.version


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        (PRODUCTION, SERVER),
        (COMPLETE, SERVER + GROUPS["object-store"] + GROUPS["traces"]),
        (DEVELOPMENT, SERVER + GROUPS["object-store"] + GROUPS["traces"] + GROUPS["development"]),
    ],
    ids=["production", "complete", "development"],
)
def test_every_dependency_is_locked_at_a_version_it_allows(lock: Path, wanted: list[str]) -> None:
    locked = pins(lock)
    for requirement in map(Requirement, wanted):
        candidates = locked.get(canonicalize_name(requirement.name), set())
        assert candidates, f"{requirement} is not in {lock.name}: make lock"
        assert all(requirement.specifier.contains(version(pin), prereleases=True) for pin in candidates), f"{requirement}: make lock"


def test_every_direct_dependency_in_the_locks_is_one_of_ours() -> None:
    """A dependency removed from pyproject.toml is gone from the lock too."""
    ours = {canonicalize_name(Requirement(line).name) for line in SERVER}
    direct = set()
    for entry in re.split(r"\n(?=[a-z0-9])", PRODUCTION.read_text()):
        if re.search(r"\(pyproject\.toml", entry):
            direct.add(canonicalize_name(Requirement(entry.splitlines()[0].removesuffix("\\").strip()).name))
    assert direct == ours


def test_the_library_wants_little_and_nothing_of_the_web() -> None:
    """People who check a package or analyse a file install no Django, no Celery and no database driver."""
    library = {canonicalize_name(Requirement(line).name) for line in PROJECT["project"]["dependencies"]}
    assert library == {"numpy", "scipy", "click", "cryptography", "pyyaml"}


def test_what_a_setting_asks_for_is_locked_beside_what_everybody_needs() -> None:
    """The image installs `complete.txt` alone; `make demo` installs the shorter one."""
    assert not {"boto3", "django-storages", "opentelemetry-api", "opentelemetry-sdk"} & set(pins(PRODUCTION))
    assert {name: found for name, found in pins(COMPLETE).items() if name in pins(PRODUCTION)} == pins(PRODUCTION)
    assert "requirements/complete.txt" in (ROOT / "Dockerfile").read_text()


def test_production_is_a_part_of_development() -> None:
    assert {name: {version(pin) for pin in found} for name, found in pins(PRODUCTION).items()} == {
        name: {version(pin) for pin in found} for name, found in pins(DEVELOPMENT).items() if name in pins(PRODUCTION)
    }


def test_sources_without_wheels_are_locked_apart_and_their_dependencies_with_everything_else() -> None:
    """`make` builds these few with the locked setuptools, so that nothing unpinned is ever downloaded."""
    assert set(pins(SOURCES)) == {canonicalize_name(name) for name in GROUPS["sources"]}
    assert not set(pins(SOURCES)) & set(pins(DEVELOPMENT))
    assert "setuptools" in pins(DEVELOPMENT)


def test_what_is_there_for_its_files_is_locked_apart_and_never_on_the_path() -> None:
    assert set(pins(SCHEMAS)) == {canonicalize_name(name) for name in GROUPS["schemas"]}
    assert not set(pins(SCHEMAS)) & set(pins(DEVELOPMENT))
    assert [name for name in pins(SCHEMAS) if find_spec(name) is not None] == []


@pytest.mark.parametrize("lock", [PRODUCTION, COMPLETE, DEVELOPMENT, SOURCES, SCHEMAS], ids=NAMES)
def test_every_pin_has_a_hash_and_no_line_has_an_address(lock: Path) -> None:
    for entry in re.split(r"\n(?=[a-z0-9])", lock.read_text()):
        assert "--hash=sha256:" in entry, entry.splitlines()[0]
    assert re.search(r"://|^ *(-i|-f|--index-url|--extra-index-url|--find-links|-e)\b", lock.read_text(), re.MULTILINE) is None
