"""`make prove`: its list names tests that exist, a control that notices nothing fails it, and it tells no names."""

import getpass
import json
import platform
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from analysis.evidence.report import Check, Proof, read_report
from tests.audits.test_security_document import missing_in
from tests.audits.tree import ROOT
from tests.prove import __main__ as command
from tests.prove import measured
from tests.prove.machine import commit, this_machine
from tests.prove.proofs import PROMISES
from tests.prove.trying import Found, Promise, Size, checks_of, proof_of

TESTS = """
import pytest
def test_the_promise(): pass
def test_a_leak_is_noticed(): pass
def test_a_leak_is_missed(): assert False, "the message names /" + "a/folder"
def test_skipped(): pytest.skip()
@pytest.fixture
def breaks():
    yield
    raise RuntimeError
def test_breaks_afterwards(breaks): pass
"""
FILE = "test_small.py"
QUICK, FULL = Size(quick=True), Size(quick=False)


def promise(**changes: Any) -> Promise:
    said = {"name": "small", "title": "Small", "promise": "It holds.", "ran": "Tests.", "tests": (f"{FILE}::test_the_promise",)}
    return Promise(**said | {"controls": (f"{FILE}::test_a_leak_is_noticed",)} | changes)


def failed(proof: Proof) -> dict[str, str]:
    return {one.what.removeprefix(f"{FILE}::"): one.said for one in proof.failed}


def test_every_test_of_the_list_exists_and_every_control_is_run() -> None:
    for one in PROMISES:
        names = [*one.tests, *one.long_tests, *one.controls]
        assert missing_in(" ".join(f"`{name}`" for name in names)) == []
        for control in one.controls:
            assert any(control == name or control.startswith(f"{name}::") for name in one.selected(FULL)), control
        measures_its_control = one.name in {"mechanisms", "intervals"}
        assert measures_its_control or [control for control in one.controls if any(control.startswith(name) for name in one.tests)], (
            one.name
        )
    assert len({one.name for one in PROMISES}) == len(PROMISES) > 10


def test_everything_that_is_not_passed_fails_without_a_message(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(TESTS)
    proof = proof_of(promise(tests=(FILE,), controls=(f"{FILE}::test_a_leak_is_missed",)), QUICK, folder=tmp_path)
    assert not proof.held
    assert failed(proof) == {
        "test_a_leak_is_missed": "failed (call)",
        "test_skipped": "skipped (call)",
        "test_breaks_afterwards": "failed (teardown)",
    }
    assert [one.what for one in proof.checks if one.control] == [f"{FILE}::test_a_leak_is_missed"]
    assert {one.what for one in proof.checks if one.held} == {f"{FILE}::test_the_promise", f"{FILE}::test_a_leak_is_noticed"}
    assert "folder" not in proof.model_dump_json()
    assert proof.cpu_seconds > 0


def test_a_name_that_leads_nowhere_fails() -> None:
    checks = list(checks_of([f"{FILE}::test_gone", f"{FILE}::test_the_promise"], [], {}))
    assert [(one.what, one.held, one.said) for one in checks] == [
        (f"{FILE}::test_gone", False, "no such test was run"),
        (f"{FILE}::test_the_promise", False, "no such test was run"),
    ]


def test_examples_of_a_test_and_tests_of_a_folder_belong_to_its_name() -> None:
    found = {
        "tests/x/test_a.py::test_one[1]": "passed",
        "tests/x/test_b.py::test_one": "passed",
        "tests/x/test_b.py::test_one_more": "passed",
    }
    checks = list(checks_of(["tests/x"], ["tests/x/test_a.py::test_one", "tests/x/test_b.py::test_one"], found))
    assert [one.control for one in checks] == [True, True, False]
    assert all(one.held for one in checks)


def test_a_name_with_data_in_it_is_cut() -> None:
    (check,) = checks_of([FILE], [FILE], {f"{FILE}::test_a[{'1' * 5000}]": "passed"})
    assert check.control
    assert check.what.startswith(f"{FILE}::test_a[1")
    assert len(check.what) < 400


def test_a_control_that_was_not_run_fails_although_its_file_was() -> None:
    (missed,) = [one for one in checks_of([FILE], [f"{FILE}::test_gone"], {f"{FILE}::test_the_promise": "passed"}) if not one.held]
    assert missed.control
    assert missed.said == "no such test was run"


def test_a_test_whose_process_ends_early_was_not_run(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("import os\ndef test_the_promise(): pass\ndef test_a_leak_is_noticed(): os._exit(0)\n")
    proof = proof_of(promise(tests=(FILE,)), QUICK, folder=tmp_path)
    assert not proof.held
    assert {one.said for one in proof.failed} == {"was not run"}


def test_the_command_writes_installs_and_ends_with_one_if_anything_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[Any] = []
    monkeypatch.setattr(command.subprocess, "run", lambda arguments, **options: installed.append(arguments[-1]))
    monkeypatch.setattr(command, "commit", lambda: ("0" * 40, False))
    for caught, status in ((True, 0), (False, 1)):
        found = Found([Check(what="measured", held=True), Check(what="a control", control=True, held=caught)])
        monkeypatch.setattr(command, "PROMISES", (promise(name="log", tests=(), measure=lambda size, found=found: found), PROMISES[-1]))
        output = tmp_path / f"{status}" / "evidence.json"
        done = CliRunner().invoke(command.main, ["--quick", "--only", "log", "--output", str(output)])
        assert done.exit_code == status, done.output
        report = read_report(output.read_bytes())
        assert (report.held, report.size, installed[-1]) == (caught, "quick", output)
        assert report.left_out == [name for name in command.NAMES if name != "log"]


@pytest.mark.parametrize("status", [0, 1])
def test_the_drill_is_reported_with_its_table_and_fails_with_its_status(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "| Fault | Seconds |\n|---|---|\n| `kill -9` of web | 9 |\n\nAnswers lost: 0, doubled: 0.\nPeople: 300.\n"
    monkeypatch.setattr(measured.subprocess, "run", lambda *_arguments, **_options: SimpleNamespace(stdout=said, returncode=status))
    found = measured.faults()
    assert [(one.held, one.said) for one in found.checks] == [(status == 0, "Answers lost: 0, doubled: 0. People: 300.")]
    assert (found.tables[0].columns, found.tables[0].rows) == (["Fault", "Seconds"], [["kill -9 of web", "9"]])
    monkeypatch.setattr(measured.subprocess, "run", lambda *_arguments, **_options: SimpleNamespace(stdout="", returncode=1))
    assert measured.faults().checks[0].said == "It did not come to its end."


def test_the_table_of_security_names_tests_that_exist() -> None:
    names = measured.tests_of_security()
    assert len(names) > 50
    assert missing_in(" ".join(f"`{name}`" for name in names)) == []


def test_the_report_tells_no_name_of_a_machine_a_person_or_a_folder() -> None:
    told = json.dumps(this_machine().model_dump())
    assert {name for name in (platform.node(), str(ROOT), str(Path.home())) if len(name) > 1 and name in told} == set()
    assert getpass.getuser() not in told.split('"')
    head, _changed = commit()
    assert head is None or len(head) == 40
