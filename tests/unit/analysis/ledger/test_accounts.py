"""Sums of a ledger in whole units, and the mechanism that is cheaper."""

from fractions import Fraction
from functools import cache
from math import inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.ledger.accounts import Account
from analysis.ledger.mechanisms import GAUSSIAN, LAPLACE, shares
from analysis.ledger.units import UNITS, Units, left_in_words, rounded_down, rounded_up
from candor.privacy.conversion import rho_within
from candor.privacy.losses import NO_LOSS, Loss

losses = st.floats(0, 10, allow_nan=False)
NOTHING = Units()


most_rho = cache(rho_within)


def account(spent: Units = NOTHING, *, epsilon: float = 1.0, delta: float = 1e-6) -> Account:
    return Account(rho=rounded_down(most_rho(epsilon, delta)), epsilon=rounded_down(epsilon), delta=delta, spent=spent)


def test_ten_times_a_tenth_is_one() -> None:
    assert sum((Units.of(Loss.pure(0.1)) for _ in range(10)), Units()).epsilon == UNITS


def test_a_pure_loss_costs_the_rho_that_it_amounts_to_and_no_unit_more() -> None:
    """As floats, .1²/2 is a little more than .005."""
    assert Units.of(Loss.pure(0.1)) == Units(rho=UNITS // 200, epsilon=UNITS // 10)
    assert Units.of(Loss(0.001, 0.1)).rho == UNITS // 1000


def test_a_sum_is_pure_where_both_parts_are() -> None:
    pure, other = Units(rho=1, epsilon=2), Units(rho=3, epsilon=None)
    assert pure + pure == Units(rho=2, epsilon=4)
    assert pure + other == other + pure == Units(rho=4, epsilon=None)
    assert account(pure).after(other).spent == pure + other


@pytest.mark.parametrize(
    ("rho", "epsilon", "spent", "share"),
    [
        (100, 100, Units(), 0),
        (100, 100, Units(rho=25, epsilon=50), 0.25),
        (100, 100, Units(rho=75, epsilon=50), 0.5),
        (100, 100, Units(rho=75, epsilon=None), 0.75),
        (100, 100, Units(rho=175, epsilon=125), 1),
        (0, 100, Units(rho=75, epsilon=50), 0.5),
        (100, 0, Units(rho=75, epsilon=50), 0.75),
        (0, 0, Units(), 1),
    ],
)
def test_the_share_that_is_gone_is_the_smaller_one(rho: int, epsilon: int, spent: Units, share: float) -> None:
    assert Account(rho=rho, epsilon=epsilon, delta=1e-6, spent=spent).share_spent == share


def test_without_a_delta_the_sum_is_what_is_spent() -> None:
    assert Account(rho=0, epsilon=UNITS, delta=0.0, spent=Units.of(Loss.pure(0.5))).epsilon_spent == 0.5


@given(losses)
def test_charges_are_rounded_up_and_budgets_down(loss: float) -> None:
    assert rounded_down(loss) <= rounded_up(loss) <= rounded_down(loss) + 1
    assert abs(Fraction(loss) * UNITS - rounded_up(loss)) < Fraction(1001, 1000)


def test_a_price_fits_by_rho_or_while_all_is_pure_by_the_sum() -> None:
    all_rho = Units(rho=account().rho, epsilon=None)
    assert account().fits(all_rho)
    assert not account().fits(all_rho + Units(rho=1, epsilon=None))
    assert account().fits(Units.of(Loss.pure(1.0)))
    assert not account().fits(Units.of(Loss.pure(1.0)) + Units(epsilon=1))
    pure = account(Units.of(Loss.pure(0.9)))
    assert not pure.fits(Units.of(Loss.zcdp(1e-6)))
    assert pure.fits(Units.of(Loss.pure(0.1)))
    assert pure.fits(Units.of(NO_LOSS))
    assert account(all_rho).fits(Units.of(NO_LOSS))
    assert account(all_rho + Units(rho=1)).fits(Units.of(NO_LOSS))
    for everything in (all_rho, Units(rho=all_rho.rho, epsilon=UNITS)):
        assert account(everything).pure_left == 0


@given(st.integers(1, 25 * 10**9), st.booleans(), st.integers(1, 30))
def test_what_is_told_to_be_left_fits_and_so_does_an_equal_share_for_each_question(spent: int, pure: bool, questions: int) -> None:
    """The ledger said that ε = 0.221 is left, and refused ε = 0.221; of three questions at a third each, it refused the last one."""
    left = account(Units(rho=spent, epsilon=spent if pure else None))
    assert left.fits(Units.of(Loss.pure(left.pure_left / UNITS)))
    assert left.fits(Units.of(Loss.pure(float(left_in_words(left.pure_left)))))
    assert left.fits(Units.of(Loss.zcdp(float(left_in_words(left.rho_left)))))
    for share in (Loss.pure, Loss.zcdp):
        each = left.share(questions).loss
        loss = share(each.pure_epsilon or 0.0) if share == Loss.pure else share(each.rho)
        assert left.fits(sum((Units.of(loss) for _ in range(questions)), Units()))


@pytest.mark.parametrize(
    ("units", "words"), [(0, "0"), (UNITS, "1"), (220_869_999_999, "0.22086"), (123, "0.000000000123"), (10 * UNITS, "10")]
)
def test_what_is_left_is_told_in_five_digits_rounded_down(units: int, words: str) -> None:
    assert left_in_words(units) == words


@given(st.lists(st.tuples(st.booleans(), st.floats(1e-6, 0.5))))
def test_what_is_spent_while_it_fits_is_within_the_budget(prices: list[tuple[bool, float]]) -> None:
    spent = Units()
    for pure, loss in prices:
        price = Units.of(Loss.pure(loss) if pure else Loss.zcdp(loss / 20))
        if account(spent).fits(price):
            spent += price
    assert account(spent).epsilon_spent <= 1.0 + 1e-9
    assert 0 <= account(spent).share_spent <= 1


@given(st.lists(st.floats(0.001, 0.4), max_size=5))
def test_what_is_said_to_be_left_fits_and_more_does_not(spent: list[float]) -> None:
    now = Units()
    for epsilon in spent:
        if account(now).fits(Units.of(Loss.pure(epsilon))):
            now += Units.of(Loss.pure(epsilon))
    there = account(now)
    assert there.fits(Units(rho=there.rho_left, epsilon=None)) or there.spent.rho > there.rho
    assert not there.fits(Units(rho=there.rho_left + 1, epsilon=None))
    assert there.fits(Units(rho=rounded_up((there.pure_left / UNITS) ** 2 / 2), epsilon=there.pure_left)) or there.pure_left < 10


def test_laplace_is_cheaper_for_few_questions_and_gaussian_for_many() -> None:
    few, many = shares(account(), questions=10), shares(account(), questions=90)
    assert [one.mechanism for one in few] == [LAPLACE, GAUSSIAN]
    assert few[0].noise_sd == pytest.approx(sqrt(2) * 10)
    assert [one.mechanism for one in many] == [GAUSSIAN, LAPLACE]
    assert many[0].noise_sd == pytest.approx(sqrt(90 / (2 * rho_within(1.0, 1e-6))))
    assert many[1].noise_sd == pytest.approx(sqrt(2) * many[0].noise_sd)  # composed by ρ; by Σε alone it would be 127
    assert account().fits(sum((Units.of(few[0].loss) for _ in range(10)), Units()))


def test_once_something_was_not_pure_gaussian_is_always_cheaper() -> None:
    spent = Units.of(Loss.zcdp(0.001))
    assert [one.mechanism for one in shares(account(spent), questions=2)] == [GAUSSIAN, LAPLACE]
    over = Units(rho=account().rho, epsilon=None)
    assert {one.noise_sd for one in shares(account(over), questions=1)} == {inf}
    with pytest.raises(ValueError, match="at least 1 question"):
        shares(account(), questions=0)
