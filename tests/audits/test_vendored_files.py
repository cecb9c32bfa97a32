"""Fonts and scripts by others are exactly the files that the lock names, each with its licence, and no other file lies beside them."""

import hashlib
import json
import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "platform" / "static"
LOCK = json.loads((STATIC / "vendor" / "versions.json").read_text(encoding="utf-8"))
FILES = [file for package in LOCK["packages"] for file in package["files"]]


@pytest.mark.parametrize("file", FILES, ids=[file["path"] for file in FILES])
def test_a_vendored_file_is_the_one_in_the_lock(file: dict[str, str]) -> None:
    assert hashlib.sha256((STATIC / file["path"]).read_bytes()).hexdigest() == file["sha256"]


def test_every_vendored_file_is_in_the_lock() -> None:
    there = {path.relative_to(STATIC).as_posix() for folder in ("fonts", "vendor") for path in (STATIC / folder).iterdir()}
    assert there - {"vendor/versions.json"} == {file["path"] for file in FILES}


def test_every_package_comes_with_version_and_licence() -> None:
    for package in LOCK["packages"]:
        assert package["package"]
        assert package["version"]
        assert any(file["path"].endswith(".LICENSE.txt") for file in package["files"]), package["package"]


def test_no_style_or_script_asks_another_host_or_hides_data_in_an_address() -> None:
    for path in [*STATIC.glob("css/*.css"), *STATIC.glob("js/*.js")]:
        text = path.read_text(encoding="utf-8")
        assert "://" not in text, path.name
        assert "data:" not in text, path.name


def test_no_script_breaks_without_words_when_a_page_lost_a_mark() -> None:
    """What a script cannot do without it looks up with `need`, which names the mark."""
    lookup = re.compile(r"(?:querySelector|getElementById)\((?:[^()]|\([^()]*\))*\)\.")
    assert [path.name for path in STATIC.glob("js/*.js") if lookup.search(path.read_text(encoding="utf-8"))] == []
