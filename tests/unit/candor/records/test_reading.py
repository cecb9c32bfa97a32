"""Files of records that are none: each is refused in one line, before more of it is read than needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.candor.cli.running import refused


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("R.json").open("wb") as file:
        file.truncate(500_000_000)  # nothing but its size stands on the disk
    Path("H.json").write_text("{}")
    assert "R.json: expected at most 400 MB" in refused("anonymize", "R.json", "--hierarchies", "H.json", "--k", "2", "-o", "out.json")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"quasi_identifiers": {}, "sensitive": {"gpa": NaN}, "children": []}]', "record 1: expected numbers, found NaN"),
        (
            f'[{{"quasi_identifiers": {{}}, "sensitive": {{"gpa": 1{"0" * 400}}}, "children": []}}]',
            "record 1: expected numbers of at most 300 digits, found one of 401",
        ),
        (
            r'[{"quasi_identifiers": {"gender": "\ud800"}, "sensitive": {}, "children": []}]',
            r"record 1: expected whole characters, found half of one, such as \ud800",
        ),
        ('[{"quasi_identifiers": {}, "sensitive": {}, "kids": []}]', "record 1"),
        ('[{"quasi_identifiers": {}', "record 1"),
        ("[] x", "expected nothing after the list"),
        ("", "found the end of the file"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_list_of_records_is_refused(text: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("R.json").write_text(text)
    Path("H.json").write_text('{"gender": {"F": ["F", "*"]}}')
    assert expected in refused("anonymize", "R.json", "--hierarchies", "H.json", "--k", "2", "-o", "out.json")
