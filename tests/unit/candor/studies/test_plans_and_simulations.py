"""``candor.plan`` and ``candor.simulate`` give what the commands give."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import candor
from candor.studies import simulations
from tests.unit.candor.cli.running import DESIGN, refused
from tests.unit.candor.cli.running import candor as command


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("design.json").write_text(json.dumps(DESIGN))


def test_a_plan_is_that_of_the_command():
    plan = candor.plan(DESIGN, effects={"treatment": 0.1}, cheater_proportion=0.1, n=1000, questions=2)
    arguments = ("plan", "--design", "design.json", "--effect", "0.1", "--cheaters", "0.1", "--n", "1000", "--questions", "2")
    assert str(plan) == command(*arguments).stdout.rstrip("\n")
    assert plan.to_dict() == json.loads(command(*arguments, "--format", "json").stdout)
    assert plan.expected.n == 1000
    assert "<pre>mirrored design, 1000 participants" in plan._repr_html_()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"covariate_r_squared": 0.2}, "yes rate of cheaters 0.700, R² of covariates 0.200."),
        ({"cluster_size": 20, "intraclass_correlation": 0.05}, "yes rate of cheaters 0.700."),
    ],
)
def test_a_plan_says_what_it_expects_and_can_be_made_again_from_its_document(how: dict[str, float], said: str):
    asked = {"prevalence": 0.3, "cheater_proportion": 0.1, "cheater_yes_rate": 0.7}
    plan = candor.plan(DESIGN, effects={"treatment": 0.1}, **asked, **how)
    said = f"Expected: prevalence 0.300 in control, cheater proportion 0.100, {said}"
    assert said in str(plan).replace("\n", " ")
    told = plan.to_dict()
    control, treatment = told["scenario"]["prevalence"]
    again = candor.plan(
        told["design"],
        effects=treatment - control,
        prevalence=control,
        cheater_proportion=1 - told["scenario"]["honest_proportion"],
        cheater_yes_rate=told["scenario"]["cheater_yes_rate"],
        covariate_r_squared=told["scenario"]["covariate_r_squared"],
        cluster_size=told["cluster_size"],
        intraclass_correlation=told["intraclass_correlation"],
    )
    assert again.expected.n == plan.expected.n
    assert again.expected.contrasts[0].power == pytest.approx(plan.expected.contrasts[0].power)
    survey = candor.plan_survey({**DESIGN, "arms": ["control"], "cheater_model": "always_no"}, prevalence=0.2, cheater_proportion=0.1)
    assert "Expected: prevalence 0.200 in control, cheater proportion 0.100, yes rate of cheaters 0.000." in str(survey)
    assert survey.to_dict()["scenario"]["honest_proportion"] == 0.9


def test_whole_clusters_are_not_planned_as_independent_people():
    in_clusters = DESIGN | {"allocation": {"unit": "cluster"}}
    Path("clusters.json").write_text(json.dumps(in_clusters))
    for command_line in (["plan", "--effect", "0.1", "--power", "0.8"], ["diagnose", "--effect", "0.1", "--n", "1000"]):
        assert "the design assigns whole clusters: say how many people are in one" in refused(*command_line, "--design", "clusters.json")
    sized = {"effects": 0.1, "cheater_proportion": 0.1, "n": 1000, "cluster_size": 20, "intraclass_correlation": 0.05}
    assert candor.plan(in_clusters, **sized).expected == candor.plan(DESIGN, **sized).expected


def test_a_simulation_is_that_of_the_command():
    frame = candor.simulate(DESIGN, n=50, effects=0.2, cheater_proportion=0.1, background_effects={"age": 0.5}, seed=4)
    text = command(
        *(
            "simulate",
            "--design",
            "design.json",
            "--n",
            "50",
            "--effect",
            "0.2",
            "--cheaters",
            "0.1",
            "--covariate",
            "age=0.5",
            "--seed",
            "4",
        )
    ).stdout
    rows = list(csv.DictReader(text.splitlines()))
    assert list(frame) == list(rows[0])
    assert [[str(value) for value in row] for row in zip(*(column.tolist() for column in frame.values()), strict=True)] == [
        list(row.values()) for row in rows
    ]


def test_a_simulation_in_parts_has_as_many_people_as_asked_for(monkeypatch):
    monkeypatch.setattr(simulations, "ROWS_AT_A_TIME", 7)
    frame = candor.simulate(DESIGN, n=50, effects=0.2, seed=4)
    assert {len(column) for column in frame.values()} == {50}
    assert set(frame["outcome"]) == {0, 1}
    assert {len(column) for column in candor.simulate(DESIGN, n=0, effects=0.2, seed=4).values()} == {0}


def test_what_was_simulated_is_found_again():
    frame = candor.simulate(DESIGN, n=40_000, effects=0.2, cheater_proportion=0.2, cheater_behaviour="always_no", seed=1)
    outcome = candor.estimate(frame, DESIGN, bootstrap=0)["outcome"]
    for found, planted in ((outcome.effects[1], 0.2), (outcome.cheater_proportion, 0.2)):
        assert abs(found.value - planted) < 4 * found.standard_error


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"effects": 0.9}, "the prevalence in arm 'treatment' must lie between 0 and 1"),
        ({"effects": {"drug": 0.1}}, "the model names arm 'drug'"),
        ({"cheater_behaviour": "honest"}, "a way to cheat is one of always_no, .*, not 'honest'"),
        ({"outcome": "arm"}, "the column 'arm' is there already"),
        ({"background_effects": {"outcome": 1.0}}, "the column 'outcome' is there already"),
        ({"n": -1}, "must not be negative"),
        ({"n": 10**20}, "at most 10000000000 participants, found 100000000000000000000"),
    ],
)
def test_an_impossible_simulation_is_refused(options, complaint):
    with pytest.raises(candor.MethodError, match=complaint):
        candor.simulate(DESIGN, **{"n": 5, "effects": 0.1, "seed": 1, **options})


def test_columns_are_arrays_that_other_libraries_take():
    frame = candor.simulate(DESIGN, n=5, effects=0.1, seed=1, background_effects={"age": 1.0})
    assert [column.dtype.kind for column in frame.values()] == ["O", "O", "i", "f"]
    assert np.array_equal(frame["age"], np.round(frame["age"], 4))
