"""The documents point only at files, headings and commands that exist."""

import re
from pathlib import Path

import pytest

from tests.audits.tree import ROOT, project_files

DOCUMENTS = [path for path in project_files(".md") if "vendor" not in path.parts]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_link_inside_the_project_leads_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / document).read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    broken = [target for target in targets if "://" not in target and not (ROOT / document.parent / target).exists()]
    assert broken == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_make_command_in_the_documents_exists(document: Path) -> None:
    offered = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", (ROOT / document).read_text())) <= offered
