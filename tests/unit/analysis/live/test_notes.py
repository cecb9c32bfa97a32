"""The library's remarks in the language of the page."""

from types import SimpleNamespace

import pytest
from django.utils.translation import override

from analysis.live.notes import plain_note
from candor.estimators import effects

TEST = SimpleNamespace(statistic=12.345)


@pytest.mark.parametrize(
    ("note", "german"),
    [
        (effects.INFINITE_EPSILON, "Epsilon ist unendlich"),
        (effects.NO_CHEATER_PROPORTION, "bestimmt nicht, wie viele dem Würfel nicht folgen"),
        (effects.NO_VARIATION, "Kein Standardfehler"),
        (effects.BOUNDARY.format(raw=-0.3154), "wäre der Anteil ohne Grenzen −0,315;"),
        (effects.CONTRADICTED.format(test=TEST, p_value="0.001"), "(Likelihood-Quotient 12,35, p ≤ 0,001)"),
        (effects.CONTRADICTED_BY_ARM.format(test=TEST, p_value="0.001"), "(Likelihood-Quotient 12,35, p ≤ 0,001)"),
        (effects.PREVALENCE_OUTSIDE.format(arm="slides", raw=1.0312), "Die Häufigkeit in „Slides“ wurde auf 1,031 geschätzt"),
        (effects.NOT_CONVERGED, "nur ungefähr"),
        (f"efficient, slides: {effects.NOT_CONVERGED}", "nur ungefähr"),
    ],
)
def test_a_remark_of_the_library_is_said_in_german(note: str, german: str) -> None:
    with override("de"):
        assert german in plain_note(note, arms={"slides": "Slides"})
    assert plain_note(effects.NOT_CONVERGED, arms={}) == effects.NOT_CONVERGED
