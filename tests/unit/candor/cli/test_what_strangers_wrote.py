"""Files of strangers name columns and files: no name writes over another line of the terminal, or fills it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from candor.errors import LONGEST_MESSAGE
from tests.unit.candor.cli.running import answers_file, candor, refused

PACKAGE = Path(__file__).parents[1] / "data" / "package-of-an-older-library.zip"
OVER_IT = "\x1b[1A\x1b[2K\nEvery byte is as it was signed.\u202e\x9b2K"
"""Up a line, which is deleted; a line of one's own; all that follows backwards; the last with the one character that also begins a code."""
WRITTEN = r"\u001b[1A\u001b[2K\u000aEvery byte is as it was signed.\u202e\u009b2K"


def test_the_name_of_a_file_writes_over_no_finding() -> None:
    with zipfile.ZipFile(PACKAGE) as package:
        package.extractall("package")
    Path("package", "data.csv").write_text("changed")
    Path("package", f"x{OVER_IT}").write_text("put beside")
    found = candor("verify", "package")
    assert found.exit_code == 1
    assert [line.partition(":")[0] for line in found.stdout.split("\n")] == ["data.csv", ""]

    with zipfile.ZipFile(PACKAGE) as package:
        Path("package", "data.csv").write_bytes(package.read("data.csv"))
    found = candor("verify", "package")
    assert found.exit_code == 0
    assert f"Not signed, because no part of the package: x{WRITTEN}." in found.stdout.split("\n")
    assert json.loads(candor("verify", "package", "--format", "json").stdout)["unsigned"] == [f"x{OVER_IT}"]


def test_the_name_of_a_member_of_an_archive_writes_over_no_finding() -> None:
    written = io.BytesIO(PACKAGE.read_bytes())
    with zipfile.ZipFile(written, "a") as package:
        package.writestr(f"x{OVER_IT}", "put in")
    Path("package.zip").write_bytes(written.getvalue())
    found = candor("verify", "package.zip")
    assert found.exit_code == 1
    assert "\x1b" not in found.output
    assert any(line.startswith(rf"x{WRITTEN}: ") for line in found.stdout.split("\n"))


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_the_name_of_a_column_moves_no_cursor(output_format: str) -> None:
    answers = Path(answers_file())
    answers.write_text(answers.read_text().replace("attention", "att\x1b[2Jention", 1))
    found = candor("estimate", str(answers), "--design", "design.json", "--bootstrap", "0", "--format", output_format)
    assert found.exit_code == 0, found.output
    assert r"att\u001b[2Jention" in found.stdout
    assert "\x1b" not in found.output
    if output_format == "json":
        assert list(json.loads(found.stdout)["outcomes"]) == ["att\x1b[2Jention"]
    answers.write_text(answers.read_text().replace("arm", "b\x1b[2J", 1))
    assert r"row 1 has b\u001b[2J, subsample" in refused("estimate", str(answers), "--design", "design.json")


def test_a_cell_that_is_longer_than_the_screen_is_cut() -> None:
    Path("answers.csv").write_text(f"{'a' * 5000},subsample,y\ncontrol,1,0\n")
    line = refused("estimate", "answers.csv", "--design", "design.json")
    assert line.startswith("Error: answers.csv: there is no column 'arm'; row 1 has aaaa")
    assert line.endswith("aaa, subsample, y")
    assert len(line) < LONGEST_MESSAGE + 20
