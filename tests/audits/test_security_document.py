"""docs/security.md leaves no requirement out, says of each how it stands, and names files and tests that exist."""

import re
from collections import Counter
from typing import NamedTuple

import pytest

from tests.audits.tree import ROOT, project_files

# ASVS 5.0.0, levels 1 and 2: by section, how many there are. Those of level 3 come last in each.
SECTIONS: dict[str, int] = {
    "1.1": 2,
    "1.2": 9,
    "1.3": 11,
    "1.4": 3,
    "1.5": 2,
    "2.1": 3,
    "2.2": 3,
    "2.3": 4,
    "2.4": 1,
    "3.2": 2,
    "3.3": 4,
    "3.4": 6,
    "3.5": 5,
    "3.7": 2,
    "4.1": 3,
    "4.2": 1,
    "4.3": 2,
    "4.4": 4,
    "5.1": 1,
    "5.2": 3,
    "5.3": 2,
    "5.4": 3,
    "6.1": 3,
    "6.2": 12,
    "6.3": 4,
    "6.4": 4,
    "6.5": 5,
    "6.6": 3,
    "6.8": 4,
    "7.1": 3,
    "7.2": 4,
    "7.3": 2,
    "7.4": 5,
    "7.5": 2,
    "7.6": 2,
    "8.1": 2,
    "8.2": 3,
    "8.3": 1,
    "8.4": 1,
    "9.1": 3,
    "9.2": 4,
    "10.1": 2,
    "10.2": 2,
    "10.3": 4,
    "10.4": 11,
    "10.5": 5,
    "10.6": 2,
    "10.7": 3,
    "11.1": 2,
    "11.2": 3,
    "11.3": 3,
    "11.4": 4,
    "11.5": 1,
    "11.6": 1,
    "12.1": 3,
    "12.2": 2,
    "12.3": 4,
    "13.1": 1,
    "13.2": 5,
    "13.3": 2,
    "13.4": 5,
    "14.1": 2,
    "14.2": 4,
    "14.3": 3,
    "15.1": 3,
    "15.2": 3,
    "15.3": 7,
    "16.1": 1,
    "16.2": 5,
    "16.3": 4,
    "16.4": 3,
    "16.5": 3,
    "17.1": 1,
    "17.2": 4,
    "17.3": 2,
}
STATES = {"held", "NOT HELD", "not applicable"}
ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"`([\w./-]+?)(?:::(\w+))?`")
A_PATH = re.compile(
    r"^(?:tests|platform|surveys|analysis|webhooks|candor|deployment|docs|templates)(?:/|$)|^[\w.-]+\.(?:toml|yml)$|^\.dockerignore$"
)


class Requirement(NamedTuple):
    number: str
    asked: str
    state: str
    by: str


def requirements_in(text: str) -> list[Requirement]:
    return [Requirement(*row) for row in ROW.findall(text)]


def missing_in(text: str) -> list[str]:
    """The files and tests that a text names and that are not there."""
    found = []
    for path, test in NAMED.findall(text):
        if not A_PATH.match(path):
            continue
        if not (ROOT / path).exists():
            found.append(path)
        elif test and not re.search(rf"^def {test}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE):
            found.append(f"{path}::{test}")
    return found


@pytest.fixture(scope="module")
def document() -> str:
    return (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_requirement_of_levels_one_and_two_has_one_line(document: str) -> None:
    expected = [f"{section}.{number}" for section, last in SECTIONS.items() for number in range(1, last + 1)]
    assert Counter(row.number for row in requirements_in(document)) == Counter(expected)


def test_every_line_says_how_it_stands_and_why(document: str) -> None:
    rows = requirements_in(document)
    assert {row.state for row in rows} == STATES
    assert [row.number for row in rows if len(row.by) < 4] == []


def test_every_file_and_test_that_is_named_exists(document: str) -> None:
    assert missing_in(document) == []


def test_most_of_what_is_held_is_held_by_a_test(document: str) -> None:
    held = [row for row in requirements_in(document) if row.state == "held"]
    assert sum("`tests/" in row.by for row in held) / len(held) > 0.5


def test_the_audit_sees_names_that_lead_nowhere() -> None:
    text = (
        "`surveys/no_such_file.py`, `tests/audits/test_security_document.py::test_nowhere`, `docs/security.md`, `REQUIRE_MFA=1`, `no-store`"
    )
    assert missing_in(text) == ["surveys/no_such_file.py", "tests/audits/test_security_document.py::test_nowhere"]


def test_no_script_of_ours_writes_html() -> None:
    """Requirement 3.2.2."""
    writes = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    scripts = project_files(".js", below="platform/static/js")
    assert len(scripts) > 5
    assert [str(path) for path in scripts if writes.search((ROOT / path).read_text(encoding="utf-8"))] == []
    assert writes.search("element.innerHTML = text")
