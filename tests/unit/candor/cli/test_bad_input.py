"""``candor`` refuses wrong files and options with one line and exit 2, never with a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from candor.cli import main
from tests.unit.candor.cli.running import DESIGN, answers_file, candor, estimated, refused

ROOT = Path(__file__).parents[4]
pytestmark = pytest.mark.usefixtures("limit_of_a_cell")


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n", 3),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("control,1,0", '"control", 1 ,0.0'),
    ],
    ids=["byte order mark", "windows line ends", "blank lines", "old line ends", "quotes and spaces"],
)
def test_harmless_spellings_of_a_file_give_the_same_estimate(rewrite):
    expected = estimated(answers_file(), "--design", "design.json", "--bootstrap", "0")
    Path("other.csv").write_bytes(rewrite(Path("answers.csv").read_bytes().decode().replace("\r\n", "\n")).encode())
    assert estimated("other.csv", "--design", "design.json", "--bootstrap", "0") == expected


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "answers.csv: the file is empty; expected a header"),
        ("arm,subsample,y\n", "answers.csv: a header but no rows of answers"),
        ("arm,subsample\ncontrol,1\n", "answers.csv: no column holds answers 0 and 1"),
        ("arm,y\ncontrol,1\n", "answers.csv: there is no column 'subsample'; row 1 has arm, y"),
        ("arm|subsample|y\ncontrol|1|0\n", "answers.csv: there is no column 'arm'; row 1 has arm|subsample|y (are the columns separated"),
        ("arm,subsample,y,y\ncontrol,1,0,1\n", "answers.csv: row 1 names the column 'y' twice"),
        (
            "arm,subsample,y\ncontrol,1,0\ntreatment,2,2\n",
            "answers.csv: row 3, column 'y': expected 0, 1, no, yes, false, true or nothing, found '2'",
        ),
        (
            "arm,subsample,y\ncontrol,1,0\n\ntreatment,2,maybe\n",
            "answers.csv: row 4, column 'y': expected 0, 1, no, yes, false, true or nothing, found 'maybe'",
        ),
        ("arm,subsample,y\ncontrol,1,0\ndrug,2,1\n", "answers.csv: row 3, column 'arm': expected control or treatment, found 'drug'"),
        ("arm,subsample,y\n,1,0\n", "answers.csv: row 2, column 'arm': expected control or treatment, found nothing"),
        ("arm,arm,subsample,y\ncontrol,control,1,0\n", "answers.csv: row 1 names the column 'arm' twice"),
        ("arm,subsample,y\ncontrol,1,NaN\n", "answers.csv: no column holds answers 0 and 1"),
        ("arm,subsample,y\ncontrol,3,0\n", "answers.csv: row 2, column 'subsample': expected 1 or 2, found '3'"),
        ("arm,subsample,y\ncontrol,1,0\ncontrol,1\n", "answers.csv: row 3: expected 3 columns as in row 1, found 2"),
        ("arm,subsample,y\ncontrol,1,0\ntreatment,2,1\ncontrol,2,0\n", "column 'y': too few answers in arm 'treatment', subsample '1'"),
        ("arm,subsample,y\ncontrol,1,0\ncontrol,2,1\n", "column 'y': too few answers in arm 'treatment': needed at least 1, found 0"),
        ('arm,subsample,y\ncontrol,1,"' + "0" * 140_000 + '"\n', "answers.csv: not a CSV file: field larger than field limit"),
    ],
    ids=lambda value: None if len(value) > 200 else value[:60].replace("\n", "|"),
)
def test_a_bad_file_is_refused_in_one_line_that_names_the_place(content, complaint):
    Path("answers.csv").write_text(content)
    assert complaint in refused("estimate", "answers.csv", "--design", "design.json")


def test_a_file_that_is_no_text_is_refused():
    for content in (b"arm,subsample,y\ncontrol,1,\xff\xfe\n", "arm,subsample,y\ncontrol,1,0\n".encode("utf-16"), bytes(range(256))):
        Path("answers.csv").write_bytes(content)
        assert "answers.csv: not a text file in UTF-8" in refused("estimate", "answers.csv", "--design", "design.json")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--outcome", "mood"], "there is no column 'mood'; row 1 has arm, subsample, attention, age, country"),
        (["--covariate", "height"], "there is no column 'height'"),
        (["--outcome", "arm"], "column 'arm' cannot be an outcome or covariate"),
        (["--outcome", "attention", "--covariate", "attention"], "column 'attention' cannot be both"),
        (["--outcome", "age"], "column 'age': expected 0, 1, no, yes, false, true or nothing, found"),
        (["--level", "1.5"], "expected a number from 0 to 1 or a fraction like \"2/6\", found '1.5'"),
        (["--level", "1"], "confidence level must lie strictly between 0 and 1"),
        (["--bootstrap", "1"], "expected 0 for none, or 2 to 10000000 resamples, found 1"),
        (["--bootstrap", "99999999999999999999"], "expected 0 for none, or 2 to 10000000 resamples, found 99999999999999999999"),
        (["--plot", "no/such/folder/effects.svg"], "no/such/folder/effects.svg: No such file or directory"),
        (["--bootstrap", "many"], "expected a whole number of at least 0, found 'many'"),
        (["--bootstrap", "-1"], "expected a whole number of at least 0, found '-1'"),
        (["--seed", ""], "expected a whole number of at least 0, found nothing"),
        (["--format", "xml"], "expected text or json, found 'xml'"),
        (["--colour"], "No such option"),
    ],
)
def test_a_bad_option_is_refused_in_one_line(options, complaint):
    assert complaint in refused("estimate", answers_file(), "--design", "design.json", *options)


@pytest.mark.parametrize("name", main.commands_by_name)
def test_every_option_says_what_was_expected_and_what_came(name):
    """In words of its own: click's are those of a programmer."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    for option in command.params:
        if isinstance(option.type, click.Path | click.types.BoolParamType | click.types.StringParamType):
            continue
        with pytest.raises(click.BadParameter, match=r"^expected .*found '\?'$"):
            option.type.convert("?", option, click.Context(command))


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ("", "design.json: not a JSON document: Expecting value (row 1, column 1)"),
        ('{"arms": [}', "design.json: not a JSON document: Expecting value (row 1, column 11)"),
        ("[1]", "design.json: a design must be a JSON object"),
        (json.dumps({"arms": ["a", "b"], "control": "a"}), "design.json: the design lacks subsamples"),
        (json.dumps(DESIGN | {"control": "placebo"}), "design.json: the control must be one of the arms control, treatment, not 'placebo'"),
        (
            json.dumps(DESIGN | {"subsamples": {"1": {"forced_no": 0, "forced_yes": "1/6"}, "2": {"forced_no": 0, "forced_yes": "1/3"}}}),
            "design.json: subsample '1' has forced_no = 0",
        ),
        (json.dumps(DESIGN | {"reanalysis": "false"}), "design.json: reanalysis must be true or false, not 'false'"),
        (json.dumps(DESIGN | {"arms": None}), "arms must be a list of names, not null"),
        (json.dumps(DESIGN | {"reanalysis": [None]}), "reanalysis must be true or false, not [null]"),
        (json.dumps(DESIGN | {"subsamples": [{"forced_no": True}]}), 'forced responses by name, not [{"forced_no": true}]'),
        (json.dumps(DESIGN | {"cheater_model": None}), "not null"),
        (json.dumps(DESIGN)[:-1] + ', "control": "treatment"}', "design.json: the key 'control' stands twice in one object"),
    ],
)
def test_a_bad_design_is_refused_in_one_line(document, complaint):
    Path("design.json").write_text(document)
    assert complaint in refused("estimate", answers_file(), "--design", "design.json")


