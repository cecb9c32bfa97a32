"""The cases with which the R package tests itself: `python -m tests.r_package` writes clients/r/tests/cases.json anew."""

import csv
import io
import json
from collections import Counter
from typing import Any

from tests.audits.tree import ROOT
from tests.estimate_cases import named_packages, packages

FILE = ROOT / "clients/r/tests/cases.json"
CHOSEN = (0, 4, 8, 10, 17, 23, 30, 38, 44)
NAMED = (1, 12, 25)
"""Two answers in two arms, three in one, and four in two: without an assumption about cheaters, with one that all know, and with shares."""
COMPARED = ("n", "cheater_proportion", "effects", "prevalence", "specification_test", "model_test")
COMPARED_OF_NAMED = (*COMPARED, "identified", "no_effect")


def cases() -> list[dict[str, Any]]:
    """Each die, each assumption about cheaters, one to three arms: with the library's numbers, and equal rows as one with their number."""
    return [_short(one) for one in (*packages(seed=20260301, chosen=CHOSEN), *named_packages(seed=20260301, chosen=NAMED))]


def _short(package: dict[str, Any]) -> dict[str, Any]:
    rows = Counter(tuple(row) for row in list(csv.reader(io.StringIO(package["csv"])))[1:])
    results = json.loads(json.dumps(package["results"]))
    kept = {name: {part: one.get(part) for part in COMPARED} for name, one in results["outcomes"].items()}
    named = {name: {part: one.get(part) for part in COMPARED_OF_NAMED} for name, one in results.get("categories", {}).items()}
    return {
        "protocol": package["protocol"],
        "results": {"n": results["n"], "level": results["level"], "outcomes": kept} | ({"categories": named} if named else {}),
        "columns": package["csv"].splitlines()[0].split(","),
        "rows": [[*row, number] for row, number in sorted(rows.items())],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), ensure_ascii=True, separators=(",", ":")) + "\n", encoding="utf-8")
