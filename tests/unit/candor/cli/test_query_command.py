"""``candor query``: a price before noise, the same question free, one frozen table, and never more than the budget."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from candor.errors import DataError
from candor.queries import budget_file
from candor.queries.counting import Count
from tests.unit.candor.cli.running import candor, refused

ROOT = Path(__file__).parents[4]
COLUMNS = {"columns": [{"name": "year", "values": ["1", "2", "3"]}, {"name": "gpa", "minimum": 0, "maximum": 4}]}
COUNT = {"kind": "count", "epsilon": 0.4, "where": [{"column": "year", "in": ["1"]}]}
BUDGET = ("--epsilon", "1", "--delta", "1e-6")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("students.csv").write_text("name;year;gpa\n" + "".join(f"n{one};{one % 3 + 1};{one % 9 / 2.25:.2f}\n" for one in range(300)))
    Path("columns.json").write_text(json.dumps(COLUMNS))


def arguments(question: dict, *more: str, data: str = "students.csv") -> list[str]:
    Path("question.json").write_text(json.dumps(question))
    return ["query", data, "--schema", "columns.json", "--question", "question.json", "--budget-file", "budget.jsonl", *more]


def asked(question: dict, *more: str) -> dict:
    result = candor(*arguments(question, *more, "--format", "json"))
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def started(command: list[str]) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-m", "candor.cli", *command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def charges() -> list[dict]:
    events = [json.loads(line) for line in Path("budget.jsonl").read_text().splitlines()]
    return [event["reserved"] for event in events if "reserved" in event]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C arrives, also where the tests were begun in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("step", ["_append", "release"])
def test_an_interruption_waits_until_what_was_paid_is_answered(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first press comes after the price is on the disk, or while the noise is drawn."""
    owner = budget_file.BudgetFile if step == "_append" else Count
    done, pressed = getattr(owner, step), []

    def interrupted(*given: object) -> object:
        found = done(*given)
        if step == "release" or "reserved" in given[1]:
            pressed.append(step)
            signal.raise_signal(signal.SIGINT)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, interrupted)
        stopped = candor(*arguments(COUNT, *BUDGET))
    assert (stopped.exit_code, stopped.stdout, pressed) == (130, "", [step])
    again = asked(COUNT)
    assert again["free"]
    assert len(charges()) == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_budget_that_cannot_be_kept_is_told_with_the_name_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(budget_file.os, "fsync", full)
    assert refused(*arguments(COUNT, *BUDGET)) == "Error: budget.jsonl: No space left on device"


def test_an_answer_with_its_interval_and_the_same_question_free() -> None:
    first = asked(COUNT, *BUDGET)
    (cell,) = first["answer"]["cells"]
    assert abs(cell["value"] - 100) < 60
    assert cell["low"] <= cell["value"] <= cell["high"]
    assert first["left"]["epsilon"] == pytest.approx(0.6)
    again = asked(COUNT | {"where": [{"in": ["1", "1"], "column": "year"}]})
    assert again["free"]
    assert again["answer"] == first["answer"]
    assert len(charges()) == 1
    assert oct(Path("budget.jsonl").stat().st_mode)[-3:] == "600"


def test_a_preview_spends_nothing() -> None:
    shown = asked(COUNT, *BUDGET, "--preview")
    assert (shown["free"], shown["fits"], "answer" in shown, charges()) == (False, True, False, [])
    assert shown["error"] == pytest.approx(7.9, abs=0.2)
    text = candor(*arguments(COUNT, "--preview")).stdout
    assert "Error: ± 7.9" in text
    assert "Left: rho 0.024355, or epsilon 1 while all questions are pure" in text
    assert "does not allow" not in text


@pytest.mark.parametrize("epsilon", ["1", "0.7", "1.5"])
def test_a_question_at_the_rho_that_is_left_fits(epsilon: str) -> None:
    """To the nearest of four digits, .02436 was told, and .024355 is left of ε = 1 and δ = 10⁻⁶."""
    budget = ("--epsilon", epsilon, "--delta", "1e-6")
    told = re.search(r"Left: rho ([\d.]+),", candor(*arguments(COUNT, *budget, "--preview")).stdout)
    assert told
    assert asked({"kind": "count", "where": COUNT["where"], "rho": float(told[1])}, *budget)["left"]["rho"] < 1e-5


