"""``candor estimate``: the parts that scripts rely on, and the text for people."""

from __future__ import annotations

import csv
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from candor.cli.reading import AnswerFile
from candor.designs.design import Design
from candor.estimators.effects import estimate_outcome
from candor.packages.archive import zip_of
from tests.unit.candor.cli.running import COUNTS, DESIGN, SYMMETRIC, answers_file, candor, estimated, refused


def test_the_document_has_what_the_contract_promises():
    document = estimated(answers_file(), "--design", "design.json", "--outcome", "attention", "--bootstrap", "200", "--seed", "1")
    assert set(document) == {"design", "outcomes"}
    outcome = document["outcomes"]["attention"]
    assert outcome["n"] == 800
    assert outcome["epsilon"] == pytest.approx(np.log(4))
    assert outcome["identified"] is True
    assert isinstance(outcome["assumption"], str)
    assert set(outcome["cheater_proportion"]) >= {"value", "raw", "standard_error", "interval"}
    assert set(outcome["honest_times_effect"]) == {"value", "standard_error", "p_value"}
    assert set(outcome["specification_test"]) == {"statistic", "df", "p_value"}
    assert outcome["bounds"] is None
    assert isinstance(outcome["notes"], list)
    assert [effect["method"] for effect in outcome["effects"]] == ["efficient", "difference_in_means"]
    for effect in outcome["effects"]:
        assert (effect["treatment"], effect["control"]) == ("treatment", "control")
        assert set(effect["interval"]) == {"kind", "low", "high", "level"}
        assert {"low", "high"} <= set(effect["wald"])
        assert {"standard_error", "low", "high", "replicates", "failed", "seed"} <= set(effect["bootstrap"])
        assert (effect["bootstrap"]["replicates"], effect["bootstrap"]["seed"]) == (200, 1)


def test_the_numbers_are_those_of_the_method_unrounded():
    """Δ̂ = (.6 − .4)/½, x̂ = 6(.55 − .45), τ̂ = .4/.6."""
    outcome = estimated(answers_file(), "--design", "design.json", "--bootstrap", "0")["outcomes"]["attention"]
    expected = estimate_outcome(COUNTS, design=Design.from_document(DESIGN))
    assert outcome["effects"][0]["value"] == expected.effects[0].value == pytest.approx(2 / 3)
    assert outcome["effects"][1]["standard_error"] == expected.effects[1].standard_error
    assert outcome["cheater_proportion"]["raw"] == expected.cheater_proportion.raw == pytest.approx(0.4)
    assert outcome["effects"][0]["bootstrap"] is None


def test_the_design_in_the_document_reads_back_as_the_same_design():
    document = estimated(answers_file(), "--design", "design.json", "--bootstrap", "0")
    assert Design.from_document(document["design"]) == Design.from_document(DESIGN)


def test_covariates_add_the_methods_that_use_them_and_drop_nobody():
    outcome = estimated(
        answers_file(), "--design", "design.json", "--covariate", "age", "--covariate", "country", "--bootstrap", "100", "--seed", "1"
    )["outcomes"]["attention"]
    effects = {effect["method"]: effect for effect in outcome["effects"]}
    assert set(effects) == {"difference_in_means", "efficient", "doubly_robust", "efficient_with_covariates"}
    assert outcome["n"] == 800
    plain = estimated(answers_file(), "--design", "design.json", "--outcome", "attention", "--bootstrap", "100", "--seed", "1")
    assert effects["difference_in_means"] == plain["outcomes"]["attention"]["effects"][1]
    # The covariates are noise: adjusting for them moves the estimate by much less than its standard error.
    simple, adjusted = effects["difference_in_means"], effects["doubly_robust"]
    assert abs(adjusted["value"] - simple["value"]) < 0.5 * simple["standard_error"]
    assert any("missing" in note for note in outcome["notes"])


