"""A report of evidence is read as it was written, and not one word of it can be turned into success."""

import json
from typing import Any

import pytest

from analysis.evidence.report import EvidenceError, read_report, written
from tests.evidence import CHECK, CONTROL, UNNOTICED, failing_report, proof, report


def changed(**changes: Any) -> bytes:
    return json.dumps(json.loads(written(failing_report())) | changes).encode()


def test_it_comes_back_as_it_was_written() -> None:
    for one in (report(), failing_report()):
        assert read_report(written(one)) == one


def test_a_proof_holds_if_checks_and_controls_were_run_and_all_held() -> None:
    assert proof(checks=[CHECK, CONTROL]).held
    for checks in ([CHECK], [CONTROL], [], [CHECK, UNNOTICED], [CHECK, CONTROL, UNNOTICED]):
        assert not proof(checks=checks).held
        with pytest.raises(ValueError, match="a proof holds if at least one check and one control"):
            proof(checks=checks, held=True)


def test_it_names_what_is_missing_and_what_failed() -> None:
    assert [proof(checks=checks).missing for checks in ([CHECK], [CONTROL], [CHECK, CONTROL])] == ["control", "check", ""]
    assert proof(checks=[CHECK, UNNOTICED]).failed == [UNNOTICED]
    assert [one.name for one in failing_report().failed] == ["linkage", "log"]


def test_nobody_turns_a_failure_into_success() -> None:
    with pytest.raises(EvidenceError, match="a report holds if all of its proofs do"):
        read_report(changed(held=True))
    document = json.loads(written(failing_report()))
    for one in document["proofs"]:
        one["held"] = True
    with pytest.raises(EvidenceError, match=r"proofs\.1: .*a proof holds if"):
        read_report(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file: "),
        (b"[]", "the file: "),
        (b'{"format": "candor-evidence-2"}', "format: "),
        (changed(machine={"hostname": "x"}), r"machine\.system: "),
        (changed(hostname="x"), "hostname: there is no part of this name"),
        (changed(proofs=[]), "proofs: "),
        (changed(ended="2026-03-04T09:00:00Z"), "a run ends after it began"),
        (changed(commit="a branch"), "commit: "),
        (changed(proofs=[json.loads(written(report()))["proofs"][0]] * 2, held=True), "each proof stands in a report once"),
        (changed(proofs=[{**json.loads(written(report()))["proofs"][0], "cpu_seconds": -1}], held=True), "cpu_seconds: "),
    ],
)
def test_a_file_that_is_no_report_is_refused_with_the_place(content: bytes, message: str) -> None:
    with pytest.raises(EvidenceError, match=message):
        read_report(content)


def test_a_table_has_as_many_cells_as_columns() -> None:
    document = json.loads(written(report()))
    document["proofs"][0]["tables"][0]["rows"][1].append("too much")
    with pytest.raises(EvidenceError, match="a row of a table has 2 cells; one has 3"):
        read_report(json.dumps(document).encode())
