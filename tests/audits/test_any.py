"""`Any` switches the type checker off where it stands, so that there is little of it outside of tests."""

import re

from tests.audits.tree import ROOT, project_files

FEWER_THAN = 150


def test_production_code_hardly_says_any() -> None:
    files = [path for path in project_files(".py") if path.parts[0] not in ("tests", "benchmarks")]
    words = {str(path): len(re.findall(r"\bAny\b", (ROOT / path).read_text())) for path in files}
    most = sorted(((number, path) for path, number in words.items() if number), reverse=True)[:10]
    assert sum(words.values()) < FEWER_THAN, f"Expected object, a TypedDict or a TypeVar in place of some: {most}"
