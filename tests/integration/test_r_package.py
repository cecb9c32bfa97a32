"""The R package in clients/r: `R CMD check` finds nothing, its numbers are the library's, and it reads what Candor publishes."""

import json
import os
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.packages.package import package_files
from candor.packages.archive import zip_of
from candor.packages.signing import private_key, public_pem
from tests.audits.tree import ROOT
from tests.package_contents import SECRET, content, files, with_a_changed_byte
from tests.r_package import FILE, cases

FOLDER = ROOT / "clients/r"
# No repository is asked for other packages, and there is no LaTeX for the manual.
QUIET = {"R_REPOSITORIES": "NULL", "LC_ALL": "C.UTF-8", "_R_CHECK_FORCE_SUGGESTS_": "false"}


def r(*arguments: str | Path, cwd: Path) -> str:
    assert shutil.which("R"), "expected R on the path, found none: apt-get install r-base-core"
    done = subprocess.run(
        [*arguments], cwd=cwd, env={**os.environ, **QUIET}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package was built and checked; the check leaves it installed there."""
    folder = tmp_path_factory.mktemp("r")
    r("R", "CMD", "build", FOLDER, cwd=folder)
    (built,) = folder.glob("candor_*.tar.gz")
    r("R", "CMD", "check", "--no-manual", built, cwd=folder)
    return folder / "candor.Rcheck"


def test_r_cmd_check_finds_nothing_and_the_numbers_are_those_of_the_library(checked: Path) -> None:
    assert (checked / "00check.log").read_text().rstrip().endswith("Status: OK")
    assert "numbers about named answers are those of the library" in (checked / "tests/estimates.Rout").read_text()


def test_the_committed_cases_are_what_the_library_says_now() -> None:
    committed, now = json.loads(FILE.read_text()), cases()
    assert [{**one, "results": None} for one in committed] == [{**one, "results": None} for one in now]
    for one, other in zip(committed, now, strict=True):
        assert flat(one["results"]) == pytest.approx(flat(other["results"]), rel=1e-10, abs=1e-12), "run python -m tests.r_package"


LEAST_STATISTIC = 1e-6
"""The p-value of a smaller one hangs on how this machine rounds, and replicate.R leaves it out, too."""


def flat(document: object, place: str = "") -> dict[str, object]:
    """Each number and text by its place."""
    if isinstance(document, dict | list):
        parts = document.items() if isinstance(document, dict) else enumerate(document)
        statistic = document.get("statistic") if isinstance(document, dict) else None
        if statistic is not None and statistic < LEAST_STATISTIC:
            parts = [(key, part) for key, part in parts if key != "p_value"]
        return {name: one for key, part in parts for name, one in flat(part, f"{place}.{key}").items()}
    return {place: document}


def test_there_is_one_estimator() -> None:
    assert (FOLDER / "R/replicate.R").resolve() == ROOT / "analysis/packages/without_candor/replicate.R"


def test_it_reads_a_published_package_and_no_changed_byte_escapes_it(checked: Path, tmp_path: Path) -> None:
    (tmp_path / "fine.zip").write_bytes(zip_of(files()))
    (tmp_path / "key.pem").write_text(public_pem(private_key(SECRET)))
    (tmp_path / "another.pem").write_text(public_pem(private_key("another")))
    changed = sorted(files())
    for name in changed:
        (tmp_path / f"{name}.zip").write_bytes(zip_of(with_a_changed_byte(name)))
    (tmp_path / "bots.zip").write_bytes(zip_of(package_files(replace(content(), simulated=True), private_key(SECRET))))
    (tmp_path / "folders.zip").write_bytes(zip_of({"../data.csv": b""}))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("data.csv", bytes(2**26 + 1))
    program = f"""
        library(candor, lib.loc = "{checked}")
        package <- candor_read("fine.zip", key = "key.pem")
        print(package)
        values <- candor_compare(package)
        cat(nrow(values) > 10, all(values$same), nrow(candor_estimate(package)$effects) > 0, "\\n")
        dir.create("unpacked"); utils::unzip("fine.zip", exdir = "unpacked")
        cat(identical(candor_read("unpacked")$data, package$data), "\\n")
        cat(identical(candor_design("unpacked/design.json"), candor_design(package)), "\\n")
        said <- function(...) cat(gsub("\\n", "|", tryCatch({{ candor_read(...); "nothing" }}, error = conditionMessage)), "\\n")
        said("fine.zip", key = "another.pem")
        for (name in c({", ".join(f'"{name}"' for name in changed)})) said(paste0(name, ".zip"))
        said("folders.zip")
        said("bomb.zip")
        cat(nrow(candor_read("data.csv.zip", check = FALSE)$data) > 0, "\\n")
        print(candor_read("bots.zip"))
    """
    (tmp_path / "program.R").write_text(program)
    *lines, bots, _signed = r("Rscript", "--vanilla", "program.R", cwd=tmp_path).splitlines()
    assert bots.startswith("Data package bots.zip: 240 bots (simulated data, nobody's answers), attention")
    assert lines[0].startswith("Data package fine.zip: ")
    assert lines[1] == "Every file is as it was signed with the key that you gave."
    assert [line.strip() for line in (*lines[2:5], lines[-1])] == ["TRUE TRUE TRUE", "TRUE", "TRUE", "TRUE"]
    assert "SHA256SUMS.sig: it does not belong to SHA256SUMS, or is by another key" in lines[5]
    for name, line in zip(changed, lines[6:-3], strict=True):
        assert name in line.removeprefix(f"{name}.zip is not as it was signed:|")
        assert line.count("|") >= 1
    assert "its files lie in folders" in lines[-3]
    assert lines[-2].strip() == "expected files of at most 67108864 bytes in bomb.zip, found 67108865"
