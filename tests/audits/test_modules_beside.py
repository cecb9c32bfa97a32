"""The programs of a package import no module that somebody put beside them: nobody signed it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "replicate.py": ROOT / "candor/packages/replicate.py",
    "check.py": ROOT / "candor/records/checking.py",
    **{name: ROOT / "analysis/packages/without_candor" / name for name in ("check_files.py", "replicate_numpy.py")},
}
STRANGERS = [
    *("__future__", "argparse", "base64", "collections", "csv", "dataclasses"),
    *("hashlib", "json", "math", "numpy", "pathlib", "re", "runpy"),
]


def says(program: Path) -> str:
    done = subprocess.run([sys.executable, program.name], cwd=program.parent, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def with_strangers(folder: Path) -> Path:
    for name in STRANGERS:
        (folder / f"{name}.py").write_text(f"print('{name} of a stranger')\n")
    return folder


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_module_beside_a_program_is_not_run(name: str, tmp_path: Path) -> None:
    program = with_strangers(tmp_path) / name
    shutil.copy(PROGRAMS[name], program)
    assert "of a stranger" not in says(program)


def test_python_itself_would_run_it(tmp_path: Path) -> None:
    program = with_strangers(tmp_path) / "any.py"
    program.write_text("import csv\n")
    assert "csv of a stranger" in says(program)
