"""Numbers of pages are written as their language writes them."""

from math import inf, log

import pytest
from django.template import Context, Template
from django.utils import translation

from surveys.privacy.words import loss_in_words
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


@pytest.mark.parametrize(
    ("spent", "written"),
    [
        (1.5, "1,5"),
        (2, "2"),
        (10.0, "10"),
        (0.0625, "0,0625"),
        (log(4), "1,3863"),
        (log(3), "1,0987"),  # 1.09861…: never less than it is
        (0.1 + 0.2, "0,3"),
        (20 * log(4), "27,726"),
        (0.000012, "0,000012"),
        (0, "0"),
        (inf, "∞"),
    ],
)
def test_a_privacy_loss_has_no_digit_that_says_nothing_and_loses_none_that_matters(spent: float, written: str) -> None:
    with translation.override("de"):
        assert loss_in_words(spent) == written
        assert Template("{{ spent|loss }}").render(Context({"spent": spent})) == written