def test_a_question_that_does_not_fit_says_what_is_left() -> None:
    asked(COUNT, *BUDGET)
    too_dear = arguments(COUNT | {"epsilon": 0.7})
    assert "The budget does not allow this question." in candor(*too_dear, "--preview").stdout
    line = refused(*too_dear)
    assert "the question costs ε = 0.7; what is left: ρ = 0, or ε = 0.6 while all questions are pure" in line
    assert len(charges()) == 1


def test_the_error_and_the_number_of_questions_choose_the_noise() -> None:
    free = {name: value for name, value in COUNT.items() if name != "epsilon"}
    exact = asked(free, *BUDGET, "--error", "20", "--preview")
    assert exact["error"] == pytest.approx(20)
    assert asked(free, "--questions", "4", "--preview")["privacy"]["mechanism"] == "discrete Laplace"
    assert asked(free, "--questions", "90", "--preview")["privacy"]["mechanism"] == "discrete Gaussian"
    assert "without epsilon and rho" in refused(*arguments(COUNT, "--error", "20"))


def test_bad_input_is_named_by_row_and_column() -> None:
    Path("students.csv").write_text("year,gpa\n1,2\n5,2\n")
    assert "students.csv: row 3, column 'year': expected one of 1, 2, 3, or nothing; found '5'" in refused(*arguments(COUNT, *BUDGET))
    Path("students.csv").write_text("year,gpa\n1,2\n2,=1+1\n2,1\n")
    assert "row 3, column 'gpa': expected a number" in refused(*arguments(COUNT, *BUDGET))
    Path("students.csv").write_text("year,year,gpa\n1,1,2\n")
    assert "row 1 names the column 'year' twice" in refused(*arguments(COUNT, *BUDGET))
    Path("students.csv").write_text("year,gpa\n1,2\n1\n")
    assert "row 3: expected 2 columns as in row 1, found 1" in refused(*arguments(COUNT, *BUDGET))
    Path("students.csv").write_text("year,gpa\n1,2\n")
    assert "expected at least 20 students, found 1" in refused(*arguments(COUNT, *BUDGET))
    Path("students.csv").write_bytes("year,gpa\n1,2\nJürgen,1\n".encode("latin-1"))
    assert "expected a text in UTF-8" in refused(*arguments(COUNT, *BUDGET))


def test_a_budget_belongs_to_one_frozen_table() -> None:
    asked(COUNT, *BUDGET)
    Path("students.csv").write_text(Path("students.csv").read_text() + "new;1;2\n")
    assert "a budget is for one frozen table" in refused(*arguments(COUNT))


def test_a_budget_that_was_only_looked_at_belongs_to_no_table_yet() -> None:
    """A wrong schema may be corrected while nothing was spent: a preview and a question that is refused do not fix the data."""
    asked(COUNT, *BUDGET, "--preview")
    assert "expected at least one condition" in refused(*arguments(COUNT | {"where": []}, *BUDGET))
    Path("students.csv").write_text(Path("students.csv").read_text() + "new;1;2\n")
    asked(COUNT, *BUDGET)
    assert len(charges()) == 1
    Path("students.csv").write_text(Path("students.csv").read_text() + "newer;1;2\n")
    assert "a budget is for one frozen table" in refused(*arguments(COUNT))


def test_a_budget_that_cannot_be_is_refused() -> None:
    assert "there is no such budget file" in refused(*arguments(COUNT))
    assert "expected δ below 1/(10·300)" in refused(*arguments(COUNT, "--epsilon", "1", "--delta", "0.01"))
    Path("budget.jsonl").write_text("notes\n")
    assert "expected a budget file of Candor" in refused(*arguments(COUNT))
    Path("budget.jsonl").unlink()
    asked(COUNT, *BUDGET)
    assert "expected the epsilon of the budget, 1; found 2" in refused(*arguments(COUNT, "--epsilon", "2"))