def test_kappa_adds_what_remains_if_cheating_depends_on_the_arm():
    arguments = (answers_file(), "--design", "design.json", "--outcome", "attention", "--bootstrap", "0")
    plain, asked = estimated(*arguments)["outcomes"]["attention"], estimated(*arguments, "--kappa", "1/4")["outcomes"]["attention"]
    (bound,) = asked.pop("sensitivity")
    assert asked == plain
    assert (bound["treatment"], bound["kappa"]) == ("treatment", 0.25)
    assert bound["interval"]["low"] < asked["effects"][0]["interval"]["low"]
    assert 0 < bound["breakdown"] < 0.5  # .5 would explain the whole difference, κ(1 − x̂)/t̄ = .4, without chance
    with_covariates = estimated(*arguments, "--covariate", "country", "--kappa", "1/4")["outcomes"]["attention"]
    assert with_covariates["sensitivity"] == [bound]
    text = " ".join(candor("estimate", *arguments, "--kappa", "1/4").stdout.split())
    assert "if cheaters' yes rates differ by up to κ = 0.25" in text
    assert f"treatment − control {bound['interval']['low']:.3f} to 1.000 {bound['breakdown']:.3f}" in text
    assert "κ =" not in candor("estimate", *arguments).stdout


def test_kappa_is_refused_where_no_two_rates_differ_so_much():
    assert "from 0 to 1" in refused("estimate", answers_file(), "--design", "design.json", "--kappa", "1.5")


def test_the_same_seed_gives_the_same_document():
    arguments = (answers_file(), "--design", "design.json", "--bootstrap", "50", "--seed", "5")
    assert estimated(*arguments) == estimated(*arguments)
    assert estimated(*arguments) != estimated(*arguments[:-1], "6")


def test_without_a_seed_the_one_of_the_answers_is_reported():
    document = estimated(answers_file(), "--design", "design.json", "--bootstrap", "50")
    seed = document["outcomes"]["attention"]["effects"][0]["bootstrap"]["seed"]
    assert estimated("answers.csv", "--design", "design.json", "--bootstrap", "50", "--seed", str(seed)) == document


def test_the_level_is_that_of_every_interval():
    narrow, wide = (
        estimated(answers_file(), "--design", "design.json", "--bootstrap", "0", "--level", level)["outcomes"]["attention"]["effects"][0][
            "wald"
        ]
        for level in ("4/5", "0.99")
    )
    assert (narrow["level"], wide["level"]) == (0.8, 0.99)
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]


def test_an_unidentified_effect_is_null_with_bounds_and_a_reason():
    Path("design.json").write_text(json.dumps(SYMMETRIC))
    path = answers_file([[[113, 87], [107, 93]], [[87, 113], [93, 107]]])
    outcome = estimated(path, "--design", "design.json")["outcomes"]["attention"]
    assert outcome["identified"] is False
    assert outcome["effects"][0]["value"] is None
    assert outcome["cheater_proportion"]["value"] is None
    assert outcome["honest_times_effect"]["value"] is not None
    (low, high), interval = outcome["bounds"]["effect"], outcome["effects"][0]["interval"]
    assert -1 <= interval["low"] < low < high <= interval["high"] <= 1
    assert any("not identified" in note for note in outcome["notes"])


def test_bounds_stay_where_no_parameters_give_the_means_and_the_text_shows_what_chance_leaves_open():
    """Too few said yes to the die that asks for the truth in treatment, and too many in control: the nearest parameters have bounds."""
    Path("design.json").write_text(json.dumps(SYMMETRIC))
    path = answers_file([[[8, 12], [8, 12]], [[15, 5], [17, 3]]])
    outcome = estimated(path, "--design", "design.json")["outcomes"]["attention"]
    low, high = outcome["effects"][0]["bounds"]
    interval = outcome["effects"][0]["interval"]
    assert -1 <= interval["low"] <= low <= high <= interval["high"] < 0
    (shown,) = (line for line in candor("estimate", path, "--design", "design.json").stdout.splitlines() if "allowing for chance" in line)
    assert shown.split("chance")[1].split()[-3:] == [f"{interval['low']:.3f}", "to", f"{interval['high']:.3f}"]


