"""``candor.regress`` and ``candor regress``: odds ratios of a sensitive trait, with cheaters, and what a design leaves open."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import candor
from candor.designs.design import Design
from candor.regression.formulas import read_formula
from tests.designs import DESIGNS, MIRRORED, THREE, _design
from tests.unit.candor.cli.running import candor as command
from tests.unit.candor.cli.running import refused
from tests.unit.candor.regression.simulated import BETA, simulated

KNOWN = DESIGNS["mirrored, cheaters say no"]
OPEN = DESIGNS["mirrored"]
THREE_DICE = _design(THREE, "any")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    found = pd.DataFrame(simulated(KNOWN, n=4000, seed=2))
    return found.assign(course=np.resize(["law", "art", "art"], len(found)))


@pytest.fixture(scope="module")
def by_age(frame):
    return candor.regress(frame, KNOWN, outcomes="attention", covariates="age")


def test_the_truth_is_found_and_units_are_those_of_the_covariate(frame, by_age):
    found = by_age["attention"]
    arm, age = found.coefficients[1:]
    assert (arm.label, age.label) == ("arm: treatment", "age")
    assert arm.interval.contains(BETA[1])
    assert age.interval.contains(BETA[2] / 4)
    assert found.cheater_proportion.interval.contains(0.15)
    assert arm.odds_ratio == pytest.approx(math.exp(arm.value))
    assert arm.odds_ratio_interval.low == pytest.approx(math.exp(arm.interval.low))
    assert arm.wald.low == pytest.approx(arm.value - 1.959964 * arm.standard_error, abs=1e-6)
    again = candor.regress(frame.assign(age=frame.age * 100), KNOWN, outcomes="attention", covariates="age")["attention"].coefficients[2]
    assert (again.value, again.interval.low) == pytest.approx((age.value / 100, age.interval.low / 100), rel=1e-5)


def test_ignoring_the_die_is_wrong_where_the_regression_is_right(frame):
    """The negative control: an ordinary logistic regression of the reports halves the odds ratios."""
    import statsmodels.api as sm

    columns = sm.add_constant(np.column_stack([frame.arm == "treatment", (frame.age - frame.age.mean()) / frame.age.std()]).astype(float))
    naive = sm.Logit(frame.attention, columns).fit(disp=0)
    assert naive.params.iloc[1] + 1.96 * naive.bse.iloc[1] < BETA[1]


@pytest.mark.parametrize(
    "design", [KNOWN, DESIGNS["symmetric, cheaters say no"], OPEN, THREE_DICE], ids=["known", "symmetric", "open", "three"]
)
def test_differences_of_prevalence_between_arms_are_the_efficient_effect(design):
    """Without covariates, the identity link is another way to the estimate of `candor.estimate`."""
    data = simulated(design, n=4000, seed=31, honest=0.75, yes_rate=0.3 if design is not KNOWN else 0.0)
    found = candor.regress(data, design, outcomes="attention", link="identity")["attention"]
    effect = candor.estimate(data, design, outcomes="attention", bootstrap=0)["attention"].effects[0]
    assert 0.05 < effect.honest_proportion < 0.999
    one = next(row for row in found.coefficients if row.label == "arm: treatment")
    assert (one.value, one.standard_error) == pytest.approx((effect.value, effect.standard_error), rel=2e-4)
    assert ("intercept" in [row.label for row in found.coefficients]) == design.identification.prevalence


def test_a_mirrored_die_with_an_unknown_yes_rate_gives_a_range_that_holds_every_rate(frame):
    frame = frame.iloc[:1500]
    found = candor.regress(frame, OPEN, outcomes="attention", covariates="age")["attention"]
    assert not found.identified
    assert "range over all rates" in found.notes[-1]
    for rate in (0, "0.35", 1):
        stated = _design(MIRRORED, {"yes_rate": rate})
        at = candor.regress(frame, stated, outcomes="attention", covariates="age")["attention"]
        for one, other in zip(found.coefficients, at.coefficients, strict=True):
            assert one.value is None
            assert one.bounds[0] - 1e-4 <= other.value <= one.bounds[1] + 1e-4
            assert one.interval.low - 0.02 <= other.interval.low
            assert other.interval.high <= one.interval.high + 0.02


def test_a_design_that_does_not_determine_the_honest_share_is_refused(frame):
    with pytest.raises(candor.NotIdentifiedError, match="state how often cheaters say yes"):
        candor.regress(frame, DESIGNS["symmetric, unknown"], outcomes="attention")


def test_three_dice_estimate_how_often_cheaters_say_yes():
    data = simulated(THREE_DICE, n=8000, seed=6, honest=0.7, yes_rate=0.5)
    found = candor.regress(data, THREE_DICE, outcomes="attention", covariates="age")["attention"]
    assert found.cheater_yes_rate == pytest.approx(0.5, abs=0.25)
    assert found.cheater_proportion.interval.contains(0.3)
    assert found.coefficients[1].interval.contains(BETA[1])


def test_nobody_who_cheats_is_an_edge_that_is_told():
    data = simulated(KNOWN, n=1500, seed=0, honest=1.0)
    found = candor.regress(data, KNOWN, outcomes="attention", covariates="age")["attention"]
    assert found.cheater_proportion.value == 0.0
    assert found.cheater_proportion.interval.low == 0.0
    assert any("nobody cheats" in note for note in found.notes)
    assert all(one.interval.low < one.value < one.interval.high for one in found.coefficients)


def test_a_formula_says_what_outcomes_and_covariates_say_and_products_too(frame, by_age):
    assert candor.regress(frame, KNOWN, formula="attention ~ arm + age").to_dict() == by_age.to_dict()
    product = candor.regress(frame, KNOWN, formula="attention ~ arm * course")["attention"]
    assert [one.label for one in product.coefficients] == ["intercept", "arm: treatment", "course: law", "arm: treatment × course: law"]
    alone = candor.regress(frame, KNOWN, formula="attention ~ 1")["attention"]
    assert [one.label for one in alone.coefficients] == ["intercept"]
    assert read_formula("y ~ a*b*c").terms == (("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"))


def test_people_without_a_covariate_are_left_out_and_counted(frame):
    age = frame.age.astype(object)
    age[:30] = None
    attention = frame.attention.astype(object)
    attention[20:50] = ""
    found = candor.regress(frame.assign(age=age, attention=attention), KNOWN, outcomes="attention", covariates="age")["attention"]
    assert (found.n, found.left_out) == (3950, 50)
    assert found.notes[0] == "50 of 4000 people lack the answer or a covariate and are left out."
    same = candor.regress(frame.iloc[50:], KNOWN, outcomes="attention", covariates="age")["attention"]
    assert [one.value for one in found.coefficients] == pytest.approx([one.value for one in same.coefficients])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"formula": "attention"}, 'expected a formula such as "attention ~ arm \\+ age"'),
        ({"formula": "attention ~ arm + + age"}, "expected names of columns"),
        ({"formula": "attention ~ grade"}, "there is no column 'grade'"),
        ({"formula": "attention ~ arm", "covariates": ["age"]}, "not both"),
        ({"covariates": ["age"], "link": "probit"}, "link: expected logit or identity, found 'probit'"),
        ({"outcomes": ["attention"], "covariates": ["age", "years"]}, "leave out a covariate that follows from others"),
        ({"outcomes": ["silent"]}, "column 'silent': everybody gave the same answer"),
        ({"outcomes": ["nothing"]}, "column 'nothing': nobody has both"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_words(frame, options, complaint):
    frame = frame.assign(years=frame.age * 2 + 1, silent=0, nothing=np.nan)
    with pytest.raises(candor.DataError, match=complaint):
        candor.regress(frame, KNOWN, **options)


def test_the_command_gives_the_document_and_the_text_of_the_function(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("answers.csv", index=False)
    Path("design.json").write_text(json.dumps(KNOWN.to_document()))
    result = candor.regress(frame, KNOWN, formula="attention ~ arm + age", level=0.9)
    arguments = ["answers.csv", "--design", "design.json", "--level", "0.9"]
    assert command("regress", *arguments, "--formula", "attention ~ arm + age").stdout == f"{result}\n"
    document = command("regress", *arguments, "--outcome", "attention", "--covariate", "age", "--format", "json", "--plot", "odds.svg")
    found, expected = json.loads(document.stdout), result.to_dict()
    assert found == expected
    assert Path("odds.svg").read_text() == result.plot()
    assert "not both" in refused("regress", *arguments, "--outcome", "attention", "--formula", "attention ~ arm")
    assert "answers.csv: " in refused("regress", *arguments, "--formula", "attention ~ arm + grade")


def test_a_notebook_shows_a_table_and_a_figure(frame):
    result = candor.regress(frame, KNOWN, outcomes="attention")
    html = result._repr_html_()
    assert html.count("<table>") == html.count("<svg") == 1
    assert list(result.to_frame().coefficient) == ["intercept", "arm: treatment"]
    assert "odds ratio" in str(result)


def test_two_arms_without_covariates_are_the_odds_ratio_of_the_prevalences():
    design = Design.of(arms=("control", "treatment"), control="control", subsamples=THREE, cheater_model="always_no")
    data = simulated(design, n=6000, seed=17, honest=0.8)
    found = candor.regress(data, design, outcomes="attention")["attention"].coefficients[1]
    before, after = (one.value for one in candor.estimate(data, design, outcomes="attention", bootstrap=0)["attention"].prevalence)
    assert found.odds_ratio == pytest.approx(after / (1 - after) / (before / (1 - before)), rel=1e-3)


@pytest.mark.parametrize("size", [1e-320, 1e-150, 1e155, 1e308])
def test_a_covariate_in_an_impossible_unit_is_refused(tmp_path, monkeypatch, size):
    """Its coefficient was 0 with an interval from 0 to 0, or the command ended with warnings or a traceback."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    rows = [
        f"{arm},{subsample},{int(rng.random() < 0.3 + 0.2 * (arm == 'treatment'))},{size if rng.random() < 0.5 else -size}"
        for arm in ("control", "treatment")
        for subsample in "12"
        for _ in range(200)
    ]
    Path("data.csv").write_text("\n".join(["arm,subsample,y,x", *rows]))
    Path("design.json").write_text(json.dumps(_design(MIRRORED, "any").to_document()))
    said = refused("regress", "data.csv", "--design", "design.json", "--outcome", "y", "--covariate", "x")
    assert "covariate 'x': expected a standard deviation between 1e-100 and 1e+100; write it in another unit" in said
