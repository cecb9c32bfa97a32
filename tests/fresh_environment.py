"""An environment that has Candor's wheel and nothing of the checkout, beside folders whose names the library once took."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

from tests.audits.tree import ROOT

# Folders of these names are common; an older wheel put its own beside everybody's.
TAKEN_ONCE = ("accounts", "analysis", "audit", "config", "surveys")


def built_wheel(folder: Path) -> Path:
    """The wheel, built from the checkout."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder], cwd=ROOT, check=True, capture_output=True
    )
    (wheel,) = folder.glob("candor_trials-*.whl")
    return wheel


def fresh_python(folder: Path, *, wheel: Path) -> Path:
    """A Python whose third-party packages are those of the tests, while `candor` comes from the wheel alone."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, capture_output=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    # A folder that is named in a .pth file is searched, but its own .pth files, such as that of a checkout of candor, are not read.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = folder / "bin" / "python"
    where = run(python, "-I", "-c", "import candor; print(candor.__file__)", cwd=folder)
    assert where.stdout.startswith(str(folder)), where.stdout + where.stderr
    return python


def own_folders(where: Path) -> None:
    """Folders of the re-user's, which fail whoever imports them."""
    for name in TAKEN_ONCE:
        (where / name).mkdir()
        (where / name / "__init__.py").write_text(f"raise RuntimeError('this is the own folder {name} of somebody else')\n")


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody would who has none of our variables."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cwd)}
    return subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False, timeout=120, env=environment)
