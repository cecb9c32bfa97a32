"""replicate.R of a data package, in R itself: the numbers of the library for every design, and no changed byte escapes it."""

import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from analysis.packages.archives.labelled_files import labelled_files
from analysis.packages.package import package_files
from analysis.packages.without_candor import replicate_numpy
from candor.designs.design import Design
from candor.packages.archive import signed
from candor.packages.signing import private_key, public_pem
from tests.categories import with_frequency
from tests.estimate_cases import SIZES, named_packages, package, packages
from tests.package_contents import SECRET, content, files, with_a_changed_byte, with_hostile_names

PROGRAM = Path(replicate_numpy.__file__).with_name("replicate.R")


def r(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    rscript = shutil.which("Rscript")
    assert rscript, "expected Rscript on the path, found none: apt-get install r-base-core"
    environment = {"PATH": str(Path(rscript).parent) + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(cwd)}
    return subprocess.run([rscript, "--vanilla", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def said_by(program: str, folder: Path) -> list[str]:
    """The lines that a program prints after it has read replicate.R."""
    (folder / "program.R").write_text(f'source("{PROGRAM}")\n{program}\n')
    done = r("program.R", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def put(folder: Path, content: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in content.items():
        (folder / name).write_bytes(text)
    return folder


COMPARE = """
    for (folder in list.dirs(".", recursive = FALSE)) {
      results <- read_json(file.path(folder, "results.json"))
      again <- recomputed(read_rows(file.path(folder, "data.csv")), read_json(file.path(folder, "protocol.json")), results)
      values <- compared(again, results)
      cat(nrow(values), paste(values$place[!values$same], collapse = " "), "\\n")
    }
"""


def put_case(folder: Path, case: dict[str, Any]) -> None:
    published = {"protocol.json": case["protocol"], "results.json": case["results"]}
    put(folder, {name: json.dumps(one).encode() for name, one in published.items()} | {"data.csv": case["csv"].encode()})


def test_every_number_of_every_design_is_that_of_the_library(tmp_path: Path) -> None:
    values = 0
    for number, case in enumerate(packages(seed=20260301)):
        put_case(tmp_path / str(number), case)
        results = json.loads(json.dumps(case["results"]))
        again = replicate_numpy.recomputed(list(csv.DictReader(io.StringIO(case["csv"]))), case["protocol"], results)
        values += len(list(replicate_numpy.compared(again, results)))
    found = said_by(COMPARE, tmp_path)
    assert [line for line in found if len(line.split()) > 1] == []
    assert sum(int(line) for line in found) == values > 4000


def test_a_contrast_without_a_test_makes_no_other_one_stronger(tmp_path: Path) -> None:
    """Everybody in two arms says no, so that their difference in means has no standard error; Holm's method counts it all the same."""
    mirrored = {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}}
    design = Design.of(arms=("slides", "face", "sound"), control="slides", subsamples=mirrored)
    case = package(design, [np.array([[[3, 0], [3, 0]], [[3, 0], [3, 0]], [[1, 2], [2, 1]]])] * len(SIZES))
    *_, alike, differs = case["results"]["outcomes"]["of_12"]["effects"]
    assert alike["p_value"] is None
    assert differs["adjusted_p_value"] == 2 * differs["p_value"]
    put_case(tmp_path / "0", case)
    (line,) = said_by(COMPARE, tmp_path)
    assert len(line.split()) == 1, line


def test_every_number_about_named_answers_is_that_of_the_library(tmp_path: Path) -> None:
    """Two to six answers, every assumption about cheaters, one to three arms; with the ends of the likelihood region."""
    for number, case in enumerate(named_packages(seed=20260302, chosen=range(0, 45, 4))):
        put_case(tmp_path / str(number), case)
    found = said_by(COMPARE, tmp_path)
    assert [line for line in found if len(line.split()) > 1] == []
    assert sum(int(line) for line in found) > 6000


def test_a_number_about_named_answers_that_does_not_follow_from_the_data_is_told(tmp_path: Path) -> None:
    (case,) = named_packages(seed=20260302, chosen=[4])
    results = json.loads(json.dumps(case["results"]))
    results["categories"]["of_300"]["effects"][0]["interval"]["high"] += 1e-7
    put_case(tmp_path / "0", case | {"results": results})
    (line,) = said_by(COMPARE, tmp_path)
    assert line.split()[1:] == ["categories.of_300.effects.0.interval.high"]


def test_the_folder_of_a_package_may_have_any_name(tmp_path: Path) -> None:
    """Rscript writes the spaces of its program's path as `~+~`."""
    folder = put(tmp_path / "Daten für Müller, 2. Fassung", files())
    done = r(folder / "replicate.R", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 differ from those that were published." in done.stdout


def test_a_package_as_it_was_signed_passes_in_base_r(tmp_path: Path) -> None:
    folder = put(tmp_path / "package", files())
    done = r(folder / "replicate.R", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("Every file has the hash in SHA256SUMS.\n")
    assert done.stdout.endswith(" 0 differ from those that were published.\n")
    (tmp_path / "another.pem").write_text(public_pem(private_key("another")))
    done = r(folder / "replicate.R", folder, "another.pem", cwd=tmp_path)
    assert done.returncode == 1
    assert "SHA256SUMS.sig: it does not belong to SHA256SUMS, or is by another key" in done.stdout
    (folder / "data.csv").write_bytes(files()["data.csv"].replace(b",1\n", b",0\n", 1))
    done = r(folder / "replicate.R", cwd=tmp_path)
    assert done.returncode == 1
    assert "data.csv: it was changed\n" in done.stdout
    assert "outcomes.comprehension.effects.0.value: published" in done.stdout
    (folder / "results.json").write_bytes(b"{")
    done = r(folder / "replicate.R", cwd=tmp_path)
    assert done.returncode == 1
    assert "results.json: it was changed\n" in done.stdout
    assert "The numbers cannot be computed again: a file is not as it should be: results.json: its end is missing" in done.stdout


def test_no_name_of_a_stranger_moves_the_cursor_of_a_terminal(tmp_path: Path) -> None:
    """Attack: the name of an arm, a question or a file writes over the line that says what was changed."""
    folder = put(tmp_path / "package", with_hostile_names())
    done = r(folder / "replicate.R", cwd=tmp_path)
    lines = done.stdout.split("\n")
    assert all(line.isprintable() for line in lines), lines
    hostile = r"\u001b[1A\u001b[2K\u000aEvery byte is as it was signed.\u202e\u009b2K"
    assert hostile in lines, "the text of the question"
    assert any(line.startswith(f"  {hostile} against slides") for line in lines)


def test_questions_with_named_answers_are_estimated_and_read_with_their_labels(tmp_path: Path) -> None:
    made = content(people=120, questions=with_frequency()[-1:], released=("copying",))
    folder = put(tmp_path / "package", package_files(made, private_key(SECRET)))
    done = r(folder / "replicate.R", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "How often did you copy an answer this term?\n  instructor against slides, never: " in done.stdout
    assert re.search(r"\n[1-9]\d+ numbers were computed again, 0 differ", done.stdout)
    (folder / "look.R").write_text('source("labels.R", encoding = "UTF-8"); cat(levels(answers$answer_copying), nrow(answers))')
    assert r("look.R", cwd=folder).stdout == "never once often 120"


def test_a_changed_byte_in_any_file_is_told(tmp_path: Path) -> None:
    for name in files():
        put(tmp_path / f"without-{name}", with_a_changed_byte(name))
    put(tmp_path / "whole", files())
    found = said_by('for (one in list.dirs(".", recursive = FALSE)) cat(one, faults_in(one), sep = "|", fill = 9999)', tmp_path)
    told = dict(line.removeprefix("./").split("|", 1) if "|" in line else (line.removeprefix("./"), "") for line in found)
    assert told.pop("whole") == ""
    assert {name for name in files() if name not in told[f"without-{name}"]} == set()


def test_one_of_several_keys_is_enough_and_none_is_not(tmp_path: Path) -> None:
    """A server shows its former keys beside today's, and one of them signed."""
    folder = put(tmp_path / "package", signed({"data.csv": b"x\n"}, private_key(SECRET)))
    own, other = (folder / "public-key.pem").read_bytes(), public_pem(private_key("another")).encode()
    put(tmp_path, {"later.pem": other + own, "before.pem": own + b"\n" + other, "other.pem": other, "none.pem": b""})
    keys = ("later.pem", "before.pem", "other.pem", "none.pem")
    found = said_by(f"for (key in c({', '.join(map(repr, keys))})) cat(length(faults_in('package', key)), '')", tmp_path)
    assert [one.split() for one in found] == [["0", "0", "1", "1"]]


def test_the_hashes_and_the_signature_where_there_is_no_openssl(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    texts = {f"{length:03}": rng.bytes(length) for length in (0, 1, 55, 56, 63, 64, 65, 119, 120, 500)}
    put(tmp_path / "texts", texts)
    folder = put(tmp_path / "package", signed({"data.csv": b"x\n", "README.md": b"# Data\n"}, private_key(SECRET)))
    (folder / "data.csv").write_bytes(b"y\n")
    found = said_by(
        """
        OPENSSL <- ""
        hashes <- function(paths) vapply(paths, sha256, "", USE.NAMES = FALSE)
        texts <- list.files("texts", full.names = TRUE)
        cat(hashes(texts), is_genuine("package", "package/public-key.pem"), faults_in("package"), sep = "\\n")
        """,
        tmp_path,
    )
    assert found == [*(hashlib.sha256(text).hexdigest() for text in texts.values()), "NA", "data.csv: it was changed"]


def test_the_data_have_their_labels(tmp_path: Path) -> None:
    question = {"name": "attention", "text": "Whose “turn” was it, o'clock \\n?", "yes": "It's mine", "no": "No"}
    chosen = content(questions=[question, {"name": "comprehension", "text": "And that?"}], languages=["en"])
    put(tmp_path, {"data.csv": chosen.data_csv.encode(), **labelled_files(chosen)})
    found = said_by(
        """
        source("labels.R", encoding = "UTF-8")
        cat(attr(answers$answer_attention, "label"), names(attr(answers$answer_attention, "labels")), sep = "\\n")
        cat(sum(answers$answer_attention), levels(answers$arm), file.exists("data.rds"), "\\n")
        """,
        tmp_path,
    )
    yes = sum(row.answers[0] or 0 for row in chosen.rows)
    assert found == [question["text"], "reported No", "reported It's mine", f"{yes} slides instructor TRUE "]


def test_it_reads_json_with_all_that_json_has(tmp_path: Path) -> None:
    document = {'Größe “x” \\ "y" \n \U0001f600': [1, -2.5e-3, None, True, {}, [], "", "[{,:}]"], "b": {"c": 1e300}}
    for number, text in enumerate((json.dumps(document), "\ufeff" + json.dumps(document, ensure_ascii=False, indent=1))):
        (tmp_path / f"{number}.json").write_text(text, encoding="utf-8")
    found = said_by(
        """
        for (path in c("0.json", "1.json")) {
          read <- read_json(path)
          cat(utf8ToInt(names(read)[1]), "\\n")
          cat(identical(read[[1]], list(1, -2.5e-3, NULL, TRUE, list(), list(), "", "[{,:}]")), identical(read$b$c, 1e300), "\\n")
        }
        """,
        tmp_path,
    )
    letters = " ".join(str(ord(letter)) for letter in next(iter(document)))
    assert [line.strip() for line in found] == [letters, "TRUE TRUE"] * 2


def test_broken_json_is_refused(tmp_path: Path) -> None:
    for number, text in enumerate(("", "{", '{"a" 1}', "[1", '{"a": what}', '"', '{"a": 1, "b": 2, "a": 3}')):
        (tmp_path / f"x{number}.json").write_text(text)
    found = said_by('for (one in sprintf("x%d.json", 0:6)) cat(tryCatch(class(read_json(one)), error = conditionMessage), "\\n")', tmp_path)
    assert [line[:9] for line in found] == [f"x{number}.json: " for number in range(7)]
    assert found[6].strip() == "x6.json: a name stands twice in one object"
