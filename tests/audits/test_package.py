"""The wheel: it holds the library and nothing else, and works in a fresh environment beside anybody's own folders."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from importlib.metadata import PackagePath, distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from candor.packages.archive import files_in, signed, zip_of
from candor.packages.replicate import recomputed
from candor.packages.signing import private_key
from candor.software import described, library_sha256, software
from tests.audits.tree import LIBRARY, ROOT, project_files
from tests.fresh_environment import built_wheel, fresh_python, own_folders, run
from tests.unit.candor.packages.older import assert_what_is_comparable_is_the_same

MOST_MEGABYTES = 300
"""The most that `candor verify` and replicate.py take on a disk, without Candor itself."""
OLDER = (ROOT / "tests/unit/candor/data/package-of-an-older-library.zip").read_bytes()
PROGRAM = ROOT / LIBRARY / "packages/replicate.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fresh_python(tmp_path_factory.mktemp("fresh"), wheel=wheel)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own_folders(tmp_path)
    return tmp_path


def unpacked(package: bytes, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files_in(package).items():
        (folder / name).write_bytes(content)
    return folder


def package_of_today() -> bytes:
    """The same study, published with the program and the library of today."""
    files = {name: content for name, content in files_in(OLDER).items() if name not in ("SHA256SUMS", "SHA256SUMS.sig", "public-key.pem")}
    results = json.loads(files["results.json"]) | {"software": software()}
    protocol, lines = json.loads(files["protocol.json"]), files["data.csv"].decode().splitlines()
    results |= {"outcomes": json.loads(json.dumps(recomputed(lines, protocol, results)["outcomes"]))}
    today = {**files, "replicate.py": PROGRAM.read_bytes(), "results.json": json.dumps(results).encode()}
    return zip_of(signed(today, private_key("a secret for tests")))


def test_the_wheel_holds_the_library_and_nothing_else(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == {path.as_posix() for path in project_files(below=LIBRARY)}


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


def test_the_wheel_asks_for_little(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (information,) = (name.split("/")[0] for name in archive.namelist() if name.endswith("METADATA"))
        metadata = archive.read(f"{information}/METADATA").decode()
    wanted = [line.split(": ", 1)[1] for line in metadata.splitlines() if line.startswith("Requires-Dist: ") and "extra" not in line]
    assert sorted(line.split(">")[0].split("~")[0] for line in wanted) == ["click", "cryptography", "numpy", "pyyaml", "scipy"]
    assert "Name: candor-trials\n" in metadata
    assert f"Version: {software()['candor']}\n" in metadata
    installed = installed_with(line.split(">")[0].split("~")[0] for line in wanted)
    megabytes = {name: sum(_size_of(file) for file in distribution(name).files or ()) / 1e6 for name in installed}
    assert megabytes["scipy"] > 50, "files of packages are counted"
    assert sum(megabytes.values()) < MOST_MEGABYTES, megabytes


def installed_with(names: Iterable[str]) -> set[str]:
    """These distributions and all that they ask for."""
    found, asked = set[str](), list(names)
    while asked:
        if (name := canonicalize_name(asked.pop())) not in found:
            found.add(name)
            needs = map(Requirement, requires(name) or ())
            asked += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


def _size_of(file: PackagePath) -> int:
    path = Path(str(file.locate()))
    return path.stat().st_size if path.exists() else 0


def test_the_hash_is_the_same_in_the_wheel_and_in_the_checkout(python: Path, folder: Path) -> None:
    assert run(python, "-m", "candor.cli", "--version", cwd=folder).stdout.strip() == described(software())
    done = run("sh", "-c", "find candor -name '*.py' | LC_ALL=C sort | xargs sha256sum | sha256sum", cwd=ROOT)
    assert done.stdout.split()[0] == library_sha256()


def test_answers_are_estimated_beside_folders_of_any_name(python: Path, folder: Path) -> None:
    files = files_in(OLDER)
    (folder / "data.csv").write_bytes(files["data.csv"])
    (folder / "protocol.json").write_bytes(files["protocol.json"])
    done = run(python, "-m", "candor.cli", "estimate", "data.csv", "--design", "protocol.json", "--bootstrap", "0", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "answer_attention: 320 answers" in done.stdout


def test_the_program_of_a_package_runs_beside_folders_of_any_name(python: Path, folder: Path) -> None:
    unpacked(package_of_today(), folder)
    done = run(python, "replicate.py", cwd=folder)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Every number is the same."), done.stdout + done.stderr
    done = run(python, "-m", "candor.cli", "verify", ".", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "computed by the library that is installed here" in done.stdout


@pytest.mark.parametrize("package", [OLDER, package_of_today()], ids=["older", "of today"])
@pytest.mark.parametrize("as_folder", [True, False], ids=["folder", "ZIP"])
def test_a_package_of_any_age_is_replicated_beside_folders_of_any_name(
    python: Path, folder: Path, package: bytes, *, as_folder: bool
) -> None:
    (folder / "lecture-videos-1.zip").write_bytes(package)
    unpacked(package, folder)
    where = "." if as_folder else "lecture-videos-1.zip"
    done = run(python, "-m", "candor.cli", "replicate", where, cwd=folder)
    if package is OLDER:
        assert_what_is_comparable_is_the_same(done.stdout, made_by="candor 0.1.0 (it names no hash)")
        assert done.returncode == 0, done.stderr
    else:
        assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["Every number is the same."]), done.stdout + done.stderr
    assert run(python, "-m", "candor.cli", "verify", where, cwd=folder).returncode == 0


def test_the_program_reads_files_that_an_editor_gave_a_byte_order_mark(python: Path, folder: Path) -> None:
    unpacked(package_of_today(), folder)
    for name in ("data.csv", "protocol.json", "results.json"):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    done = run(python, "replicate.py", cwd=folder)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (1, ["Every number is the same."]), done.stdout + done.stderr
    assert done.stdout.startswith("data.csv: it was changed\nprotocol.json: it was changed\nresults.json: it was changed\n")
