"""Every test of the command line starts in an empty folder with a design."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.candor.cli.running import DESIGN


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("design.json").write_text(json.dumps(DESIGN))
