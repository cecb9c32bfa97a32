"""The rule of batches: whatever people do, no shown number moves by one of them."""

from hypothesis import given
from hypothesis import strategies as st

from surveys.batches.rules import LEAST, WAITING_PER_GROUP, completes, few_of, in_steps, in_tens, taken, up_to_tens

people = st.integers(min_value=0, max_value=10_000)


@given(people, people)
def test_steps_never_fall_and_differ_by_whole_steps(one: int, other: int) -> None:
    smaller, larger = sorted((in_steps(one), in_steps(other)))
    assert (larger - smaller) % LEAST == 0
    assert (one <= other) <= (in_steps(one) <= in_steps(other))


@given(people)
def test_a_step_holds_back_its_newest_people(some: int) -> None:
    assert 0 <= in_steps(some) <= max(some - LEAST, 0)
    assert some - in_steps(some) < 2 * LEAST


@given(st.dictionaries(st.text(max_size=2), people))
def test_a_group_gives_whole_steps_or_nobody_and_keeps_at_least_a_step(waiting: dict[str, int]) -> None:
    for group, given_away in taken(waiting).items():
        assert given_away >= LEAST
        assert given_away % LEAST == 0
        assert LEAST <= waiting[group] - given_away < 2 * LEAST


@given(people)
def test_tens_below_and_above_hold_a_number_between_them(number: int) -> None:
    low, high = in_tens(number), up_to_tens(number)
    assert low <= number <= high
    assert high - low == (0 if number % LEAST == 0 else LEAST)


@given(st.lists(people, min_size=1, max_size=12), people)
def test_a_complete_batch_takes_somebody_and_the_next_one_needs_a_step_for_each_group(waiting: list[int], left_over: int) -> None:
    groups = len(waiting)
    if sum(waiting) >= completes(groups=groups, left_over=left_over):
        assert taken(dict(enumerate(waiting)))
    assert completes(groups=groups, left_over=left_over) >= max(left_over + groups * LEAST, groups * WAITING_PER_GROUP)


@given(st.dictionaries(st.integers(0, 30), st.integers(1, 40).map(lambda tens: tens * LEAST), max_size=12), st.integers(1, 500))
def test_few_of_many_are_whole_tens_of_each_group_and_no_more_than_may_be(many: dict[int, int], most: int) -> None:
    few = few_of(many, most=most)
    assert few.keys() == many.keys()
    assert all(LEAST <= few[group] <= people and few[group] % LEAST == 0 for group, people in many.items())
    assert sum(few.values()) <= max(most, LEAST * len(few))
    assert few == many or sum(few.values()) > most - LEAST
