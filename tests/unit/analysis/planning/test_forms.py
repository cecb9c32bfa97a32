"""Reading a plan from its address: a mistake is named at its field and everything else keeps its value."""

from fractions import Fraction

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as some

from analysis.planning.forms import INPUTS, read_plan
from analysis.planning.starts import NEW_STUDY

NAMES = [one.name for one in INPUTS]


def test_an_empty_address_is_a_plan_without_errors() -> None:
    form = read_plan(QueryDict(""), NEW_STUDY)
    assert [field.error for field in form.numbers.values()] == [""] * len(NAMES)
    assert (form.value("n"), form.value("effect"), form.value("prevalence"), form.value("cap")) == (945, 0.2, 0.4, 1.39)


@pytest.mark.parametrize("text", ["abc", "", "1e3", "nan", "inf", "0x10", "--1", "12 3", "½"])
def test_input_that_is_no_number_leaves_the_start_in_force_and_says_so(text: str) -> None:
    query = QueryDict(mutable=True)
    query["cheaters"] = text
    query["n"] = "72"
    form = read_plan(query, NEW_STUDY)
    assert "the plan uses 10" in form.numbers["cheaters"].error
    assert form.value("cheaters") == 0.1
    assert form.value("n") == 72
    assert not form.numbers["n"].error


@pytest.mark.parametrize(
    ("name", "text", "used"), [("n", "1", 2), ("n", "2000000", 1_000_000), ("cheaters", "96", 0.95), ("cap", "0", 0.1)]
)
def test_a_number_out_of_range_is_named_and_the_nearest_is_used(name: str, text: str, used: float) -> None:
    form = read_plan(QueryDict(f"{name}={text}"), NEW_STUDY)
    assert f"not {text}" in form.numbers[name].error
    assert form.value(name) == used


def test_people_are_whole() -> None:
    assert "whole number" in read_plan(QueryDict("n=100.5"), NEW_STUDY).numbers["n"].error
    assert "whole number" in read_plan(QueryDict("n=1,000"), NEW_STUDY).numbers["n"].error


def test_a_decimal_comma_is_a_decimal_point() -> None:
    assert read_plan(QueryDict("effect=2,5"), NEW_STUDY).value("effect") == 0.025


@pytest.mark.parametrize(("effect", "used"), [("61", 0.6), ("-41", -0.4)])
def test_an_effect_that_no_prevalence_allows_is_cut_to_the_largest_possible(effect: str, used: float) -> None:
    form = read_plan(QueryDict(f"effect={effect}&prevalence=40"), NEW_STUDY)
    assert form.value("effect") == used
    assert "A prevalence of 40 %" in form.numbers["effect"].error


def test_letters_that_say_nothing_are_named_at_the_die() -> None:
    form = read_plan(QueryDict("die=6&group1=ynnxtt&group2=nyyttt"), NEW_STUDY)
    assert "ynnxtt" in form.die_error
    assert form.die == NEW_STUDY.die


def test_a_die_that_does_not_exist_is_named() -> None:
    form = read_plan(QueryDict("die=7000&group1=ynnttt&group2=nyyttt"), NEW_STUDY)
    assert "3 to 100 sides" in form.die_error


def test_an_unknown_assumption_on_cheaters_is_the_start() -> None:
    assert read_plan(QueryDict("model=sometimes"), NEW_STUDY).model == "any"
    assert read_plan(QueryDict("model=always_no"), NEW_STUDY).cheater_model.yes_rate == 0


def test_weights_spread_people_over_subsamples() -> None:
    form = read_plan(QueryDict("die=6&group1=ynnttt&group2=nyyttt&weight1=7&weight2=3"), NEW_STUDY)
    assert (form.die.weights, form.die.shares) == ((7, 3), (Fraction(7, 10), Fraction(3, 10)))
    design = NEW_STUDY.design(form.die, cheater_model=form.cheater_model)
    assert design.subsample_probabilities == (Fraction(7, 10), Fraction(3, 10))
    assert read_plan(QueryDict("weight1=7&weight2=3"), NEW_STUDY).die.weights == (7, 3)


@pytest.mark.parametrize("text", ["0", "1001", "many", "2.5", "-1"])
def test_a_weight_that_is_none_is_named_and_stays_in_its_input(text: str) -> None:
    form = read_plan(QueryDict(f"die=6&group1=ynnttt&group2=nyyttt&weight1={text}"), NEW_STUDY)
    assert f"not “{text}”" in form.die_error
    assert form.die.weights == (1, 1)
    assert form.weight_texts[0] == text


@given(
    some.dictionaries(
        some.sampled_from([*NAMES, "weight1", "weight3", "die", "group1", "group2", "group3", "model", "change"]), some.text(max_size=12)
    )
)
def test_any_address_is_a_plan(texts: dict[str, str]) -> None:
    query = QueryDict(mutable=True)
    query.update(texts)
    form = read_plan(query, NEW_STUDY)
    for name, field in form.numbers.items():
        assert field.input.low <= field.number <= field.input.high, name


@given(some.dictionaries(some.sampled_from(NAMES), some.integers(-200, 2000).map(str)))
def test_the_address_of_a_plan_is_that_plan(texts: dict[str, str]) -> None:
    query = QueryDict(mutable=True)
    query.update(texts)
    form = read_plan(query, NEW_STUDY)
    assert read_plan(QueryDict(form.query), NEW_STUDY) == form