def test_missing_answers_are_left_out_of_their_outcome_only():
    path = Path(answers_file())
    lines = path.read_text().splitlines()
    lines[0] += ",second"
    lines[1:] = [f"{line},{'' if number < 10 else number % 2}" for number, line in enumerate(lines[1:])]
    path.write_text("\n".join(lines))
    outcomes = estimated("answers.csv", "--design", "design.json", "--bootstrap", "0")["outcomes"]
    assert (outcomes["attention"]["n"], outcomes["second"]["n"]) == (800, 790)
    assert "10 rows have no answer and are left out." in outcomes["second"]["notes"]
    lines = candor("estimate", "answers.csv", "--design", "design.json", "--bootstrap", "0").stdout.splitlines()
    headline = lines.index("second: 790 answers, privacy loss ε = 1.3863") + 1
    (low, high) = outcomes["second"]["missing_answers"]["contrasts"][0]["worst_case"]
    assert lines[headline].startswith("10 answers (1.2%) are missing, alike in all groups, as far as chance lets tell (p = ")
    assert f"{low:+.3f} to {high:+.3f}" in " ".join(lines[headline : headline + 3])
    assert not any("are missing" in line for line in lines[: headline - 1])


def test_more_outcomes_than_fit_one_pass_are_counted_alike():
    rows = list(csv.reader(Path(answers_file()).read_text().splitlines()))
    header = ["arm", "subsample", *(f"q{number}" for number in range(8))]
    Path("many.csv").write_text("\n".join(",".join(row) for row in [header, *([*row[:2], *[row[2]] * 8] for row in rows[1:])]))
    outcomes = estimated("many.csv", "--design", "design.json", "--bootstrap", "0")["outcomes"]
    assert len(outcomes) == 8
    assert all(outcome == outcomes["q0"] for outcome in outcomes.values())


def test_people_get_a_table_and_a_forest_plot():
    result = candor("estimate", answers_file(), "--design", "design.json", "--bootstrap", "50", "--plot", "effects.svg")
    assert result.exit_code == 0
    assert "treatment − control, difference in means  +0.667" in result.stdout
    assert "cheater proportion  0.400" in result.stdout
    assert "●" in result.stdout
    assert result.stderr == ""
    assert Path("effects.svg").read_text().startswith("<svg")


