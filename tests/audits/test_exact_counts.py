"""Exact counts of people are for the machine: whatever a person is shown goes through `surveys.batches`."""

import ast

from tests.audits.tree import ROOT, project_files

EXACT = {"exact_counts", "exact_consent_counts", "present_people", "counts_of", "comers"}
MAY_COUNT = {
    "surveys/batches/selectors.py": "makes shown numbers of them",
    "surveys/batches/numbers.py": "computes the numbers that are shown from a batch on",
    "surveys/batches/services.py": "renews them once enough people have come",
    "surveys/bots/rehearsal.py": "must not send a bot twice",
    "analysis/rehearsal/page.py": "says how many bots have come; nobody but bots is there",
    "platform/config/management/commands/demo.py": "sends as many bots as are missing",
}


def importers() -> set[str]:
    """The modules that import an exact count."""
    found = set()
    for path in project_files(".py"):
        if path.parts[0] in ("tests", "benchmarks"):
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "surveys.counts" and {one.name for one in node.names} & EXACT:
                found.add(path.as_posix())
    return found


def test_only_the_machine_reads_exact_counts() -> None:
    assert importers() == set(MAY_COUNT), "show `shown_counts`, or add the module here with the reason why nobody sees its numbers"
