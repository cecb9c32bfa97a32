"""Letter grades as points, so that "A, A-, B+, …" is one ordered covariate and not a dozen categories."""

from surveys.questions.background import SingleChoice

POINTS = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0, "e": 0.5, "f": 0.0}
SIGNS = {"+": 0.3, "plus": 0.3, "-": -0.3, "\N{MINUS SIGN}": -0.3, "\N{EN DASH}": -0.3, "minus": -0.3}
HALVES = {"ab": 3.5, "bc": 2.5, "cd": 1.5}
FEWEST_GRADES = 3


def points_of(question: SingleChoice) -> dict[str, float] | None:
    """The points of every option that is a letter grade, on the scale on which A is 4 and F is 0; None where the options are no grades.

    Options are grades when the texts of at least three are letters of a grade and one is F or stands between two letters (B+, AB): a choice
    of "A, B, C" may be any list. Options such as "pass" have no points.
    """
    texts = {option.name: {option.text.in_language(language) for language in _languages(option.text.root)} for option in question.options}
    points = {name: found for name, written in texts.items() if (found := _points(written)) is not None}
    whole = {4.0, 3.0, 2.0, 1.0}
    return points if len(points) >= FEWEST_GRADES and any(value not in whole for value in points.values()) else None


def _languages(root: str | dict[str, str]) -> list[str]:
    return [""] if isinstance(root, str) else list(root)


def _points(texts: set[str]) -> float | None:
    """The points that all texts of an option, in whatever language, agree on."""
    found = {_points_of_text(text.strip().lower().replace(" ", "")) for text in texts}
    return found.pop() if len(found) == 1 else None


def _points_of_text(text: str) -> float | None:
    if text in HALVES:
        return HALVES[text]
    letter, sign = text[:1], text[1:].removeprefix("_")
    if letter not in POINTS or (sign and sign not in SIGNS):
        return None
    return POINTS[letter] + (SIGNS[sign] if sign else 0.0)
