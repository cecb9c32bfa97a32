"""The notebook of docs/notebooks, cell by cell, on a server that runs beside it: bots are its participants."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Site

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "notebooks" / "a-whole-study.ipynb"
SLUG = "lecture-videos"
PEOPLE = "from accounts.services import ensure_demo_users; ensure_demo_users(password='a-long-password-of-people')"
BOTS = ("--n", "96", "--dropout", "0", "--decline", "0")
LET_BOTS_IN = f"from surveys.models import Study; Study.objects.filter(slug='{SLUG}').update(accepts_bots=True)"


def cells() -> dict[str, str]:
    """The code, by the name of its cell, in order."""
    return {cell["id"]: "".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"}


def test_it_is_small_and_holds_no_outputs() -> None:
    written = json.loads(NOTEBOOK.read_text())
    assert (written["nbformat"], written["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in written["cells"]]
    assert len(names) == len(set(names))
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in names)
    for cell in written["cells"]:
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | (
            {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        )
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert NOTEBOOK.stat().st_size < 20_000


@pytest.mark.timeout(600)
def test_its_cells_run_a_whole_study(
    embedded_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    embedded_site.manage("shell", "-c", PEOPLE)
    for name, person in (("CANDOR_TOKEN", "investigator"), ("CANDOR_OFFICER_TOKEN", "irb")):
        token = embedded_site.manage("api_token", person, "notebook", "--scope", "write", "--days", "1").strip().splitlines()[-1]
        monkeypatch.setenv(name, token)
    monkeypatch.setenv("CANDOR", embedded_site.url)
    monkeypatch.setenv("CANDOR_WHOSE", "simulated")
    monkeypatch.chdir(tmp_path)
    before = {
        "launch": lambda: embedded_site.manage("shell", "-c", LET_BOTS_IN),
        "look": lambda: embedded_site.manage("send_bots", SLUG, *BOTS, "--url", embedded_site.url),
    }
    notebook: dict[str, Any] = {}
    try:
        for name, code in cells().items():
            before.get(name, str)()
            exec(compile(code, f"{NOTEBOOK.name}: {name}", "exec"), notebook)
    finally:
        for person in filter(None, map(notebook.get, ("investigator", "officer"))):
            person.http.close()
    printed = capsys.readouterr().out
    assert "'role': 'irb_officer'" in printed
    assert "lecture-videos is a draft with nothing missing" in printed
    assert "[2, 1] are the versions of the draft" in printed
    assert "done 40 bots came" in printed
    assert re.search(r"\['lecture-videos'\] wait\n", printed)
    assert "published Lovelace, Ada" in printed
    assert re.search(r"\d+ rows; answer_attention", printed)
