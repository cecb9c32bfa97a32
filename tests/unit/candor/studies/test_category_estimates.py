"""candor.estimate and its command with a design that names categories: reading, display, JSON, and what is refused."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import candor
from candor.categories.estimates import estimate_categories
from candor.cli import main
from candor.clusters.clustered_categories import estimate_categories_assigned_together
from tests.clustered_people import clustered_category_people

NAMES = ["never", "once", "often"]
DESIGN = {
    "arms": ["slides", "face"],
    "control": "slides",
    "categories": NAMES,
    "ordered": True,
    "subsamples": {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}},
    "cheater_model": {"always": "never"},
}
COUNTS = np.array([[[198, 64, 138], [266, 64, 70]], [[150, 82, 168], [218, 82, 100]]])


@pytest.fixture
def columns():
    rows = [
        (arm, subsample, answer)
        for a, arm in enumerate(DESIGN["arms"])
        for s, subsample in enumerate(("1", "2"))
        for c, answer in enumerate(NAMES)
        for _ in range(COUNTS[a, s, c])
    ]
    return dict(zip(("arm", "subsample", "cheating"), map(list, zip(*rows, strict=True)), strict=True))


def test_the_numbers_are_those_of_the_counts(columns):
    columns["cheating"][0] = " Never "
    found = candor.estimate(columns, DESIGN, outcomes="cheating")["cheating"]
    assert found == estimate_categories(COUNTS, design=candor.read_design(DESIGN))


def test_missing_answers_are_left_out_and_said(columns):
    columns["cheating"][0] = None
    columns["cheating"][1] = "NA"
    result = candor.estimate(columns, DESIGN, outcomes="cheating")
    assert result["cheating"].n == COUNTS.sum() - 2
    assert "2 rows have no answer and are left out." in str(result)
    assert result.to_dict()["outcomes"]["cheating"]["missing"] == 2
    said = result["cheating"].missing_answers
    assert result.to_dict()["outcomes"]["cheating"]["missing_answers"]["statistic"] == said.statistic
    assert (said.missing, [one.category for one in said.contrasts]) == (2, NAMES)
    assert "2 answers (0.1%) are missing" in str(result)


def test_tables_rows_and_json_say_the_same(columns):
    result = candor.estimate(columns, DESIGN, outcomes=["cheating"], families={"main": ["cheating"]})
    often = result["cheating"].effects[2]
    assert f"face − slides, often           {often.value:+.3f}" in str(result)
    assert "no effect on any category (face − slides)  χ² = " in str(result)
    row = result.rows()[2]
    assert (row["category"], row["value"], row["interval_low"]) == ("often", often.value, often.interval.low)
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["outcomes"]["cheating"]["effects"][2]["value"] == often.value
    assert document["families"][0]["p_value"] == result["cheating"].no_effect[0].p_value
    assert candor.read_design(document["design"]) == result.design
    assert result.plot().startswith("<svg")
    assert "<pre>" in result._repr_html_()


def test_families_of_questions_are_adjusted_by_holm(columns):
    two = columns | {"second": columns["cheating"][::-1]}
    result = candor.estimate(two, DESIGN, outcomes=["cheating", "second"], families={"both": ["cheating", "second"]})
    p = [one.p_value for one in result.families]
    assert sorted(one.adjusted_p_value for one in result.families) == sorted([min(1, 2 * min(p)), max(2 * min(p), max(p))])
    with pytest.raises(candor.DataError, match="there is no question 'third'"):
        candor.estimate(two, DESIGN, outcomes="cheating", families={"both": ["third"]})
    with pytest.raises(candor.DataError, match="names a question twice"):
        candor.estimate(two, DESIGN, outcomes="cheating", families={"both": ["cheating", "cheating"]})


def test_columns_are_chosen_by_the_categories(columns):
    result = candor.estimate(columns | {"year": ["1st"] * len(columns["arm"])}, DESIGN)
    assert list(result.outcomes) == ["cheating"]
    assert result.about == (
        "No outcome was named. Analysed as sensitive, because they hold the design's categories: cheating.",
        "Left aside: year: holds '1st', which is not one of never, once, often.",
    )
    with pytest.raises(candor.DataError, match="no column holds answers never, once, often"):
        candor.estimate(columns | {"cheating": ["0"] * len(columns["arm"])}, DESIGN)


def test_shares_of_people_that_are_not_as_planned_are_said(columns):
    few = {name: [value for value, arm in zip(values, columns["arm"], strict=True) if arm == "slides"] for name, values in columns.items()}
    both = {name: [*columns[name], *few[name], *few[name]] for name in columns}
    assert "shares" in candor.estimate(both, DESIGN, outcomes="cheating").about[0]


def test_a_survey_shows_its_prevalence(columns):
    survey = DESIGN | {"arms": ["slides"]}
    one = {name: [value for value, arm in zip(values, columns["arm"], strict=True) if arm == "slides"] for name, values in columns.items()}
    result = candor.estimate(one, survey, outcomes="cheating")
    assert result["cheating"].effects == ()
    assert [row["arm"] for row in result.rows()] == ["slides"] * 6
    assert "slides, mean score" in str(result)
    open_design = survey | {"cheater_model": "any"}
    assert {one.value for one in candor.estimate(one, open_design, outcomes="cheating")["cheating"].prevalence} == {None}


def test_covariates_add_the_same_effects_adjusted(columns):
    rng = np.random.default_rng(3)
    columns["age"] = [str(round(20 + 3 * NAMES.index(said) + rng.normal(), 2)) for said in columns["cheating"]]
    plain = candor.estimate(columns, DESIGN, outcomes="cheating")
    result = candor.estimate(columns, DESIGN, outcomes="cheating", covariates="age")
    found = result["cheating"].with_covariates
    assert plain["cheating"].with_covariates is None
    assert replace(result["cheating"], with_covariates=None) == plain["cheating"]
    assert [(one.measure, one.category) for one in found.effects] == [(one.measure, one.category) for one in plain["cheating"].effects]
    assert [row["value"] for row in result.rows() if row["method"] == "efficient_with_covariates"] == [one.value for one in found.effects]
    assert "With covariates\nspecification test" in str(result)
    assert "working models of “often”: age" in str(result)
    document = result.to_dict()["outcomes"]["cheating"]["with_covariates"]
    assert document["no_effect"][0]["statistic"] == found.no_effect[0].statistic
    assert document["for_publication"] is False
    survey = DESIGN | {"arms": ["slides"]}
    with pytest.raises(candor.DataError, match="a survey has no effect that covariates could adjust"):
        candor.estimate(columns, survey, outcomes="cheating", covariates="age")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kappa": 0.0}, "kappa: computed for yes/no questions only; the design has the categories never, once, often"),
        ({"kappa": 0.1, "cluster": "section"}, "kappa: computed"),
        ({"cluster": "section", "covariates": "age"}, "covariates cannot be used together with clusters or strata"),
        ({"strata": "section", "subgroups": "age"}, "subgroups cannot be used together with clusters or strata"),
        ({"equivalence_margin": 0.1}, "equivalence margin: computed"),
        ({"non_inferiority": 0.1, "worse": "more_yes"}, "non inferiority: computed"),
    ],
)
def test_what_is_not_computed_is_refused(columns, options, words):
    columns |= {name: [str(row % 2) for row in range(len(columns["arm"]))] for name in ("section", "age")}
    with pytest.raises(candor.MethodError, match=words):
        candor.estimate(columns, DESIGN, outcomes="cheating", **options)


def test_sections_are_estimated_as_sections(columns, tmp_path):
    people = clustered_category_people(1, clusters=16, effect=0.2)  # in more arrangements than are counted
    of = people.design
    frame = {
        "arm": [of.arms[one] for one in people.arm],
        "subsample": [of.subsample_names[one] for one in people.subsample],
        "section": [people.clusters[one] for one in people.cluster],
        "cheating": [of.categories[one] for one in people.reported],
    }
    found = candor.estimate(frame, of, outcomes="cheating", cluster="section", seed=1, families={"main": ["cheating"]})
    assert found["cheating"] == estimate_categories_assigned_together(people, rng=np.random.default_rng(1))
    assert found.families[0].p_value == found["cheating"].no_effect[0].p_value
    assert {row["method"] for row in found.rows()} == {"efficient_clustered"}
    assert "T² =" in str(found)
    assert "How people were assigned" in str(found)
    alone = candor.estimate(frame, of, outcomes="cheating", strata="section")
    assert {row["method"] for row in alone.rows()} == {"efficient_stratified"}
    without_a_seed = [candor.estimate(frame, of, outcomes="cheating", cluster="section")["cheating"] for _time in range(2)]
    assert without_a_seed[0] == without_a_seed[1] != found["cheating"], "the seed follows from the answers"
    with pytest.raises(candor.DataError, match="the design assigned whole clusters"):
        candor.estimate(frame, replace(of, in_clusters=True), outcomes="cheating")
    with pytest.raises(candor.DataError, match="a survey assigns nobody to arms"):
        candor.estimate(frame | {"arm": ["slides"] * len(people.arm)}, DESIGN | {"arms": ["slides"]}, outcomes="cheating", strata="section")
    data, design = tmp_path / "answers.csv", tmp_path / "design.json"
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(frame)
        writer.writerows(zip(*frame.values(), strict=True))
    design.write_text(json.dumps(of.to_document()))
    command = ["estimate", str(data), "--design", str(design), "--outcome", "cheating", "--cluster", "section", "--seed", "1"]
    run = CliRunner().invoke(main, [*command, "--family", "main=cheating", "--format", "json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.output) == found.to_dict()
    refused = CliRunner().invoke(main, [*command, "--subgroup", "section"])
    assert refused.exit_code == 2
    assert "subgroups cannot be used together with clusters" in refused.output
    shuffled = frame | {"section": [str(row % 2) for row in range(len(people.arm))]}
    with pytest.raises(candor.DataError, match="a cluster is assigned as a whole"):
        candor.estimate(shuffled, of, outcomes="cheating", cluster="section")
    with pytest.raises(candor.DataError, match="have no cluster"):
        candor.estimate({**frame, "section": ["", *frame["section"][1:]]}, of, outcomes="cheating", cluster="section")


def test_answers_that_are_no_category_are_refused(columns):
    columns["cheating"][7] = "sometimes"
    with pytest.raises(candor.DataError, match="column 'cheating', row 7: expected never, once, often or nothing, found 'sometimes'"):
        candor.estimate(columns, DESIGN, outcomes="cheating")


def test_the_command_gives_the_same_document(columns, tmp_path):
    columns["year"] = [str(1 + row % 4) for row in range(len(columns["arm"]))]
    data, design, plot = tmp_path / "answers.csv", tmp_path / "DESIGN.json", tmp_path / "plot.svg"
    with data.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    design.write_text(json.dumps(DESIGN))
    command = ["estimate", str(data), "--design", str(design), "--outcome", "cheating", "--covariate", "year"]
    run = CliRunner().invoke(main, [*command, "--format", "json", "--plot", str(plot), "--family", "main=cheating"])
    assert run.exit_code == 0, run.output
    expected = candor.estimate(columns, DESIGN, outcomes="cheating", covariates="year", families={"main": ["cheating"]}).to_dict()
    assert json.loads(run.output) == expected
    assert plot.read_text(encoding="utf-8").startswith("<svg")
    table = CliRunner().invoke(main, command)
    assert "face − slides, mean score" in table.output
    refused = CliRunner().invoke(main, [*command, "--kappa", "0.1"])
    assert refused.exit_code == 2
    assert "kappa: computed for yes/no questions only" in refused.output
    data.write_text(data.read_text().replace("often", "sometimes", 1))
    wrong = CliRunner().invoke(main, command)
    assert wrong.exit_code == 2
    assert "column 'cheating': expected never, once, often or nothing, found 'sometimes'" in wrong.output
