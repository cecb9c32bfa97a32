"""The precision of a survey before anybody is asked, against surveys that were simulated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import candor
from candor.designs.design import Design
from candor.errors import MethodError
from candor.estimators.effects import estimate_outcome
from candor.planning.survey_precision import survey_plan
from tests.designs import DESIGNS, MIRRORED, SYMMETRIC, THREE
from tests.unit.candor.cli.running import candor as command
from tests.unit.candor.cli.running import refused


def survey(subsamples, cheaters="any") -> Design:
    return Design.of(arms=("students",), control="students", subsamples=subsamples, cheater_model=cheaters)


@pytest.mark.parametrize(
    "design", [survey(MIRRORED, "always_no"), survey(SYMMETRIC, "always_no"), survey(THREE)], ids=["mirrored", "symmetric", "three dice"]
)
def test_the_planned_error_is_that_of_the_estimate_at_the_expected_answers(design):
    planned = survey_plan(
        design, prevalence=0.3, cheater_proportion=0.2, cheater_yes_rate=None if design.cheater_model.yes_rate == 0 else 0.6, n=60000
    )
    q = float(design.cheater_model.yes_rate) if design.cheater_model.yes_rate is not None else 0.6
    mean = 0.8 * (design.truth * 0.3 + design.forced_yes) + 0.2 * q
    size = 60000 // design.shape[1]
    counts = np.round(np.stack([size * (1 - mean), size * mean], axis=-1))[None]
    found = estimate_outcome(counts, design=design)
    assert planned.standard_error == pytest.approx(found.prevalence[0].standard_error, rel=1e-3)
    assert planned.cheater_standard_error == pytest.approx(found.cheater_proportion.standard_error, rel=0.05)


def test_the_planned_error_is_the_spread_of_simulated_surveys():
    design = survey(MIRRORED, "always_no")
    planned = survey_plan(design, prevalence=0.3, cheater_proportion=0.2, n=40000)
    rng = np.random.default_rng(3)
    mean = 0.8 * (design.truth * 0.3 + design.forced_yes)
    one, two = (rng.binomial(20000, mean, size=(4000, 2)) / 20000).T
    honest = 6 * (two - one)
    spread = (2 * (one - honest / 6) / honest).std()
    assert planned.standard_error == pytest.approx(spread, rel=0.08)  # four standard errors of a spread of 4,000 are 4.5 %


def test_people_needed_reach_the_wanted_interval():
    planned = survey_plan(survey(THREE, "always_no"), prevalence=0.3, half_width=0.04)
    assert planned.n == planned.participants_needed
    assert planned.half_width <= 0.04
    assert survey_plan(survey(THREE, "always_no"), prevalence=0.3, n=planned.n - 1).half_width > 0.04
    cheated = survey_plan(survey(THREE, "always_no"), prevalence=0.3, cheater_proportion=0.2, n=700)
    assert cheated.cost_of_privacy == pytest.approx(cheated.standard_error / np.sqrt(0.3 * 0.7 / 700))


def test_an_open_prevalence_has_bounds_and_no_number_of_people():
    planned = survey_plan(survey(MIRRORED), prevalence=0.3, cheater_proportion=0.2, n=500)
    assert (planned.standard_error, planned.participants_needed) == (None, None)
    # x = .8 and Π/2 + C = .12 + .1 with 0 ≤ C ≤ .2, so that Π lies from .04 to .44.
    assert planned.bounds == pytest.approx((0.05, 0.55), abs=1e-6)
    # x̂ = 6(m̂₂ − m̂₁) with 250 people each, m₁ = .8(.15 + 1/6) + .1 and m₂ = .8(.15 + 2/6) + .1.
    means = np.array([0.8 * (0.15 + 1 / 6) + 0.1, 0.8 * (0.15 + 2 / 6) + 0.1])
    assert planned.cheater_standard_error == pytest.approx(6 * np.sqrt((means * (1 - means)).sum() / 250))
    assert survey_plan(survey(SYMMETRIC), prevalence=0.3, n=500).cheater_standard_error is None
    with pytest.raises(MethodError, match="give the number of participants"):
        survey_plan(survey(MIRRORED), prevalence=0.3)
    with pytest.raises(MethodError, match="no number of people on earth finds a prevalence this precisely"):
        survey_plan(survey(THREE, "always_no"), prevalence=0.3, half_width=1e-6)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"n": 0}, "from 1 to"),
        ({"half_width": 0.5}, "between 0 and 0.5"),
        ({"questions": 0}, "sensitive questions"),
        ({"level": 1}, "level"),
    ],
)
def test_what_is_impossible_is_refused(options, complaint):
    with pytest.raises(MethodError, match=complaint):
        survey_plan(survey(THREE), **options)
    with pytest.raises(MethodError, match="this design has 2"):
        survey_plan(DESIGNS["mirrored"])


def test_the_command_plans_a_survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    design = survey(THREE, "always_no")
    Path("design.json").write_text(json.dumps(design.to_document()))
    result = candor.plan_survey(design, prevalence=0.3, half_width=0.04)
    arguments = ["--design", "design.json", "--prevalence", "0.3", "--half-width", "0.04"]
    assert command("plan", *arguments).stdout == f"{result}\n"
    assert json.loads(command("plan", *arguments, "--format", "json").stdout) == result.to_dict()
    assert "<pre>" in result._repr_html_()
    assert "a design with one arm is a survey" in refused("plan", *arguments, "--effect", "0.1")
    with pytest.raises(candor.DesignError, match="plan_survey"):
        candor.plan(design, effects=0.1)