@pytest.mark.parametrize(
    "wrong", [("--epsilon", "0", "--delta", "1e-6"), ("--epsilon", "11", "--delta", "1e-6"), ("--epsilon", "1", "--delta", "0.01")]
)
def test_a_budget_that_is_refused_fixes_nothing(wrong: tuple[str, ...]) -> None:
    """The limit of δ is known only when the students are counted; a file that kept a wrong one could not be corrected."""
    assert "expected" in refused(*arguments(COUNT, *wrong))
    assert "there is no such budget file; give --epsilon and --delta" in refused(*arguments(COUNT))
    assert asked(COUNT, *BUDGET)["left"]["epsilon"] == pytest.approx(0.6)


def test_a_budget_is_not_kept_in_a_device_which_forgets_it() -> None:
    for place in (os.devnull, "pipe"):
        if place == "pipe":
            os.mkfifo(place)
        command = [place if one == "budget.jsonl" else one for one in arguments(COUNT, *BUDGET)]
        assert f"{place}: expected a file, which keeps what was spent; found a pipe, a device or a folder" in refused(*command)


def test_entries_of_a_student_are_chosen_by_a_secret_that_no_order_of_rows_changes() -> None:
    schema = {"student": "id", "columns": [{"name": "course", "values": ["A", "B", "C"], "entries": 2}]}
    Path("columns.json").write_text(json.dumps(schema))
    rows = [f"s{student},{course}" for student in range(40) for course in "ABC"]
    Path("students.csv").write_text("id,course\n" + "\n".join(rows) + "\n")
    question = {"kind": "histogram", "epsilon": 9, "by": ["course"], "entries": 2}
    answer = asked(question, "--epsilon", "10", "--delta", "1e-6")
    assert sum(cell["value"] for cell in answer["answer"]["cells"]) == pytest.approx(80, abs=12)
    assert answer["privacy"]["sensitivity"]["l1"] == 4
    from candor.queries.reading import read_schema, read_table

    declared, student = read_schema(schema)
    tables = [
        read_table(("id,course\n" + "\n".join(order)).encode(), schema=declared, student=student, secret=b"s").arrays["course"]
        for order in (rows, sorted(rows, key=lambda row: (int(row[1 : row.index(",")]), -ord(row[-1]))))
    ]
    assert (tables[0] == tables[1]).all()
    other = read_table(("id,course\n" + "\n".join(rows)).encode(), schema=declared, student=student, secret=b"t").arrays["course"]
    assert (tables[0] != other).any()


def test_a_student_has_one_value_and_one_row_unless_entries_are_declared() -> None:
    Path("columns.json").write_text(json.dumps({"student": "name", **COLUMNS}))
    text = Path("students.csv").read_text()
    Path("students.csv").write_text(text + "n5;1;2\n")
    assert "row 302: expected one row for each student, found 'n5' a second time" in refused(*arguments(COUNT, *BUDGET))
    columns = [*COLUMNS["columns"][:1], {"name": "gpa", "minimum": 0, "maximum": 4, "entries": 2}]
    Path("columns.json").write_text(json.dumps({"student": "name", "columns": columns}))
    Path("students.csv").write_text(text + "n5;1;2\n")
    assert "column 'year': expected one value in all rows of a student" in refused(*arguments(COUNT, *BUDGET))


