"""The title and the authors of a release are one readable line: they stand in files, citations and on a public page among other words."""

from typing import Any

import pytest

from tests.factories import logged_in
from tests.releases import closed_study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("character", ["\n", "\x85", "\x1b", "\u2028", "\u2029", "\u202e", "\u2066"], ids=ascii)
@pytest.mark.parametrize("field", ["title", "authors"])
def test_no_character_breaks_the_line_or_turns_the_words_around(field: str, character: str) -> None:
    study = closed_study()
    name = f"gpj.{character}exe"
    chosen: dict[str, Any] = {"title": "Data", "authors": ["Ada"], "licence": "CC-BY-4.0", "questions": ["attention"]}
    chosen[field] = name if field == "title" else [name]
    address = f"/api/v1/studies/{study.slug}/releases/"
    answer = logged_in(study.owner).post(address, chosen, content_type="application/json")
    assert answer.status_code == 400, answer.content
    assert [error["place"].split(".")[0] for error in answer.json()["errors"]] == [field]
    assert not study.releases.exists()


def test_letters_of_every_script_are_welcome() -> None:
    study = closed_study()
    chosen = {"title": "دراسة – 研究 – Größe", "authors": ["Zoë\u200f", "שרה"], "licence": "CC-BY-4.0", "questions": ["attention"]}
    answer = logged_in(study.owner).post(f"/api/v1/studies/{study.slug}/releases/", chosen, content_type="application/json")
    assert answer.status_code == 202, answer.content