@pytest.mark.parametrize(
    "command",
    [
        ("estimate", "answers.csv", "--design", "design.json", "--family", ""),
        ("simulate", "--design", "design.json", "--n", "5", "--effect", "0", "--covariate", ""),
        ("pool", "answers.csv", "--question", ""),
        ("anonymize", "answers.csv", "--k", "2", "--l", "", "-o", "out.csv"),
    ],
    ids=lambda command: command[0],
)
def test_an_option_without_a_text_was_given_nothing(command):
    answers_file()
    assert "found nothing" in refused(*command)


def test_files_that_do_not_exist_are_refused():
    assert "'nowhere.csv' does not exist" in refused("estimate", "nowhere.csv", "--design", "design.json")
    assert "'nowhere.json' does not exist" in refused("plan", "--design", "nowhere.json", "--effect", "0.1")


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([[[0, 50], [0, 50]], [[0, 50], [0, 50]]], "No standard error"),
        ([[[24, 26], [26, 24]], [[24, 26], [26, 24]]], "outside [0, 1]"),
        ([[[20, 80], [80, 20]], [[20, 80], [80, 20]]], "The answers contradict the model"),
        ([[[50, 0], [49, 1]], [[0, 50], [0, 50]]], "The answers contradict the model"),
        ([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], "rough"),
    ],
    ids=["everybody says yes", "nobody seems honest", "a contradicted design", "separated arms", "four answers"],
)
def test_degenerate_data_give_a_labelled_answer(counts, reason):
    outcome = estimated(answers_file(counts), "--design", "design.json", "--outcome", "attention", "--bootstrap", "20")["outcomes"][
        "attention"
    ]
    assert any(reason in note for note in outcome["notes"])