def test_a_value_that_some_rows_of_a_student_leave_out_is_that_of_the_others() -> None:
    """It does not matter which of the rows the key puts first."""
    from candor.queries.reading import read_schema, read_table

    columns = [{"name": "course", "values": ["A", "B"], "entries": 2}, {"name": "age", "minimum": -3, "maximum": 40}]
    declared, student = read_schema({"student": "id", "columns": [*columns, {"name": "major", "values": ["law", "art"]}]})
    rows = [f"s{place},{course},{told}" for place in range(40) for course, told in (("A", ","), ("B", f"{-1 if place % 2 else 30},art"))]
    table = read_table(("id,course,age,major\n" + "\n".join(rows)).encode(), schema=declared, student=student, secret=b"s")
    assert sorted(table.arrays["age"].tolist()) == [-1.0] * 20 + [30.0] * 20
    assert table.arrays["major"].tolist() == [1] * 40
    with pytest.raises(DataError, match="row 82, column 'age': expected one value in all rows of a student, found another"):
        read_table(("id,course,age,major\n" + "\n".join([*rows, "s0,A,31,"])).encode(), schema=declared, student=student, secret=b"s")


def test_processes_that_spend_at_once_never_exceed_the_budget() -> None:
    """Twelve questions of ε = 0.2 each at once: five fit into ε = 1, the others are refused."""
    asked(COUNT | {"epsilon": 0.2}, *BUDGET, "--preview")
    running = []
    for place in range(12):
        Path(f"q{place}.json").write_text(
            json.dumps({"kind": "count", "epsilon": 0.2, "where": [{"column": "gpa", "from": 0, "to": 1 + place / 10}]})
        )
        running.append(started([f"q{place}.json" if one == "question.json" else one for one in arguments(COUNT)]))
    ends = [one.wait(timeout=300) for one in running]
    for one in running:
        one.communicate()
    assert sorted(ends) == [0] * 5 + [2] * 7
    assert len(charges()) == 5


@pytest.mark.parametrize("step", ["exact", "release", "explain"])
def test_a_process_that_is_killed_never_leaves_an_unpaid_answer(step: str) -> None:
    asked(COUNT, *BUDGET, "--preview")
    code = f"""
import os, signal, sys
from candor.queries.counting import Count
whole = Count.{step}
def killed(*arguments):
    found = whole(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
Count.{step} = killed
from candor.cli import main
main({arguments(COUNT)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert len(charges()) == (step != "exact")
    Path("budget.jsonl").write_bytes(Path("budget.jsonl").read_bytes() + b'{"reserved": {"rho"')  # a line that a crash cut off
    again = asked(COUNT)
    assert not again["free"]
    assert len(charges()) == 1 + (step != "exact")


def test_a_budget_is_locked_while_somebody_asks() -> None:
    import fcntl

    asked(COUNT, *BUDGET, "--preview")
    with Path("budget.jsonl").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waiting = started(arguments(COUNT))
        time.sleep(5)
        assert waiting.poll() is None
        assert charges() == []
    out, err = waiting.communicate(timeout=120)
    assert (waiting.returncode, err) == (0, b"")
    assert b"How many people there are whose year is 1." in out


@pytest.mark.parametrize(
    ("written", "what"),
    [
        (json.dumps({"kind": "histogram", "by": ["year"]}).replace("year", "\\ud800"), "a text holds half of a character"),
        ("[" * 100_000, "lists and objects stand too deep in each other"),
    ],
)
def test_a_document_that_no_program_can_write_is_refused_before_anything_is_paid(written: str, what: str) -> None:
    command = arguments(COUNT, *BUDGET)
    for name in ("question.json", "columns.json"):
        before = Path(name).read_text()
        Path(name).write_text(written)
        assert f"{name}: expected a JSON document: {what}" in refused(*command)
        Path(name).write_text(before)
    assert asked(COUNT, *BUDGET)["left"]["epsilon"] == pytest.approx(0.6)


@pytest.mark.usefixtures("limit_of_a_cell")
def test_old_line_ends_are_read_and_a_header_without_end_is_refused() -> None:
    written = Path("students.csv").read_text()
    Path("students.csv").write_text("x" * 200_000 + ";" + written)
    assert "students.csv: expected a CSV file: row 1: field larger than field limit" in refused(*arguments(COUNT, *BUDGET))
    Path("students.csv").write_bytes(written.replace("\n", "\r").encode())
    assert asked(COUNT, *BUDGET)["left"]["epsilon"] == pytest.approx(0.6)
