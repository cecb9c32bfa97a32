"""However a program writes the same answers, they are understood alike, or refused by row and column; nothing is guessed."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from candor.cli.group import InputError
from candor.cli.reading import AnswerFile
from candor.designs.design import Design
from tests.unit.candor.cli.running import DESIGN, answers_file, candor, estimated, refused

ROOT = Path(__file__).parents[4]
OPTIONS = ("--design", "design.json", "--outcome", "attention", "--covariate", "age", "--bootstrap", "0")


def rewritten(change, *, delimiter=",") -> str:
    """The same file with every cell changed, by the name of its column."""
    with Path(answers_file()).open(newline="") as file:
        header, *rows = csv.reader(file)
    with Path("other.csv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows([change(name, cell) for name, cell in zip(header, row, strict=True)] for row in rows)
    return "other.csv"


def in_words(yes, no):
    return lambda name, cell: {"1": yes, "0": no}[cell] if name == "attention" else cell


@pytest.mark.parametrize(
    ("change", "delimiter"),
    [
        (in_words("yes", "no"), ","),
        (in_words("Yes", "NO"), ","),
        (in_words("TRUE", "FALSE"), ","),
        (in_words("1.0", "0,0"), ","),
        (lambda name, cell: "NA" if cell == "" else cell, ","),
        (lambda name, cell: "NaN" if cell == "" else cell, ","),
        (lambda name, cell: cell.replace(".", ",") if name == "age" else cell, ";"),
        (lambda name, cell: cell, ";"),
        (lambda name, cell: cell, "\t"),
        (lambda name, cell: f" {cell} ", "\t"),
    ],
    ids=["yes", "Yes, NO", "TRUE", "decimals", "NA", "NaN", "decimal commas", "semicolons", "tabs", "spaces"],
)
def test_other_spellings_give_the_same_estimate(change, delimiter):
    expected = estimated(answers_file(), *OPTIONS)
    assert estimated(rewritten(change, delimiter=delimiter), *OPTIONS) == expected
    assert len(expected["outcomes"]["attention"]["effects"]) == 4


@pytest.mark.parametrize(
    ("column", "cell", "complaint"),
    [
        ("age", "unknown", "expected a number as in most rows, or nothing, found 'unknown'"),
        ("age", "none", "expected a number as in most rows, or nothing, found 'none'"),
        ("age", "1.234,5", "expected a number as in most rows, or nothing, found '1.234,5'"),
        ("age", "inf", "expected a number as in most rows, or nothing, found 'inf'"),
        ("age", "1e999", "expected a number as in most rows, or nothing, found '1e999'"),
        ("age", "20,5", "expected a decimal point as in other rows, found '20,5'"),
        ("country", "1.234,5", "expected a number without separators of thousands and without a unit, found '1.234,5'"),
        ("country", "12 %", "expected a number without separators of thousands and without a unit, found '12 %'"),
        ("attention", "2", "expected 0, 1, no, yes, false, true or nothing, found '2'"),
        ("attention", "ja", "expected 0, 1, no, yes, false, true or nothing, found 'ja'"),
        ("attention", "null", "expected 0, 1, no, yes, false, true or nothing, found 'null'"),
        ("arm", "NA", "expected control or treatment, found 'NA'"),
    ],
)
def test_what_is_not_understood_is_refused_by_row_and_column(column, cell, complaint):
    lines = Path(answers_file()).read_text().splitlines()
    position = lines[0].split(",").index(column)
    changed = lines[4].split(",")
    changed[position] = f'"{cell}"'
    lines[4] = ",".join(changed)
    Path("answers.csv").write_text("\n".join(lines))
    assert (
        refused("estimate", "answers.csv", *OPTIONS, "--covariate", "country")
        == f"Error: answers.csv: row 5, column {column!r}: {complaint}"
    )


def test_a_comma_that_may_stand_for_thousands_is_refused_unless_others_show_what_it_means():
    lines = [line.rsplit(",", 2)[0] for line in Path(answers_file()).read_text().splitlines()]
    salaries = ["salary", *(('"1,250"', "950", '"2,500"')[row % 3] for row in range(len(lines) - 1))]
    Path("a.csv").write_text("\n".join(map(",".join, zip(lines, salaries, strict=True))))
    complaint = refused("estimate", "a.csv", "--design", "design.json", "--outcome", "attention", "--covariate", "salary")
    assert complaint.startswith("Error: a.csv: row 2, column 'salary': expected a number that can be read in one way, found '1,250'")
    salaries[-1] = '"0,5"'
    Path("a.csv").write_text("\n".join(map(",".join, zip(lines, salaries, strict=True))))
    assert candor("estimate", "a.csv", "--design", "design.json", "--outcome", "attention", "--covariate", "salary").exit_code == 0


def test_without_outcomes_it_is_told_which_columns_were_taken_and_why_not_the_others():
    lines = Path(answers_file()).read_text().splitlines()
    more = ["female,group", *(f"{row % 2},{1 + row % 2}" for row in range(len(lines) - 1))]
    Path("a.csv").write_text("\n".join(map(",".join, zip(lines, more, strict=True))))
    document = estimated("a.csv", "--design", "design.json", "--bootstrap", "0")
    assert document["columns"]["outcomes"] == list(document["outcomes"]) == ["attention", "female"]
    assert set(document["columns"]["left_aside"]) == {"age", "country", "group"}
    assert document["columns"]["left_aside"]["group"] == "holds '2', which is not yes or no"
    text = " ".join(candor("estimate", "a.csv", "--design", "design.json", "--bootstrap", "0").stdout.split())
    assert "Analysed as sensitive, because they hold yes/no answers: attention, female." in text
    assert "group: holds" in text
    named = candor("estimate", "a.csv", "--design", "design.json", "--bootstrap", "0", "--outcome", "attention").stdout
    assert "No outcome was named" not in named


def test_a_pipe_with_a_name_is_read_as_the_file(tmp_path):
    """As a shell makes one for ``<(zcat answers.csv.gz)``: no size, no way back to its beginning."""
    content = Path(answers_file()).read_bytes()
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(content))
    writer.start()
    through = candor("estimate", "pipe", "--design", "design.json", "--bootstrap", "0")
    writer.join()
    assert through.exit_code == 0, through.stderr
    assert through.stdout == candor("estimate", "answers.csv", "--design", "design.json", "--bootstrap", "0").stdout


def test_process_substitution_serves_answers_and_design_at_once():
    answers_file()
    command = f"{sys.executable} -m candor.cli estimate <(cat answers.csv) --design <(cat design.json) --bootstrap 0"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == candor("estimate", "answers.csv", "--design", "design.json", "--bootstrap", "0").stdout


def test_notes_are_grouped_for_72_people_with_covariates():
    """Four questions and five covariates gave 110 lines and more."""
    people = 72
    header = ["arm", "subsample", "q1", "q2", "age", "gpa", "h", "course", "grade"]
    rows = [
        [
            ("control", "treatment")[row % 2],
            str(1 + row // 2 % 2),
            str(row * 7 % 3 % 2),
            str(row * 5 % 7 % 2),
            *(str(row * k % 11) for k in (3, 4, 5)),
            "wxyz"[row % 4],
            "ABCDF"[row * 3 % 5],
        ]
        for row in range(people)
    ]
    Path("a.csv").write_text("\n".join(",".join(row) for row in [header, *rows]))
    covariates = [part for name in header[4:] for part in ("--covariate", name)]
    shown = candor("estimate", "a.csv", "--design", "design.json", *covariates, "--bootstrap", "100", "--seed", "1")
    assert shown.exit_code == 0, shown.stderr
    bullets = [line for line in shown.stdout.splitlines() if line.startswith("• ")]
    assert sum("working models:" in bullet for bullet in bullets) == 4  # one for each question and method
    assert len(shown.stdout.splitlines()) < 80


def test_missing_answers_are_tested_and_bounded_and_lost_people_raise_an_alarm():
    """Half of the treatment arm's answers are gone in one file, and its people in the other."""
    lines = Path(answers_file()).read_text().splitlines()
    of_treatment = [row for row, line in enumerate(lines) if line.startswith("treatment")][::2]
    gone = [",".join([*line.split(",")[:2], "", *line.split(",")[3:]]) if row in of_treatment else line for row, line in enumerate(lines)]
    Path("gone.csv").write_text("\n".join(gone))
    outcome = estimated("gone.csv", "--design", "design.json", "--outcome", "attention", "--bootstrap", "0")["outcomes"]["attention"]
    assert outcome["missing_answers"]["missing"] == len(of_treatment) == 200
    assert outcome["missing_answers"]["p_value"] < 1e-6
    (one,) = outcome["missing_answers"]["contrasts"]
    assert one["worst_case"][0] < one["observed"] < one["worst_case"][1]
    text = " ".join(candor("estimate", "gone.csv", "--design", "design.json", "--outcome", "attention", "--bootstrap", "0").stdout.split())
    assert "200 answers (25.0%) are missing" in text
    assert "not alike in all groups" in text
    assert "are not the stated ones" not in text
    Path("lost.csv").write_text("\n".join(line for row, line in enumerate(lines) if row not in of_treatment))
    lost = estimated("lost.csv", "--design", "design.json", "--outcome", "attention", "--bootstrap", "0")
    assert lost["sample_ratio"]["alarm"] is True
    assert "missing_answers" not in lost["outcomes"]["attention"]
    text = " ".join(candor("estimate", "lost.csv", "--design", "design.json", "--outcome", "attention", "--bootstrap", "0").stdout.split())
    assert "The shares of arms and subsamples are not the stated ones: χ² =" in text
    stated = DESIGN | {"allocation": {"arms": {"control": "2/3", "treatment": "1/3"}}}
    Path("two-to-one.json").write_text(json.dumps(stated))
    assert "sample_ratio" not in estimated("lost.csv", "--design", "two-to-one.json", "--outcome", "attention", "--bootstrap", "0")


