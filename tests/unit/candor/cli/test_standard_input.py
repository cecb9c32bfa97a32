"""``-`` is standard input for every input of every command, and one input only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from candor.cli import main
from candor.packages.archive import files_in
from tests.unit.candor.cli.running import DESIGN, answers_file, candor
from tests.unit.candor.packages.older import assert_what_is_comparable_is_the_same

ROOT = Path(__file__).parents[4]
PACKAGE = (ROOT / "tests/unit/candor/data/package-of-an-older-library.zip").read_bytes()
KEY = files_in(PACKAGE)["public-key.pem"]


def piped(content: bytes, *arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, input=content)


@pytest.mark.parametrize("covariates", [[], ["--covariate", "age"]], ids=["counts", "with covariates"])
def test_answers_from_standard_input_are_those_of_the_file(covariates):
    arguments = ["--design", "design.json", "--bootstrap", "10", "--seed", "1", *covariates]
    path = answers_file()
    assert piped(Path(path).read_bytes(), "estimate", "-", *arguments).stdout == candor("estimate", path, *arguments).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", "answers.csv", "--bootstrap", "0"],
        ["plan", "--effect", "0.1"],
        ["simulate", "--n", "5", "--effect", "0.1", "--seed", "1"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_design_from_standard_input_is_that_of_the_file(arguments):
    answers_file()
    expected = candor(*arguments, "--design", "design.json")
    assert expected.exit_code == 0
    assert piped(json.dumps(DESIGN).encode(), *arguments, "--design", "-").stdout == expected.stdout
    study = (ROOT / "surveys/sample/lecture-videos.yaml").read_bytes()
    if arguments[0] == "plan":
        assert "ε = 1.3863 per question" in piped(study, *arguments, "--design", "-").stdout


def test_a_package_and_a_key_come_from_standard_input():
    Path("package.zip").write_bytes(PACKAGE)
    Path("key.pem").write_bytes(KEY)
    assert piped(PACKAGE, "verify", "-", "--key", "key.pem").exit_code == 0
    done = piped(KEY, "verify", "package.zip", "--key", "-")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "Every byte is as it was signed with the key in standard input.")
    assert piped(PACKAGE[:-1] + b"\1", "verify", "-").exit_code == 1
    assert_what_is_comparable_is_the_same(piped(PACKAGE, "replicate", "-").stdout, made_by="candor 0.1.0 (it names no hash)")


@pytest.mark.parametrize("command", ["verify", "replicate", "pool"])
@pytest.mark.parametrize("content", [b"", b"<html>Not found</html>", KEY.replace(b"PUBLIC", b"PRIVATE")])
def test_a_file_without_a_key_is_no_key(command: str, content: bytes):
    """As a download that failed leaves it. It was told as a fault of the package, with an address where to read more."""
    Path("package.zip").write_bytes(PACKAGE)
    done = piped(content, command, "package.zip", "--key", "-")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "Error: standard input: expected a PEM file with the public key of a server (Ed25519), found something else\n"


RECORDS = json.dumps([{"quasi_identifiers": {"year": str(1990 + one % 3)}, "sensitive": {}, "children": []} for one in range(12)])
TABLE = "year;grade\n" + "".join(f"{1990 + one % 3};{one % 2}\n" for one in range(12))
ROLES = {"year": "quasi_identifier", "grade": "sensitive"}
LABELS = {"year": {str(year): [str(year), "*"] for year in range(1990, 1993)}}


@pytest.mark.parametrize(("written", "name"), [(RECORDS, "records.json"), (TABLE, "table.csv"), ("\ufeff\n" + TABLE, "table.csv")])
def test_records_tables_and_hierarchies_come_from_standard_input(written: str, name: str) -> None:
    """A table has no name there by which it is known as one."""
    Path(name).write_text(written.replace("\ufeff\n", "\ufeff"))
    Path("roles.json").write_text(json.dumps(ROLES))
    Path("labels.json").write_text(json.dumps(LABELS))
    options = ["--k", "4", "-o", "out.csv" if name == "table.csv" else "out.json"]
    roles = ["--roles", "roles.json"] if name == "table.csv" else []
    expected = candor("anonymize", name, *roles, "--hierarchies", "labels.json", *options)
    assert expected.exit_code == 0, expected.output
    published = Path(options[-1]).read_bytes()
    assert piped(json.dumps(LABELS).encode(), "anonymize", name, *roles, "--hierarchies", "-", *options).stdout == expected.stdout
    assert piped(written.encode(), "anonymize", "-", *roles, "--hierarchies", "labels.json", *options).stdout == expected.stdout
    assert piped(published, "check", "-", *roles, "--k", "4").stdout == "holds: 12 records, k = 4\n"
    assert piped(published, "check", "-", *roles, "--k", "5").exit_code == 1
    assert "only one input can be -" in piped(b"", "anonymize", "-", "--hierarchies", "-", *options).stderr


@pytest.mark.parametrize(
    ("content", "arguments", "complaint"),
    [
        (b"", ["estimate", "-", "--design", "design.json"], "standard input: the file is empty"),
        (b"arm,subsample,y\ncontrol,1,0\ncontrol,1,2\n", ["estimate", "-", "--design", "design.json"], "standard input: row 3, column 'y'"),
        (b"\xff", ["estimate", "-", "--design", "design.json"], "standard input: not a text file in UTF-8"),
        (b"{", ["plan", "--effect", "0.1", "--design", "-"], "standard input: not a JSON document"),
        (b"{}", ["estimate", "-", "--design", "-"], "only one input can be -, standard input"),
        (b" ", ["check", "-", "--k", "2"], "standard input: expected a JSON list of records, found the end of the file"),
        (b"{}", ["check", "-", "--k", "2"], "standard input: expected a JSON list of records, found '{'"),
        (b"year\n1\n", ["check", "-", "--k", "2"], "standard input: expected --roles, the role of each column; nothing is guessed"),
        (b"", ["verify", "-", "--key", "-"], "only one input can be -, standard input"),
    ],
)
def test_what_is_wrong_with_standard_input_is_said_in_one_line(content, arguments, complaint):
    done = piped(content, *arguments)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert complaint in line


def test_a_standard_input_that_was_closed_is_said_in_one_line():
    """As a service manager may start a program, or `<&-` in a shell."""
    answers_file()
    command = [sys.executable, "-m", "candor.cli", "estimate", "-", "--design", "design.json"]
    done = subprocess.run(
        command, preexec_fn=partial(os.close, 0), capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT)}
    )
    assert (done.returncode, done.stderr) == (2, "Error: Invalid value for 'DATA': standard input is closed\n")


def test_a_real_pipe_is_read_twice():
    """Once for the header, once for the answers; a pipe itself cannot be rewound."""
    content = Path(answers_file()).read_bytes()
    command = [sys.executable, "-m", "candor.cli", "estimate", "-", "--design", "design.json", "--bootstrap", "0"]
    done = subprocess.run(command, input=content, capture_output=True, check=False, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == candor("estimate", "answers.csv", "--design", "design.json", "--bootstrap", "0").stdout
