"""Numbers of pages are written as their language writes them."""

import pytest
from django.utils import translation

from surveys.templatetags.written_numbers import all_digits, floatformat


@pytest.mark.parametrize(
    ("number", "english", "german"), [(10, "10", "10"), (10.0, "10", "10"), (0.25, "0.25", "0,25"), (-1e6, "−1000000", "−1000000")]
)
def test_a_number_has_the_digits_that_it_has_and_no_others(number: float, english: str, german: str) -> None:
    for language, written in (("en", english), ("de", german)):
        with translation.override(language):
            assert all_digits(number) == written


def test_what_is_negative_has_a_minus() -> None:
    with translation.override("de"):
        assert (floatformat(-0.256, 2), floatformat(-0.256, "2u")) == ("−0,26", "-0.26")