def test_help_is_no_error():
    for arguments in ([], ["--help"], ["estimate", "--help"], ["plan", "-h"]):
        result = candor(*arguments)
        assert result.exit_code == 0
        assert "Usage" in result.stdout


def test_an_unknown_command_is_refused():
    assert "No such command 'estimat'" in refused("estimat")


def test_the_command_runs_in_a_process_of_its_own_without_django():
    """Also proves that a broken file leaves no traceback behind, and that no module imports Django."""
    program = "import sys; from candor.cli import main\ntry: main()\nfinally: assert 'django' not in sys.modules"
    answers_file()
    command = [
        sys.executable,
        "-c",
        program,
        "estimate",
        "answers.csv",
        "--design",
        "design.json",
        "--format",
        "json",
        "--covariate",
        "age",
        "--bootstrap",
        "4",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcomes"]["attention"]["n"] == 800
    Path("answers.csv").write_text("arm,subsample,y\ncontrol,1,maybe\n")
    done = subprocess.run(
        [sys.executable, "-m", "candor.cli", "estimate", "answers.csv", "--design", "design.json", "--outcome", "y"],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: answers.csv: row 2, column 'y': expected 0, 1, no, yes, false, true or nothing, found 'maybe'\n"


def test_the_help_of_estimate_waits_for_no_arrays():
    program = "import sys; from candor.cli import main\ntry: main(['estimate', '--help'])\nfinally: assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    assert "--outcome" in done.stdout


def test_help_lists_every_command_without_importing_the_statistics():
    program = "import sys; from candor.cli import main\ntry: main(['--help'])\nfinally: assert 'scipy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    for command in ("estimate", "plan", "simulate"):
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize(
    ("arms", "complaint"),
    [
        (["", "treatment"], "all arms need a name, found '', 'treatment'"),
        ([" ", "treatment"], "all arms need a name"),
        (["control", " control"], "the names of the arms must differ"),
        (["contr\ud800l", "treatment"], "a name holds '\\ud800', which no text in UTF-8 holds"),
    ],
)
def test_an_arm_whose_name_no_file_of_answers_can_hold_is_refused(arms, complaint):
    """Names are read without the blanks around them: one of two arms had no people."""
    Path("design.json").write_text(json.dumps(DESIGN | {"arms": arms, "control": arms[0]}))
    simulated = ("simulate", "--design", "design.json", "--n", "40", "--effect", "0.1", "--seed", "1", "-o", "answers.csv")
    assert complaint in refused(*simulated)
    assert not Path("answers.csv").exists()
