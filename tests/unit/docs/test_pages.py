"""The examples of docs/methods.md, library.md and replication.md give the answers that the pages promise, also those stated in words."""

from __future__ import annotations

import doctest
import shutil
from pathlib import Path

import pytest

from candor.packages.archive import files_in
from tests.unit.candor.pooling.packages import package

ROOT = Path(__file__).parents[3]
PAGES = {"docs/methods.md": 40, "docs/library.md": 20, "docs/replication.md": 30, "docs/analytics.md": 4}
PAGES |= {"docs/records.md": 8, "docs/records-limits.md": 22}
# The page of each private mechanism, beside its code.
PAGES |= {str(page.relative_to(ROOT)): 2 for page in sorted(ROOT.glob("candor/*/*/README.md"))}
PACKAGE = ROOT / "tests/unit/candor/data/package-of-an-older-library.zip"


@pytest.fixture(autouse=True)
def _in_a_folder_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the pages speak of: data packages, the key of one, and a study file."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(PACKAGE, "lecture-videos-1.zip")
    files = files_in(PACKAGE.read_bytes())
    Path("signing-key.pem").write_bytes(files["public-key.pem"])
    Path("protocol.json").write_bytes(files["protocol.json"])
    shutil.copy(ROOT / "surveys/sample/lecture-videos.yaml", "study.yaml")
    shutil.copy(ROOT / "surveys/sample/recorded-lectures.yaml", "recorded-lectures.yaml")
    package("spring").rename("spring.zip")
    package("autumn", [[[124, 76], [100, 100]], [[90, 110], [66, 134]]]).rename("autumn.zip")


def examples(page: str) -> doctest.DocTest:
    """All fenced examples as one session, with the line numbers of the page."""
    path, lines, inside = ROOT / page, list[str](), False
    for line in path.read_text(encoding="utf-8").split("\n"):
        is_fence = line.startswith("```")
        lines.append(line.rstrip() if inside and not is_fence else "")
        inside = line.rstrip() == "```pycon" if is_fence else inside
    return doctest.DocTestParser().get_doctest("\n".join(lines), {}, page, str(path), 0)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_the_page_are_right(page: str) -> None:
    session = examples(page)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner().run(session, out=report.append)
    assert failed == 0, "".join(report)
    assert tried == len(session.examples) > PAGES[page]


@pytest.mark.parametrize("page", PAGES)
def test_a_wrong_example_would_be_found(page: str) -> None:
    session = examples(page)
    session.examples = session.examples[:5]
    session.examples[-1].want = "(1, 2)\n"
    assert doctest.DocTestRunner().run(session, out=lambda text: None).failed == 1
