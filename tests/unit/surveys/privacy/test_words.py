"""The privacy number in words: the bound that ε sets, with the digits that tell it from certainty."""

from math import exp, log

import pytest

from surveys.privacy.words import certainty, privacy_in_words


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        (0.0, "50 %"),
        (log(4), "80 %"),
        (4 * log(4), "99.7 %"),
        (6.0, "99.8 %"),
        (9.2, "99.99 %"),
        (9.3, "100 %"),
        (1e6, "100 %"),
    ],
)
def test_even_odds_become_what_epsilon_allows(epsilon: float, said: str) -> None:
    assert certainty(epsilon) == said


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 5.0, 8.0])
def test_the_percentage_is_the_posterior_of_even_odds(epsilon: float) -> None:
    odds = exp(epsilon)  # the likelihood ratio, times even odds
    assert 0 <= float(certainty(epsilon).removesuffix(" %")) / 100 - odds / (1 + odds) < 0.01, "at most so much is said"


def test_at_most_is_never_said_of_more() -> None:
    for odds in range(2, 20_000):
        said = float(certainty(log(odds)).removesuffix(" %"))
        assert 0 <= said - 100 * odds / (odds + 1) + 1e-9 < 1, odds


def test_losses_of_several_answers_add() -> None:
    one, together = privacy_in_words(log(4), questions=4)
    assert "at most 80 % sure after one answer" in one
    assert "all 4 questions together" in together
    assert "at most 99.7 % sure" in together


def test_at_most_stands_before_one_number_however_large_the_loss_is() -> None:
    one, together = privacy_in_words(9.3, questions=4)
    assert "at most 100 % sure after one answer" in one
    assert "at most 100 % sure" in together


def test_one_question_has_no_total() -> None:
    assert "this is all" in privacy_in_words(log(4), questions=1)[1]
