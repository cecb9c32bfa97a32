"""``candor difficulties``: what it prints, what it refuses, and that nothing is printed of what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.unit.candor.cli.running import candor, refused
from tests.unit.candor.rasch.quizzes import lsat6, simulated


def quiz_file(table=None, *, path="quiz.csv", omissions=False):
    rng = np.random.default_rng(1)
    table = simulated(rng, abilities=rng.normal(size=3000), difficulties=np.linspace(-1, 1, 4)) if table is None else table
    items = [f"q{place}" for place in range(1, table.shape[1] + 1)]
    rows = [
        [f"s{person}", *("" if omissions and (person + place) % 9 == 0 else f"{answer:.0f}" for place, answer in enumerate(row))]
        for person, row in enumerate(table)
    ]
    Path(path).write_text("\n".join(",".join(row) for row in [["student", *items], *rows]) + "\n")
    return path


def released(*arguments):
    result = candor("difficulties", *arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("arguments", "mechanism"),
    [
        (["--delta", "1e-5"], "totals_and_scores"),
        ([], "pure_totals_and_scores"),
        (["--omitted", "not_given"], "right_and_answered"),
        (["--mechanism", "pairs", "--sparse"], "pairs"),
    ],
)
def test_the_arguments_choose_the_mechanism(arguments, mechanism):
    found = released(quiz_file(omissions=True), "--epsilon", "2", *arguments)
    assert found["mechanism"] == mechanism
    assert [item["item"] for item in found["items"]] == ["q1", "q2", "q3", "q4"]
    assert sum(item["difficulty"] for item in found["items"]) == pytest.approx(0, abs=1e-9)
    assert found["items"][0]["difficulty"] < found["items"][3]["difficulty"]


def test_the_text_says_what_it_costs():
    said = candor("difficulties", quiz_file(), "--epsilon", "1", "--delta", "1e-5").stdout
    assert "95 % interval" in said
    assert "Abilities (estimated): mean" in said
    assert "ε = 1 at δ = 1e-05. Neighbours: one student's whole row replaced, 3000 students." in said


def test_exact_difficulties_are_marked_for_staff_alone():
    said = candor("difficulties", quiz_file(lsat6()), "--exact", "conditional_likelihood").stdout
    assert "q3         1.236           0.069    553      1000" in said
    assert said.endswith("Without noise: for staff alone, not for publication.\n")


def test_a_release_that_would_be_noise_is_refused_until_somebody_insists():
    path = quiz_file(lsat6()[:62])
    said = refused("difficulties", path, "--epsilon", "0.5")
    assert "This would be noise. With 62 people and 5 items" in said
    assert "Nothing was spent; --although-noise goes on." in said
    assert candor("difficulties", path, "--epsilon", "0.5", "--although-noise").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say either --epsilon (with noise) or --exact"),
        (["--epsilon", "1", "--exact", "spectral"], "say either --epsilon (with noise) or --exact"),
        (["--epsilon", "11"], "ε must be above 0 and at most 10, found 11"),
        (["--epsilon", "0"], "ε must be above 0 and at most 10, found 0"),
        (["--epsilon", "1", "--delta", "0.01"], "δ must be above 0 and below 1/(10·3000)"),
        (["--epsilon", "1", "--mechanism", "right_and_answered"], "does not fit the rule that an omitted answer is wrong"),
        (["--epsilon", "1", "--student", "key"], "expected a column 'key', found student, q1"),
    ],
)
def test_wrong_options_are_refused(arguments, said):
    assert said in refused("difficulties", quiz_file(), *arguments)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("q2", "q1", 1), "line 1 names the column 'q1' twice"),
        (lambda text: text.replace("student", "", 1), "line 1, column 1: expected a name"),
        (lambda text: text.replace("student", "name", 1), "line 1: expected a column 'student', found name, q1"),
        (lambda text: text.replace("\ns7,", "\ns3,", 1), "line 9, column 'student': expected a key of its own, found 's3' again"),
        (lambda text: text.replace("\ns7,", "\n ,", 1), "line 9, column 'student': expected a key of its own, found ''"),
        (
            lambda text: text.replace("\ns7,1", "\ns7,0", 1).replace("\ns7,0", "\ns7,2", 1),
            "line 9, column 'q1': expected 0, 1 or nothing, found '2'",
        ),
        (lambda text: text.replace("\ns2999,", "\ns2999,=1+1,", 1), "line 3001: expected 5 columns, found 6"),
        (lambda text: text.replace("\ns5,", "\ns5\n", 1), "line 7: expected 5 columns, found 1"),
        (lambda text: "\n".join(text.splitlines()[:11]), "needed at least 20, found 10"),
        (lambda text: "student,q1\n" + "\n".join(f"{k},1" for k in range(30)), "2 to 200 items, found 1"),
        (lambda text: "", "line 1"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(change, said):
    path = Path(quiz_file())
    path.write_text(change(path.read_text()))
    assert said in refused("difficulties", str(path), "--epsilon", "1")


def test_a_file_in_latin_1_is_refused():
    path = Path(quiz_file())
    path.write_bytes(path.read_bytes().replace(b"s7", "sé".encode("latin-1"), 1))
    assert "not a text file in UTF-8" in refused("difficulties", str(path), "--epsilon", "1")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_harmless_spellings_give_the_same_numbers(delimiter):
    expected = candor("difficulties", quiz_file(), "--exact", "spectral").stdout
    text = Path("quiz.csv").read_text().replace(",", delimiter).replace("\n", "\r\n").replace("student", '"student"')
    Path("other.csv").write_text("\ufeff" + text, newline="")
    assert candor("difficulties", "other.csv", "--exact", "spectral").stdout == expected
