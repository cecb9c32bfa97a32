"""Numbers of pages are written as their language writes them."""

from math import inf, log

import pytest
from django.template import Context, Template
from django.utils import translation

from surveys.journey.forms import read_number
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


def test_a_sign_stays_on_the_left_where_words_run_from_the_right() -> None:
    """A mark before it says so to the browser, which would show “−1” as “1−”."""
    answer = Template("{{ answer|sign_on_the_left }}")
    for language, before in (("ar", "\N{LEFT-TO-RIGHT MARK}"), ("de", "")):
        with translation.override(language):
            assert (floatformat(-2, 0), all_digits(-2)) == (f"{before}−2", f"{before}−2")
            assert [answer.render(Context({"answer": one})) for one in ("-1", "+1", "- no")] == [f"{before}-1", f"{before}+1", "- no"]
            assert read_number("-7", minimum=-5, maximum=5)[1].count(before + "-7") == 1
            assert read_number("-7", minimum=-5, maximum=5)[1].count(before + "−5") == 1


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
