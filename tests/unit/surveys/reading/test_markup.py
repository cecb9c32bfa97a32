"""Tags go, and whatever only looks like one stays."""

import re
import time

import pytest

from surveys.reading.markup import without_markup


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("BMI < 25 and your age > 18?", "BMI < 25 and your age > 18?"),
        ("BMI <25 and age> 18", "BMI <25 and age> 18"),
        ("Is a<b and c>d?", "Is a<b and c>d?"),
        ("x <- y -> z, 3 <> 4, <3", "x <- y -> z, 3 <> 4, <3"),
        ("write to <ada@example.org>", "write to <ada@example.org>"),
        ("Which hand <b>do you</b> write with?", "Which hand do you write with?"),
        ('<div class="rich-text-field-label"><p style="text-align: center;">Hello<br/>there</p></div>', "Hello there"),
        ("<SPAN STYLE='color:red'>Red</SPAN> <!-- hidden --> end", "Red end"),
        ("5 &lt; 6 &amp; AT&T &nbsp; R&D; &#39;x&#39;", "5 < 6 & AT&T R&D; 'x'"),
        ("<p>BMI < 25</p> and <i>age</i> > 18", "BMI < 25 and age > 18"),
    ],
)
def test_only_real_tags_are_taken_out(written: str, plain: str) -> None:
    assert without_markup(written)[0] == plain


def test_the_old_expression_lost_half_of_the_question() -> None:
    """The negative control: what was done before."""
    assert " ".join(re.sub(r"<[^>]*>", " ", "BMI < 25 and your age > 18?").split()) == "BMI 18?"


def test_the_names_of_the_tags_are_told_once() -> None:
    assert without_markup("<b>a</b> <b>c</b> <i>d</i>")[1] == ["b", "i"]


@pytest.mark.parametrize("piece", ["<", "<a", "<a ", "<a b='", "<!--", "<!", "</a ", "<a <b>", "&", "&a", "<b x>", "< >", " ", "\t "])
def test_the_time_grows_with_the_length_and_not_with_its_square(piece: str) -> None:
    def seconds(length: int) -> float:
        text = f"a{piece * (length // len(piece))}b"
        started = time.process_time()
        without_markup(text)
        return time.process_time() - started

    assert seconds(400_000) < 20 * seconds(40_000) + 0.5, "ten times the length, a hundred times the time"
