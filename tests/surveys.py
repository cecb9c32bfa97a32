"""A study with one arm and no lecture, with a known truth."""

from typing import Any

# Cheaters say no, which tells them from honest people, and so the prevalence is known.
SURVEY_DIE = {
    "sides": 20,
    "subsamples": {"1": {"yes": [1], "no": [2, 3, 4, 5, 6, 7, 8]}, "2": {"yes": list(range(1, 14)), "no": [14]}},
    "cheaters": "always_no",
}
# Nothing is assumed of cheaters, and two subsamples tell no prevalence.
LEFT_OPEN = {"sides": 6, "subsamples": {"1": {"yes": [1], "no": [2, 3]}, "2": {"yes": [1, 2], "no": [3]}}, "cheaters": "any"}


def one_arm(**changes: Any) -> dict[str, Any]:
    """Changes of the sample study that make a survey of it."""
    survey = {
        "title": {"en": "How many cheat", "de": "Wie viele schummeln"},
        "arms": [{"name": "students", "label": {"en": "All students", "de": "Alle Studierenden"}}],
        "control": "students",
        "quiz": [],
        "subgroups": None,
        "analysis": None,
        "die": SURVEY_DIE,
    }
    return survey | changes
