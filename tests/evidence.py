"""Reports of evidence for tests: one that holds, and one with everything that can go wrong in it."""

from datetime import UTC, datetime
from typing import Any

from analysis.evidence.report import Check, Machine, Proof, Report, Table
from candor.software import software

CHECK = Check(what="tests/unit/test_x.py::test_the_promise", held=True)
CONTROL = Check(what="tests/unit/test_x.py::test_a_leak_is_noticed", control=True, held=True)
UNNOTICED = Check(what="tests/unit/test_x.py::test_a_leak_is_noticed", control=True, held=False, said="failed (call)")


def proof(**changes: Any) -> Proof:
    checks = changes.get("checks", [CHECK, CONTROL])
    said = {
        "name": "die",
        "title": "The die stays in the page",
        "promise": "Nothing that leaves the browser depends on what the die showed.",
        "ran": "A real Chromium walks the journey.",
        "seeds": "Fixed in each test.",
        "checks": checks,
        "tables": [Table(caption="Bounds", columns=["Mechanism", "ε"], rows=[["a mean of whole numbers", "0.412"]] * 3)],
        "cpu_seconds": 12.5,
        "held": {one.control for one in checks} == {True, False} and all(one.held for one in checks),
    }
    return Proof(**said | changes)


def report(**changes: Any) -> Report:
    proofs = changes.get("proofs", [proof()])
    said = {
        "began": datetime(2026, 3, 4, 10, 0, tzinfo=UTC),
        "ended": datetime(2026, 3, 4, 10, 42, tzinfo=UTC),
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "changed_since_commit": False,
        "software": software(),
        "size": "full",
        "left_out": [],
        "machine": Machine(system="Linux x86_64", processor="A processor", processors=2, memory_gib=7.8, python="3.11.2"),
        "proofs": proofs,
        "held": all(one.held for one in proofs),
    }
    return Report(**said | changes)


def failing_report() -> Report:
    """A quick run of a changed checkout: a proof that holds, one whose control was not noticed, and one without a control."""
    linkage = proof(name="linkage", title="A stolen database names nobody", checks=[CHECK, UNNOTICED])
    return report(
        proofs=[proof(), linkage, proof(name="log", title="The log cannot be rewritten", checks=[CHECK])],
        size="quick",
        left_out=["security"],
        changed_since_commit=True,
        commit=None,
    )