CELLS = st.one_of(
    st.sampled_from(
        [
            "0",
            "1",
            "",
            "NA",
            "nan",
            "yes",
            "No",
            "TRUE",
            "2",
            "control",
            "treatment",
            "1,5",
            "1.5",
            '"',
            "\n",
            ";",
            "\t",
            "\ufeff",
            "\x00",
            "=1+1",
        ]
    ),
    st.text(max_size=6),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=5), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
@example([[arm, subsample, said] for arm in ("control", "treatment") for subsample in "12" for said in "01"], ",", "\n", True)
@example([["arm", "subsample", "y"], ["control", "1", "\x00"]], ",", "\n", True)
@example([["arm", "subsample", "y", ""], ["control", "1", "0", ""]], ";", "\n", True)
def test_any_file_is_estimated_or_refused_in_one_line(rows, delimiter, line_end, with_header):
    table = [["arm", "subsample", "y", "age"][: len(rows[0])], *rows] if with_header else rows
    Path("any.csv").write_bytes(line_end.join(delimiter.join(row) for row in table).encode("utf-8", "surrogatepass"))
    done = candor("estimate", "any.csv", "--design", "design.json", "--bootstrap", "0", "--format", "json")
    assert done.exit_code in (0, 2), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    if done.exit_code == 0:
        assert json.loads(done.stdout)["outcomes"]["y"]["n"] == len(rows)
    else:
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith("Error: any.csv: ")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from(["0", "1", "yes", "NO", "True", "", "na", "2", "x"])),
        min_size=1,
        max_size=30,
    )
)
def test_the_reader_counts_as_a_plain_loop_does(people):
    """Oracle: a loop over the rows, which knows the same spellings from a table of its own."""
    known = {"0": 0, "NO": 0, "1": 1, "yes": 1, "True": 1}
    rows = [f"{('control', 'treatment')[a]};{s + 1};{said}" for a, s, said in people]
    Path("any.csv").write_text("\n".join(["arm;subsample;y", *rows]))
    wrong = next((row for row, (_, _, said) in enumerate(people) if said in ("2", "x")), None)
    file = AnswerFile(Path("any.csv"), design=Design.from_document(DESIGN), outcomes=["y"])
    if wrong is not None:
        with pytest.raises(InputError, match=rf"row {wrong + 2}, column 'y'"):
            file.counts(lambda done: None)
        return
    found = file.counts(lambda done: None)
    expected = [[[0, 0], [0, 0]], [[0, 0], [0, 0]]]
    for a, s, said in people:
        if said in known:
            expected[a][s][known[said]] += 1
    assert found.counts["y"].tolist() == expected
    assert found.missing["y"].sum() == sum(said in ("", "na") for _, _, said in people)
