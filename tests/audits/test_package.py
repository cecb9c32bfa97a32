"""The package builds, and its command runs from it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.audits.tree import LIBRARY, ROOT, project_files


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder], cwd=ROOT, check=True, capture_output=True
    )
    (found,) = folder.glob("candor_trials-*.whl")
    return found


def test_the_command_runs_from_the_built_package(wheel: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", tmp_path, wheel],
        check=True,
        capture_output=True,
    )
    done = subprocess.run(
        [tmp_path / "bin" / "candor", "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "estimate" in done.stdout


def test_the_package_holds_the_library_and_nothing_else(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == {path.as_posix() for path in project_files(below=LIBRARY)}
