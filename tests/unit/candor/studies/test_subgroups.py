"""Subgroups in `candor.estimate` and on the command line."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import candor
from candor.cli.__main__ import main
from candor.errors import DataError

DESIGN = {
    "arms": ["slides", "face"], "control": "slides",
    "subsamples": {"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
}  # fmt: skip
COUNTS = np.array([[[130, 70], [110, 90]], [[90, 110], [70, 130]]])


def frame():
    """The example of the methods page in the first year; in the second one arms are exchanged, and ten people say no year."""
    rows = []
    for year, counts in (("1", COUNTS), ("2", COUNTS[::-1]), ("", np.full((2, 2, 2), 2))):
        for (arm, subsample, answer), people in np.ndenumerate(counts):
            rows += [(DESIGN["arms"][arm], str(subsample + 1), answer, year, "north" if answer else "south")] * int(people)
    return dict(zip(("arm", "subsample", "attention", "year", "region"), map(list, zip(*rows, strict=True)), strict=True))


def test_planned_and_exploratory_subgroups_stand_beside_the_effects():
    result = candor.estimate(frame(), DESIGN, outcomes="attention", subgroups="year", exploratory_subgroups="region", bootstrap=0)
    planned, exploratory = result.subgroups["attention"]
    assert [round(one.effect.honest_times_effect.value, 6) for one in planned.effects] == [0.4, -0.4]
    assert planned.interaction[0].p_value < 1e-9
    assert "16 people without an answer to it are in no group." in planned.notes
    assert (planned.planned, exploratory.planned) == (True, False)
    text = str(result)
    assert "attention by year, planned" in text
    assert "attention by region, EXPLORATORY" in text
    assert "same honest share × effect in all groups (face)" in text
    assert "attention by year, planned" in result._repr_html_()
    documents = result.to_dict()["outcomes"]["attention"]["subgroups"]
    assert [one["variable"] for one in documents] == ["year", "region"]


def test_covariates_and_subgroups_may_be_the_same_column():
    result = candor.estimate(frame(), DESIGN, outcomes="attention", covariates="year", subgroups="year", bootstrap=0)
    assert [one.n for one in result.subgroups["attention"][0].effects] == [800, 800]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"subgroups": "yaer"}, "no column 'yaer'"),
        ({"subgroups": "year", "exploratory_subgroups": "year"}, "planned and exploratory at once"),
        ({"subgroups": "many"}, "at most 8 different values"),
        ({"subgroups": "none"}, "nobody has a value"),
        ({"subgroups": "attention"}, "cannot be both"),
    ],
)
def test_what_makes_no_groups_is_refused_by_name(named, message):
    data = frame()
    people = len(data["arm"])
    data |= {"many": [str(index % 9) for index in range(people)], "none": [""] * people}
    with pytest.raises(DataError, match=message):
        candor.estimate(data, DESIGN, outcomes="attention", bootstrap=0, **named)


def test_a_survey_has_no_effects_to_compare():
    data = {name: values for name, values in frame().items() if name != "arm"} | {"arm": ["slides"] * len(frame()["arm"])}
    with pytest.raises(DataError, match="a survey has no effect"):
        candor.estimate(data, DESIGN | {"arms": ["slides"]}, outcomes="attention", subgroups="year", bootstrap=0)


def test_the_command_line_compares_subgroups(tmp_path):
    data = frame()
    with (tmp_path / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(data), *zip(*data.values(), strict=True)])
    (tmp_path / "design.json").write_text(json.dumps(DESIGN))
    command = ["estimate", str(tmp_path / "data.csv"), "--design", str(tmp_path / "design.json"), "--outcome", "attention"]
    done = CliRunner().invoke(main, [*command, "--bootstrap", "0", "--subgroup", "year", "--format", "json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (one,) = json.loads(done.stdout)["outcomes"]["attention"]["subgroups"]
    assert [row["group"] for row in one["effects"]] == ["1", "2"]
    text = CliRunner().invoke(main, [*command, "--bootstrap", "0", "--exploratory-subgroup", "year"]).stdout
    assert "EXPLORATORY" in text
    wrong = CliRunner().invoke(main, [*command, "--bootstrap", "0", "--subgroup", "month"])
    assert wrong.exit_code == 2
    assert "no column 'month'" in wrong.output


NAMED = {
    "arms": ["slides", "face"], "control": "slides", "categories": ["never", "once", "often"], "ordered": True,
    "subsamples": {"1": {"never": "1/8", "once": "1/8", "often": "3/8"}, "2": {"never": "3/8", "once": "1/8", "often": "1/8"}},
}  # fmt: skip
NAMED_COUNTS = np.array([[[148, 84, 168], [228, 84, 88]], [[112, 96, 192], [192, 96, 112]]])


def named_frame():
    rows = []
    for year, counts in (("1", NAMED_COUNTS), ("2", NAMED_COUNTS[::-1]), ("", np.full((2, 2, 3), 2))):
        for (arm, subsample, answer), people in np.ndenumerate(counts):
            rows += [(NAMED["arms"][arm], str(subsample + 1), NAMED["categories"][answer], year)] * int(people)
    return dict(zip(("arm", "subsample", "copying", "year"), map(list, zip(*rows, strict=True)), strict=True))


def test_named_answers_are_compared_between_subgroups(tmp_path):
    result = candor.estimate(named_frame(), NAMED, outcomes="copying", subgroups="year")
    (by_year,) = result.subgroups["copying"]
    often = [one.effect for one in by_year.effects if (one.measure, one.category) == ("category", "often")]
    assert [round(one.value, 6) for one in often] == [0.2, -0.2]
    assert [(one.of, one.df) for one in by_year.interaction] == [("honest_times_effect", 2), ("effect", 2)]
    assert "24 people without an answer to it are in no group." in by_year.notes
    text = str(result)
    assert "copying by year, planned" in text
    assert "1: face, at least often" in text
    assert "2: face, mean score" in text
    assert "same effect on every answer in all groups (face)" in text
    assert "copying by year, planned" in result._repr_html_()
    with (tmp_path / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(named_frame()), *zip(*named_frame().values(), strict=True)])
    (tmp_path / "design.json").write_text(json.dumps(NAMED))
    options = [str(tmp_path / "data.csv"), "--design", str(tmp_path / "design.json"), "--outcome", "copying", "--format", "json"]
    found = CliRunner().invoke(main, ["estimate", *options, "--exploratory-subgroup", "year"])
    assert found.exit_code == 0, found.output
    (again,) = json.loads(found.stdout)["outcomes"]["copying"]["subgroups"]
    (planned,) = result.to_dict()["outcomes"]["copying"]["subgroups"]
    assert again["planned"] is False
    assert again["effects"] == planned["effects"]
    with pytest.raises(DataError, match="planned and exploratory at once"):
        candor.estimate(named_frame(), NAMED, outcomes="copying", subgroups="year", exploratory_subgroups="year")
