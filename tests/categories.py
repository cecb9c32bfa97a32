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

PROBATION: dict[str, Any] = {
    "name": "probation",
    "purpose": "background",
    "text": {"en": "Were you ever on probation?", "de": "Hatten Sie je eine Studienauflage?"},
    "categories": [
        {"name": "never", "text": {"en": "Never", "de": "Nie"}},
        {"name": "before", "text": {"en": "Earlier", "de": "Früher"}},
        {"name": "now", "text": {"en": "Now", "de": "Jetzt"}},
    ],
    "cheaters": "never",
    "faces": {"1": {"never": [1], "before": [2], "now": [3, 4]}, "2": {"never": [1, 2], "before": [3], "now": [4]}},
}
"""A background question that is privatised in the browser, on the same die."""


def with_frequency(**changes: Any) -> list[dict[str, Any]]:
    """The questions of the sample study and the one with categories, after these changes of it."""
    return [*document()["questions"], FREQUENCY | changes]