def test_memory_does_not_grow_with_the_number_of_rows(monkeypatch):
    """Ten times the rows, in chunks of a thousand: the peak stays where it is (10 % for the interpreter's own work)."""
    monkeypatch.setattr("candor.cli.reading.ROWS_PER_CHUNK", 1000)
    peaks = []
    for people in (500, 5000):
        counts = (np.array(COUNTS) * people // 100).tolist()
        file = AnswerFile(Path(answers_file(counts)), design=Design.from_document(DESIGN), outcomes=["attention"])
        tracemalloc.start()
        read = file.counts(lambda done: None)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert read.counts["attention"].tolist() == counts
    assert peaks[1] < 1.1 * peaks[0]


def test_people_read_every_note_once_with_the_methods_that_it_concerns():
    Path("design.json").write_text(json.dumps(SYMMETRIC))
    text = " ".join(candor("estimate", answers_file(), "--design", "design.json", "--bootstrap", "0").stdout.split())
    assert text.count("The effect is not identified by this design") == 1
    assert "honest share times effect. (efficient, difference in means)" in text
    assert text.count("The cheater proportion is not identified by this design") == 1


def test_margins_and_families_are_tested_where_they_are_named():
    arguments = ("estimate", answers_file(), "--design", "design.json", "--bootstrap", "0")
    named = ("--equivalence-margin", "0.9", "--non-inferiority", "1/2", "--worse", "fewer_yes", "--family", "main=attention")
    document = json.loads(candor(*arguments, *named, "--format", "json").stdout)
    equivalence, non_inferiority = document["outcomes"]["attention"]["margin_tests"]
    assert (equivalence["kind"], equivalence["margin"], equivalence["worse"]) == ("equivalence", 0.9, None)
    assert (non_inferiority["kind"], non_inferiority["margin"], non_inferiority["worse"]) == ("non_inferiority", 0.5, "fewer_yes")
    assert equivalence["interval"]["level"] == 0.9
    assert [one["question"] for one in document["families"]] == ["attention"]
    text = candor(*arguments, *named).stdout
    assert "Tests against margins" in text
    assert "τ > −0.5" in text
    assert "Holm’s test over all questions of a family" in text
    plain = json.loads(candor(*arguments, "--format", "json").stdout)
    assert "families" not in plain
    assert "margin_tests" not in plain["outcomes"]["attention"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--non-inferiority", "0.1"), "non-inferiority needs its margin and the direction that is worse"),
        (("--worse", "more_yes"), "non-inferiority needs its margin"),
        (("--equivalence-margin", "1"), "strictly between 0 and 1"),
        (("--equivalence-margin", "5"), "expected a number from 0 to 1"),
        (("--family", "main"), "expected NAME=OUTCOME,OUTCOME"),
        (("--family", "main=nothing"), "there is no question 'nothing'"),
    ],
)
def test_a_margin_or_family_that_cannot_be_is_refused(options, said):
    assert said in refused("estimate", answers_file(), "--design", "design.json", *options)


def sections_file() -> str:
    """Eight sections of 24 people; people of a section answer alike more often than chance."""
    rng = np.random.default_rng(4)
    with Path("sections.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["arm", "subsample", "attention", "section", "course"])
        for section in range(8):
            rate = rng.uniform(0.2, 0.8)
            arm, course = DESIGN["arms"][section % 2], "first" if section < 4 else "second"
            writer.writerows([arm, 1 + place % 2, int(rng.random() < rate), f"section {section}", course] for place in range(24))
    return "sections.csv"


def test_clusters_and_strata_give_one_method_that_knows_them():
    path = sections_file()
    arguments = (path, "--design", "design.json", "--outcome", "attention", "--cluster", "section")
    outcome = estimated(*arguments, "--stratum", "course")["outcomes"]["attention"]
    assert [effect["method"] for effect in outcome["effects"]] == ["efficient_clustered"]
    assert outcome["assignment"]["clusters"] == 8
    assert outcome["assignment"]["strata"] == 2
    assert 0 < outcome["assignment"]["randomisation_p_values"][0] <= 1
    assert outcome["n"] == 192
    alone = estimated(path, "--design", "design.json", "--outcome", "attention", "--stratum", "course")["outcomes"]["attention"]
    assert [effect["method"] for effect in alone["effects"]] == ["efficient_stratified"]
    assert alone["assignment"]["randomisation_p_values"] == [None]
    text = candor("estimate", *arguments).stdout
    assert "How people were assigned" in text
    assert "efficient clustered" in text
    assert estimated(*arguments) == estimated(*arguments)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cluster", "section", "--covariate", "course"), "covariates cannot be used together with clusters or strata"),
        (("--cluster", "section", "--kappa", "0.1"), "margins and kappa are computed for people who were assigned one by one"),
        (("--cluster", "class"), "class"),
        (("--cluster", "course"), "has people in the arms 'control' and 'treatment'"),
    ],
)
def test_an_assignment_that_cannot_be_is_refused(options, said):
    assert said in refused("estimate", sections_file(), "--design", "design.json", "--outcome", "attention", *options)


