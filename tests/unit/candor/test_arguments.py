"""A wrong argument is refused by its name, with what was expected and what came, before anything is computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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
    "pool": lambda **given: candor.pool(**({"studies": []} | given)),
    "load_package": lambda **given: candor.load_package(**({"path": "absent.zip"} | given)),
    "read_design": lambda **given: candor.read_design(**given),
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


NOTHING = (None, {}, [], (), float("nan"), "", " ", pd.DataFrame(), np.array([]), pd.Series([], dtype=float))
SWITCHES = {"plan": ("front",), "pool": ("simulated", "verify"), "load_package": ("verify",)}
PATHS = {"load_package": ("path",), "diagnose": ("resume",), "pool": ("key",)}


@pytest.mark.parametrize("wrong", NOTHING, ids=repr)
def test_no_empty_value_ends_with_a_traceback(wrong: object) -> None:
    """Every argument of every function: it stands for its default, or is refused in words."""
    for function, call in FUNCTIONS.items():
        for name in inspect.signature(getattr(candor, function)).parameters:
            if name not in ("progress", "frame", "design"):
                with suppress(candor.MethodError, FileNotFoundError):
                    call(**{name: wrong})


@pytest.mark.parametrize("wrong", NOTHING, ids=repr)
def test_no_empty_frame_and_no_empty_design_end_with_a_traceback(wrong: Any) -> None:
    for design in (DESIGN, SURVEY):
        for analyse in (candor.estimate, candor.regress):
            with pytest.raises(
                candor.MethodError, match=r"expected a DataFrame or a mapping of columns|there is no column 'arm'; the data have none"
            ):
                analyse(wrong, design)
    for function in (candor.plan, candor.plan_survey, candor.simulate, candor.diagnose):
        with pytest.raises(candor.MethodError, match="design"):
            function(
                wrong,
                **({"effects": 0.1} if function is candor.plan else {"n": 9, "seed": 1} if function is not candor.plan_survey else {}),
            )


@pytest.mark.parametrize(("function", "name"), [(function, name) for function, names in SWITCHES.items() for name in names])
def test_what_is_neither_on_nor_off_is_refused_by_its_name(function: str, name: str) -> None:
    for wrong in (None, 1, "no", [], pd.DataFrame()):
        with pytest.raises(candor.MethodError, match=f"^{name}: expected True or False, found "):
            FUNCTIONS[function](**{name: wrong})


@pytest.mark.parametrize(("function", "name"), [(function, name) for function, names in PATHS.items() for name in names])
def test_what_is_no_path_is_refused_by_its_name(function: str, name: str) -> None:
    for wrong in ("", " ", 5, [], {"a": 1}):
        with pytest.raises(candor.MethodError, match=f"^{name}: expected the path of a file or a folder, found "):
            FUNCTIONS[function](**{name: wrong})


@pytest.mark.parametrize(
    ("function", "wrong", "said"),
    [
        ("plan", {"effects": {}, "n": None}, "^effects: expected the effect of one of 'face', or one number for all, found none"),
        ("plan", {"effects": float("nan")}, "^effects: expected a number from -1 to 1, found nan"),
        ("simulate", {"effects": {"face": 1.5}}, "^effects of face: expected a number from -1 to 1, found 1.5"),
        ("diagnose", {"effects": float("inf")}, "^effects: expected a number from -1 to 1, found inf"),
        ("diagnose", {"cheating": None}, "^cheating: expected names, found null"),
        ("diagnose", {"leaving": 5}, "^leaving: expected names, found 5"),
        ("diagnose", {"leaving": []}, "^expected at least one of none, anybody, treated, treated_yes, found none"),
        ("simulate", {"outcome": " "}, "^expected the name of the answer, .* found nothing"),
        ("simulate", {"background_effects": {"": 1.0}}, "^expected the name of the answer, .* found nothing"),
        ("simulate", {"cheater_behaviour": pd.DataFrame()}, "^a way to cheat is one of always_no,"),
        ("estimate", {"families": {"mind": []}}, "^families of mind: expected names of columns, found none"),
        ("regress", {"link": np.array([])}, "^link: expected logit or identity, found array"),
        ("pool", {"studies": None}, "^studies: expected data packages or paths of them, found null"),
        ("pool", {"studies": {"spring": None, "autumn": ""}}, "^path: expected the path of a file or a folder, found null"),
        ("read_design", {"source": ""}, "^design: expected the path of a file or a folder, found nothing"),
    ],
)
def test_an_empty_value_is_blamed_itself(function: str, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(candor.MethodError, match=said):
        FUNCTIONS[function](**wrong)


def test_one_way_to_cheat_may_stand_alone(tmp_path: Path) -> None:
    found = FUNCTIONS["diagnose"](cheating="random", leaving="none", seed=1, resume=str(tmp_path / "kept.json"))
    assert len(found.rows) == 1
    assert (tmp_path / "kept.json").exists()


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (lambda people: people["outcome"] > 1, "column 'outcome': nobody has both the answer and all covariates"),
        (lambda people: people["arm"] == "slides", "column 'outcome': nobody in arm 'face' has the answer and all covariates"),
        (lambda people: people["subsample"] == "2", "column 'outcome': nobody in subsample '1' has the answer and all covariates"),
    ],
)
def test_a_regression_says_who_is_missing(kept: Callable[[Any], Any], said: str) -> None:
    people = {name: values[kept(PEOPLE)] for name, values in PEOPLE.items()}
    for link in ("logit", "identity"):
        with pytest.raises(candor.DataError, match=f"^{said}"):
            candor.regress(people, DESIGN, outcomes=["outcome"], covariates=["age"], link=link)


def test_a_section_with_a_number_is_called_by_it() -> None:
    with pytest.raises(candor.DataError, match=r"^cluster .7. has people in the arms .slides. and .face."):
        candor.estimate(PEOPLE | {"section": np.full(80, 7)}, DESIGN, outcomes=["outcome"], bootstrap=0, cluster="section")
