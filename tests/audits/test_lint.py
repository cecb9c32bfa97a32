"""Style of code and templates, types, layers: what `make lint` runs, as tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.audits.tree import ROOT

BIN = Path(sys.executable).parent
SOURCE_ROOTS = os.pathsep.join([str(ROOT), str(ROOT / "platform")])


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--no-cache", "."],
        ["ruff", "format", "--check", "--no-cache", "."],
        ["mypy"],
        ["lint-imports", "--no-cache"],
        ["djlint", "--quiet", "--lint", "templates"],
    ],
    ids=["style", "format", "types", "layers", "templates"],
)
def test_nothing_to_complain(command: list[str]) -> None:
    program, *arguments = command
    done = subprocess.run(
        [BIN / program, *arguments], cwd=ROOT, env={**os.environ, "PYTHONPATH": SOURCE_ROOTS}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
