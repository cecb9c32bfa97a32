"""The messages of the builder's forms."""

import pytest
from django.utils import translation

from surveys.drafting.forms import DraftForm


@pytest.mark.parametrize(
    ("language", "step", "quota"),
    [
        ("en", "number from 0.000001 to 1,000,000, not “x”.", "number from 1 to 1,000,000, not “x”."),
        ("de", "Zahl von 0,000001 bis 1.000.000 sein, nicht „x“.", "Zahl von 1 bis 1.000.000 sein, nicht „x“."),
    ],
)
def test_limits_are_written_as_the_language_writes_numbers(language: str, step: str, quota: str) -> None:
    with translation.override(language):
        form = DraftForm({"step": "x", "quota": "x"}, languages=("en",))
        form.number("step", what="", minimum=1e-6, maximum=1_000_000)
        form.whole_number("quota", what="", minimum=1, maximum=1_000_000)
    assert form.errors["step"].endswith(step)
    assert form.errors["quota"].endswith(quota)
