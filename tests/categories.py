"""A sensitive question with more than two answers, on the six-sided die of the sample study."""

from typing import Any

from tests.factories import document

FREQUENCY: dict[str, Any] = {
    "name": "copying",
    "text": {"en": "How often did you copy an answer this term?", "de": "Wie oft haben Sie in diesem Semester eine Antwort abgeschrieben?"},
    "categories": [
        {"name": "never", "text": {"en": "Never", "de": "Nie"}},
        {"name": "once", "text": {"en": "Once", "de": "Einmal"}},
        {"name": "often", "text": {"en": "More often", "de": "Öfter"}},
    ],
    "ordered": True,
    "faces": {"1": {"never": [1], "once": [2], "often": [3, 4]}, "2": {"never": [1, 2], "once": [3], "often": [4]}},
}


def with_frequency(**changes: Any) -> list[dict[str, Any]]:
    """The questions of the sample study and the one with categories, after these changes of it."""
    return [*document()["questions"], FREQUENCY | changes]
