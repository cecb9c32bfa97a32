"""``candor diagnose``."""

from __future__ import annotations

import json

import pytest

import candor as library
from candor.diagnosis.diagnose import Plan
from tests.unit.candor.cli.running import DESIGN, candor, refused

ASKED = ("diagnose", "--design", "design.json", "--n", "500", "--effect", "0.2", "--cheaters", "0.2", "--studies", "50", "--seed", "7")


def test_every_number_has_its_monte_carlo_error_and_the_seed_gives_them_again():
    first, again = (candor(*ASKED, "--format", "json") for _ in range(2))
    assert first.exit_code == 0
    assert first.stdout == again.stdout
    document = json.loads(first.stdout)
    assert len(document["settings"]) == 7 * 4
    for setting in document["settings"]:
        (contrast,) = setting["contrasts"]
        for name in ("bias", "region", "coverage", "power", "spread", "unbounded", "contradicted"):
            assert contrast[name]["error"] > 0, name
    assert document == library.diagnose(DESIGN, n=500, effects=0.2, cheater_proportion=0.2, studies=50, seed=7).to_dict()


def test_people_get_a_table_of_the_settings_they_ask_for():
    result = candor(*ASKED, "--cheating", "opposite", "--cheating", "none", "--leaving", "treated_yes")
    table = result.stdout.split("noticed\n")[1].split("seed")[0].split()
    assert [word for word in table if word in ("opposite", "none", "random")] == ["opposite", "none"]
    assert "in brackets the Monte-Carlo error" in " ".join(result.stdout.split())
    assert "seed 7" in result.stdout


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--effect", "0.7", "--n", "9"], "every prevalence must lie between 0 and 1, found 1.1"),
        (["--effect", "0.1"], "Missing option '--n'"),
        (["--effect", "0.1", "--n", "0"], "--n"),
        (["--effect", "0.1", "--n", "9" * 30], "the number of people must lie between 1 and 10000000000, found 999"),
        (["--effect", "0.1", "--n", "9", "--cheating", "sometimes"], "sometimes"),
        (["--effect", "0.1", "--n", "9", "--cheaters", "1"], "below 1"),
        (["--effect", "0.1", "--n", "9", "--studies", "1"], "--studies"),
    ],
)
def test_an_impossible_diagnosis_is_refused_in_one_line(options, complaint):
    assert complaint in refused("diagnose", "--design", "design.json", *options)


def test_ways_that_do_not_exist_are_named():
    with pytest.raises(library.MethodError, match="expected one of none, always_no"):
        library.diagnose(DESIGN, n=9, effects=0.1, cheating=["sometimes"])
    with pytest.raises(library.MethodError, match="found none"):
        library.diagnose(DESIGN, n=9, effects=0.1, leaving=[])
    with pytest.raises(library.MethodError, match="there is no treatment arm 'drug'"):
        library.diagnose(DESIGN, n=9, effects={"drug": 0.1})


def test_an_interrupted_diagnosis_goes_on_from_its_file_and_finds_the_same(monkeypatch, tmp_path):
    file, simulated, tally = tmp_path / "kept.json", [], Plan.tally

    def until_the_third(plan, setting, part, size):
        if len(simulated) == 3:
            raise KeyboardInterrupt
        simulated.append(setting)
        return tally(plan, setting, part, size)

    asked = {"n": 500, "effects": 0.2, "studies": 50, "leaving": ["none"], "resume": file}
    monkeypatch.setattr(Plan, "tally", until_the_third)
    with pytest.raises(KeyboardInterrupt):
        library.diagnose(DESIGN, **asked)
    monkeypatch.setattr(Plan, "tally", lambda *given: simulated.append(given[1]) or tally(*given))
    advanced = []
    found = library.diagnose(DESIGN, **asked, progress=advanced.append)
    assert simulated == list(range(7))  # nothing twice
    assert sum(advanced) == 7 * 50
    monkeypatch.undo()
    assert found.to_dict() == library.diagnose(DESIGN, **asked | {"resume": None}, seed=found.plan.seed).to_dict()


def test_a_file_of_something_else_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "design.json").write_text(json.dumps(DESIGN))
    first, again = (candor(*ASKED, "--resume", "kept.json").stdout for _ in range(2))
    assert first == again != ""
    assert [path.name for path in tmp_path.glob("kept*")] == ["kept.json"]
    kept = json.loads((tmp_path / "kept.json").read_text())
    for done in (-1, kept["done"] + 1):
        (tmp_path / "kept.json").write_text(json.dumps(kept | {"done": done}))
        assert f"expected 0 to {kept['done']} parts, found {done}" in refused(*ASKED, "--resume", "kept.json")
    other = ("diagnose", "--design", "design.json", "--n", "600", "--effect", "0.2", "--studies", "50", "--resume", "kept.json")
    assert "another diagnosis was begun there; what differs: expected" in refused(*other)
    for broken in ("", "[]", '{"plan": {}, "seed": 1, "done": 0, "tallies": {"0": {}}}'):
        (tmp_path / "kept.json").write_text(broken)
        assert "expected a file of an unfinished diagnosis" in refused(*other)
