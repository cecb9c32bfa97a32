"""``candor plan`` and ``candor simulate``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from candor.cli import main
from candor.designs.design import Design
from candor.planning.simulation import Behaviour
from tests.unit.candor.cli.running import DESIGN, candor, estimated, refused


def test_a_plan_has_what_the_contract_promises():
    result = candor(
        "plan", "--design", "design.json", "--effect", "0.1", "--prevalence", "0.4", "--cheaters", "1/10", "--n", "1000", "--format", "json"
    )
    plan = json.loads(result.stdout)
    assert result.exit_code == 0
    assert plan["epsilon"] == pytest.approx(np.log(4))
    (contrast,) = plan["contrasts"]
    assert {"standard_error", "power", "participants_needed", "cost_of_privacy"} <= set(contrast)
    assert plan["n"] == 1000
    assert plan["cheater_proportion"]["standard_error"] > 0
    assert plan["suggested_die"]["die"] == "6-sided die"
    assert Design.from_document(plan["design"]) == Design.from_document(DESIGN)


def test_a_plan_for_a_power_finds_the_participants():
    arguments = ("plan", "--design", "design.json", "--effect", "0.1", "--cheaters", "0.1", "--format", "json")
    needed = json.loads(candor(*arguments, "--power", "0.9").stdout)["n"]
    assert json.loads(candor(*arguments, "--n", str(needed)).stdout)["contrasts"][0]["power"] >= 0.9
    assert json.loads(candor(*arguments, "--n", str(needed - 1)).stdout)["contrasts"][0]["power"] < 0.9


def test_a_cap_on_epsilon_holds_for_every_suggestion():
    plan = json.loads(
        candor("plan", "--design", "design.json", "--effect", "0.1", "--n", "9", "--epsilon-cap", "1", "--format", "json").stdout
    )
    assert all(die["epsilon"] <= 1 + 1e-9 for die in plan["dice"])


def test_people_get_a_plan_in_tables():
    result = candor("plan", "--design", "design.json", "--effect", "0.2", "--cheaters", "0.15", "--n", "72", "--questions", "4")
    assert result.exit_code == 0
    assert "ε = 1.3863 per question, 5.5452 for 4 questions" in result.stdout
    assert "6-sided die" in result.stdout
    assert "hardly excludes anything" in " ".join(result.stdout.split())


def test_the_front_is_asked_for_and_comes_in_both_formats():
    asked = ("plan", "--design", "design.json", "--effect", "0.2", "--cheaters", "0.15", "--front")
    front = json.loads(candor(*asked, "--format", "json").stdout)["front"]
    assert "front" not in json.loads(candor(*asked[:-1], "--format", "json").stdout)
    assert [one["best_at"] for one in front if one["best_at"]] == [["participants"], ["effect"], ["cheaters"]]
    text = candor(*asked).stdout
    assert len(text.split("best at")[1].splitlines()) == 1 + len(front)
    assert f"{front[0]['participants_needed']}" in text
    assert "2/13" in text
    assert "2/13" not in candor(*asked, "--least-truth", "0.4").stdout


def test_covariates_save_people():
    asked = ("plan", "--design", "design.json", "--effect", "0.2", "--format", "json")
    assert json.loads(candor(*asked, "--r-squared", "0.5").stdout)["n"] < json.loads(candor(*asked).stdout)["n"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--effect", "0.1", "--front", "--least-truth", "1"], "the least share of truth must lie in [0, 1), found 1"),
        (["--effect", "0.1", "--r-squared", "1.2"], "expected a number from 0 to 1"),
        (["--effect", "0.7"], "every prevalence must lie between 0 and 1, found 1.1"),
        (["--effect", ""], 'expected a number from -1 to 1 or a fraction like "2/6", found nothing'),
        (["--effect", "two"], "expected a number from -1 to 1 or a fraction like \"2/6\", found 'two'"),
        (["--effect", "drug=0.1"], "there is no treatment arm 'drug'; the design has treatment"),
        (["--effect", "0"], "no number of people on earth finds an effect this close to 0"),
        (["--effect", "0.1", "--cheaters", "2/1"], "expected a number from 0 to 1"),
        (["--effect", "0.1", "--cheaters", "1/0"], "expected a number from 0 to 1"),
        (["--effect", "0.1", "--epsilon-cap", "nan"], "expected a number from 0"),
        ([], "Missing option '--effect'"),
    ],
)
def test_an_impossible_plan_is_refused_in_one_line(options, complaint):
    assert complaint in refused("plan", "--design", "design.json", *options)


@pytest.mark.parametrize("behaviour", ["always_no", "always_yes", "random", "opposite", "truthful"])
def test_a_simulated_file_can_be_estimated(behaviour):
    simulated = candor(
        *("simulate", "--design", "design.json", "--n", "4000", "--effect", "0.2", "--cheaters", "0.1"),
        *("--cheater-behaviour", behaviour, "--seed", "3", "-o", "data.csv"),
    )
    assert simulated.exit_code == 0, simulated.output
    outcome = estimated("data.csv", "--design", "design.json", "--bootstrap", "0")["outcomes"]["outcome"]
    assert outcome["n"] == 4000
    assert 0.05 < outcome["honest_times_effect"]["value"] < 0.35


def test_a_simulation_is_repeated_by_its_seed_and_has_a_header():
    arguments = ("simulate", "--design", "design.json", "--n", "30", "--effect", "0.2", "--covariate", "age=0.5", "--seed")
    first, second, other = (candor(*arguments, seed).stdout for seed in ("1", "1", "2"))
    assert first == second != other
    assert first.splitlines()[0] == "arm,subsample,outcome,age"
    assert len(first.splitlines()) == 31


def test_a_simulation_without_a_seed_tells_the_one_it_drew():
    result = candor("simulate", "--design", "design.json", "--n", "20", "--effect", "0.2")
    seed = result.stderr.removeprefix("seed ").strip()
    assert candor("simulate", "--design", "design.json", "--n", "20", "--effect", "0.2", "--seed", seed).stdout == result.stdout


@pytest.mark.parametrize("option", ["age", "=1", "arm=1", "age=old"])
def test_a_covariate_to_simulate_needs_a_name_and_a_number(option):
    line = refused("simulate", "--design", "design.json", "--n", "5", "--effect", "0", "--covariate", option)
    assert "expected NAME=NUMBER" in line


@pytest.mark.parametrize("number", ["nan", "inf", "1e400", "-1e20"])
def test_a_covariate_to_simulate_has_a_possible_effect(number):
    line = refused("simulate", "--design", "design.json", "--n", "5", "--effect", "0", "--covariate", f"age={number}")
    assert "the effect of 'age' on the log-odds must lie within ±1000, found" in line


def test_more_people_than_there_are_on_earth_are_not_simulated():
    line = refused("simulate", "--design", "design.json", "--n", "100000000000000000000", "--effect", "0", "-o", "data.csv")
    assert "expected a whole number from 0 to 10000000000, found '100000000000000000000'" in line
    assert not Path("data.csv").exists()


def test_every_way_to_cheat_can_be_simulated():
    options = {parameter.name: parameter.type for parameter in main.get_command(None, "simulate").params}
    assert set(options["cheater_behaviour"].choices) == set(Behaviour) - {Behaviour.HONEST}


def test_the_answer_cannot_take_the_name_of_the_assignment():
    complaint = refused("simulate", "--design", "design.json", "--n", "3", "--effect", "0.1", "--outcome", "arm")
    assert "the column 'arm' is there already" in complaint


def test_sections_need_more_people():
    arguments = ("plan", "--design", "design.json", "--effect", "0.2", "--format", "json")
    alone = json.loads(candor(*arguments).stdout)
    together = json.loads(candor(*arguments, "--cluster-size", "25", "--icc", "0.1").stdout)
    assert together["n"] > alone["n"]
    assert any("Sections of 25 people" in note for note in together["notes"])
    assert "expected a number from 0 to 1" in refused(*arguments, "--icc", "2")
