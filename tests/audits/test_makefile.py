"""The Makefile says which targets it offers, and how to get Python when it is missing."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.audits.tree import ROOT
from tests.lanes import LONGEST_FIRST, THOROUGH


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_command_is_explained_by_help() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    explained = re.findall(r"^  make (\w+) — .+", make("help").stdout, re.MULTILINE)
    assert sorted(phony.split()) == sorted(explained)


def test_without_a_python_it_says_what_is_needed(tmp_path: Path) -> None:
    done = make("demo", "PYTHON=", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "Candor needs Python 3.11 or newer" in done.stdout


@pytest.mark.parametrize(
    ("seconds", "chosen"),
    [
        ({"python3": "1e-9", "python3.13": "0.8e-9", "python3.12": "0.75e-9"}, "python3.13"),
        ({"python3": "1e-9", "python3.13": "0.95e-9"}, "python3"),
    ],
    ids=["the quickest", "the first of equals"],
)
def test_the_quickest_python_is_taken(tmp_path: Path, seconds: dict[str, str], chosen: str) -> None:
    """The machine's own is slower than these, which say that they need a millionth of its time."""
    for name, took in seconds.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho {took} {name}\n")
        (tmp_path / name).chmod(0o755)
    assert python_chosen(PATH=f"{tmp_path}:{os.environ['PATH']}") == chosen


def test_a_python_is_tried_and_one_that_is_too_old_is_not_taken(tmp_path: Path) -> None:
    found = python_chosen()
    version = subprocess.run([found, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True, text=True, check=True)
    assert version.stdout == "True\n"
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert python_chosen(PATH=f"{tmp_path}:{os.environ['PATH']}") != "python3"


def python_chosen(**environment: str) -> str:
    done = subprocess.run(
        ["make", "--no-print-directory", "--eval", "chosen: ; @echo $(PYTHON)", "chosen"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKEOVERRIDES", "PYTHON"}} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_python_that_cannot_make_environments_is_explained(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    # Without apt-get on the path, also root is told, and nothing is installed.
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "rm", "id", "test"):
        if path := next((folder / tool for folder in map(Path, ("/bin", "/usr/bin")) if (folder / tool).exists()), None):
            (tools / tool).symlink_to(path)
    make_program = next(Path(folder) / "make" for folder in os.environ["PATH"].split(os.pathsep) if (Path(folder) / "make").exists())
    done = subprocess.run(
        [make_program, "demo", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}"],
        cwd=ROOT,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "apt install python3-venv" in done.stdout


def test_continuous_integration_runs_the_whole_suite_and_nothing_else() -> None:
    script = ROOT / ".ci" / "run"
    commands = [line for line in script.read_text().splitlines() if line and not line.startswith("#")]
    assert commands == ["set -eu", 'cd "$(dirname "$0")/.."', "exec make test"]
    assert os.access(script, os.X_OK)


def test_the_files_that_are_begun_first_or_left_to_the_suite_are_there() -> None:
    assert [name for name in {*LONGEST_FIRST, *THOROUGH} if not (ROOT / "tests" / name).is_file()] == []
