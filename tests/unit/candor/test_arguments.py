"""A wrong argument is refused by its name, with what was expected and what came, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import candor

DESIGN = {
    "arms": ["slides", "face"],
    "control": "slides",
    "cheater_model": "always_no",
    "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
}
SURVEY = DESIGN | {"arms": ["students"], "control": "students"}
PEOPLE = candor.simulate(DESIGN, n=80, effects=0.1, seed=1, background_effects={"age": 0.5})
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "estimate": lambda **given: candor.estimate(PEOPLE, DESIGN, **({"outcomes": ["outcome"], "bootstrap": 0} | given)),
    "regress": lambda **given: candor.regress(PEOPLE, DESIGN, **({"outcomes": ["outcome"]} | given)),
    "plan": lambda **given: candor.plan(DESIGN, **({"effects": 0.1, "n": 500} | given)),
    "plan_survey": lambda **given: candor.plan_survey(SURVEY, **({"n": 500} | given)),
    "simulate": lambda **given: candor.simulate(DESIGN, **({"n": 5, "seed": 1} | given)),
    "diagnose": lambda **given: candor.diagnose(DESIGN, **({"n": 100, "studies": 10} | given)),
    "pool": lambda **given: candor.pool([], **given),
}
NUMBERS = {
    "estimate": ("level", "kappa", "equivalence_margin", "non_inferiority"),
    "regress": ("level",),
    "plan": ("effects", "prevalence", "cheater_proportion", "cheater_yes_rate", "covariate_r_squared", "power", "level", "least_truth"),
    "plan_survey": ("prevalence", "cheater_proportion", "cheater_yes_rate", "half_width", "level"),
    "simulate": ("effects", "prevalence", "cheater_proportion"),
    "diagnose": ("effects", "prevalence", "cheater_proportion", "drop_out", "cluster_size", "intraclass_correlation", "level"),
    "pool": ("level",),
}
WHOLE = {
    "estimate": ("bootstrap", "seed"),
    "plan": ("n", "questions"),
    "plan_survey": ("n", "questions"),
    "simulate": ("n", "seed"),
    "diagnose": ("n", "studies", "seed"),
}
NO_NUMBER = [("0.1", "'0.1'"), ([0.1], r"\[0.1\]"), (True, "true"), (1j, "1j"), (10**400, "1000")]
NOT_WHOLE = [("5", "'5'"), (5.5, "5.5"), (float("nan"), "nan"), (True, "true")]


@pytest.mark.parametrize(("function", "name"), [(function, name) for function, names in NUMBERS.items() for name in names])
def test_what_is_no_number_is_refused_by_its_name(function: str, name: str) -> None:
    for wrong, shown in NO_NUMBER:
        with pytest.raises(candor.MethodError, match=f"^{name}: expected a number, found {shown}"):
            FUNCTIONS[function](**{name: wrong})


@pytest.mark.parametrize(("function", "name"), [(function, name) for function, names in WHOLE.items() for name in names])
def test_what_is_not_whole_is_refused_by_its_name(function: str, name: str) -> None:
    for wrong, shown in NOT_WHOLE:
        with pytest.raises(candor.MethodError, match=f"^{name}: expected a whole number.*, found {shown}"):
            FUNCTIONS[function](**{name: wrong})


@pytest.mark.parametrize("function", ["estimate", "simulate", "diagnose"])
def test_a_negative_seed_is_refused(function: str) -> None:
    with pytest.raises(candor.MethodError, match=r"^seed: expected a whole number of at least 0, found -1"):
        FUNCTIONS[function](seed=-1)


@pytest.mark.parametrize("function", ["plan", "simulate", "diagnose"])
def test_the_effect_of_an_arm_is_a_number(function: str) -> None:
    with pytest.raises(candor.MethodError, match=r"^effects of face: expected a number, found 'large'"):
        FUNCTIONS[function](effects={"face": "large"})


@pytest.mark.parametrize("name", ["outcomes", "covariates", "strata", "subgroups"])
def test_names_of_columns_are_texts(name: str) -> None:
    with pytest.raises(candor.MethodError, match=f"^{name}: expected names of columns, found 5"):
        FUNCTIONS["estimate"](**{name: 5})


@pytest.mark.parametrize(
    ("function", "wrong", "said"),
    [
        ("estimate", {"cluster": ["sec"]}, r'^cluster: expected the name of one column, found \["sec"\]'),
        ("estimate", {"cluster": 3}, "^cluster: expected the name of one column, found 3"),
        ("estimate", {"families": ["mind"]}, r'^families: expected names of columns by the name of each family, found \["mind"\]'),
        ("estimate", {"families": {"mind": 3}}, "^families of mind: expected names of columns, found 3"),
        ("regress", {"formula": ["y"]}, r"^formula: expected a text such as 'attention ~ arm \+ age', found \[\"y\"\]"),
    ],
)
def test_one_name_and_named_names_are_what_they_must_be(function: str, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(candor.MethodError, match=said):
        FUNCTIONS[function](**wrong)


def test_a_message_is_no_longer_than_a_screen_however_long_a_cell_is() -> None:
    """Attack: a file whose one cell fills the log of whoever reads it."""
    people = {name: np.asarray(values).astype(object) for name, values in PEOPLE.items()}
    for name in ("arm", "subsample", "outcome"):
        long = dict(people) | {name: np.array(["x" * 1_000_000, *people[name][1:]], dtype=object)}
        with pytest.raises(candor.MethodError) as refused:
            candor.estimate(long, DESIGN, outcomes=["outcome"], bootstrap=0)
        assert len(str(refused.value)) <= 1000
        assert "xxx" in str(refused.value)


@pytest.mark.parametrize("wrong", [{"background_effects": 3}, {"background_effects": {"age": "large"}}, {"outcome": ["a"]}])
def test_a_simulation_says_what_its_columns_need(wrong: dict[str, Any]) -> None:
    with pytest.raises(candor.MethodError, match=r"expected .*, found"):
        FUNCTIONS["simulate"](**wrong)


@pytest.mark.parametrize("name", ["epsilon_cap", "cluster_size", "intraclass_correlation", "equivalence_margin", "non_inferiority"])
def test_what_is_no_number_of_a_plan_is_refused(name: str) -> None:
    test_what_is_no_number_is_refused_by_its_name("plan", name)


def test_numbers_of_other_kinds_are_numbers() -> None:
    kinds = [(0.25, 500), (np.float32(0.25), np.int32(500)), (Fraction(1, 4), np.int64(500))]
    planned = [FUNCTIONS["plan"](effects=one, cluster_size=n // 50, level=1 - one, n=n, questions=n // 250).to_dict() for one, n in kinds]
    assert planned[0] == planned[1] == planned[2]
    found = [FUNCTIONS["estimate"](kappa=one, level=1 - one, bootstrap=n // 10, seed=n).to_dict() for one, n in kinds]
    assert found[0] == found[1] == found[2]
    precise = [FUNCTIONS["plan_survey"](prevalence=one, level=1 - one, n=n, questions=n // 250).to_dict() for one, n in kinds]
    assert precise[0] == precise[1] == precise[2]