def package_folder() -> str:
    """As a data package is unpacked: two questions with the same named answers, each with a die of its own, and one with yes and no."""
    named = {"categories": ["no", "yes"], "arms": ["control", "treatment"], "control": "control", "subsamples": {}}
    for name, (often, seldom) in {"cheated": ("2/6", "1/6"), "copied": ("3/6", "1/6")}.items():
        rules = {"1": {"no": often, "yes": seldom}, "2": {"no": seldom, "yes": often}}
        Path(f"design-{name}.json").write_text(json.dumps(named | {"subsamples": rules}))
    Path("protocol.json").write_text(json.dumps({"design": DESIGN}))
    rows = list(csv.DictReader(Path(answers_file()).read_text().splitlines()))
    with Path("data.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["arm", "subsample", "answer_attention", "answer_cheated", "answer_copied"])
        writer.writerows([one["arm"], one["subsample"], one["attention"], ("no", "yes")[int(one["attention"])], "yes"] for one in rows)
    return "data.csv"


def test_a_column_with_a_design_of_its_own_is_estimated_by_no_other():
    """It was analysed with the die of another question, without a word, where both have the same answers."""
    data = package_folder()
    for design, others in (
        ("design.json", ("cheated", "copied")),
        ("protocol.json", ("cheated", "copied")),
        ("design-cheated.json", ("copied",)),
    ):
        aside = {f"answer_{name}": f"has a design of its own, design-{name}.json" for name in others}
        if design == "design-cheated.json":
            aside = {"answer_attention": f"is not the question of {design}"} | aside
        told = candor("estimate", data, "--design", design, "--bootstrap", "0")
        assert told.exit_code == 0, told.output
        assert f"Left aside: {'; '.join(f'{name}: {reason}' for name, reason in aside.items())}." in " ".join(told.stdout.split())
        document = estimated(data, "--design", design, "--bootstrap", "0")
        assert not set(document["outcomes"]) & set(aside)
        assert document.get("columns", {"left_aside": aside})["left_aside"] == aside
        for name, reason in aside.items():
            said = refused("estimate", data, "--design", design, "--outcome", name)
            assert said == f"Error: {data}: column {name!r} {reason}"


def test_a_design_of_one_question_is_for_no_background_question_with_the_same_answers():
    """The attack: the named answers of a question are those of a background question, or no and yes, and its die is taken for both."""
    folder = package_folder()
    data = Path(folder).read_text().splitlines()
    Path(folder).write_text("\n".join((f"{data[0]},knows", *(f"{line},{line.rpartition(',')[2]}" for line in data[1:]))))
    document = estimated(folder, "--design", "design-copied.json", "--bootstrap", "0")
    assert list(document["outcomes"]) == ["answer_copied"]
    assert document["columns"]["left_aside"]["knows"] == "is not the question of design-copied.json"


def test_a_design_that_is_called_so_by_chance_is_for_every_column():
    data = package_folder()
    Path("design-of-mine.json").write_text(json.dumps(DESIGN))
    assert list(estimated(data, "--design", "design-of-mine.json", "--bootstrap", "0")["outcomes"]) == ["answer_attention"]


def test_a_design_that_is_read_from_elsewhere_has_no_designs_beside_it():
    data = package_folder()
    Path("elsewhere").mkdir()
    Path("elsewhere/design.json").write_text(json.dumps(DESIGN))
    document = estimated(data, "--design", "elsewhere/design.json", "--bootstrap", "0")
    assert list(document["outcomes"]) == ["answer_attention", "answer_cheated", "answer_copied"]


def test_the_zip_file_of_a_package_brings_its_design():
    data = package_folder()
    unpacked = estimated(data, "--design", "protocol.json", "--bootstrap", "0")
    Path("package.zip").write_bytes(zip_of({one.name: one.read_bytes() for one in Path().iterdir() if one.is_file()}))
    assert estimated("package.zip", "--bootstrap", "0") == unpacked
    assert "--design: expected the design of the study" in refused("estimate", data)
    Path("other.zip").write_bytes(zip_of({"data.csv": b""}))
    assert refused("estimate", "other.zip") == "Error: other.zip: no data package: protocol.json is missing"
