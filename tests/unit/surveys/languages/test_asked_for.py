"""The language that a browser prefers."""

import pytest

from surveys.languages.asked_for import preferred


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("de;q=0.1, en", "en"),
        ("de;q=0.1,en;q=0.9", "en"),
        ("fr, de-AT;q=0.5, en;q=0.4", "de"),
        ("de,en", "de"),
        ("en,de", "en"),
        ("en;q=0.8,de;q=0.8", "en"),
        ("de;q=0,en;q=0.1", "en"),
        ("*", "de"),
        ("fr", "de"),
        ("", "de"),
        ("de;q=x,,;;en", "de"),
    ],
)
def test_the_language_of_the_highest_weight_is_chosen(accepted: str, expected: str) -> None:
    assert preferred(accepted, ["de", "en"]) == expected
