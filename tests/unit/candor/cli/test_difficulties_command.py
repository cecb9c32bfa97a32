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
    ("arguments", "method", "mechanism"),
    [
        (["--delta", "1e-5"], "sufficient_statistics", "discrete Gaussian noise on totals of items and counts of scores"),
        ([], "sufficient_statistics", "cube noise on totals of items, discrete Laplace noise on counts of scores"),
        (["--delta", "1e-5", "--noise", "cube"], "sufficient_statistics", "cube noise on totals"),
        (["--delta", "1e-5", "--omitted", "not_given"], "sufficient_statistics", "right and given answers"),
        (["--delta", "1e-5", "--method", "private_spectral", "--sparse"], "private_spectral", "counts of pairs"),
        (["--method", "objective_perturbation"], "objective_perturbation", "noise in the conditional likelihood"),
        (["--method", "noisy_totals"], "noisy_totals", "scores of people and totals of items"),
        (["--method", "randomized_response", "--epsilon", "10"], "randomized_response", "randomised response"),
    ],
)
def test_the_arguments_choose_the_method(arguments, method, mechanism):
    found = released(quiz_file(omissions=True), "--epsilon", "2", *arguments)
    assert found["method"] == method
    assert mechanism in found["privacy"]["mechanism"]
    pure = "--delta" not in arguments or "cube" in arguments
    assert found["privacy"]["delta"] == (0 if pure else 1e-5)
    assert found["privacy"]["epsilon"] == pytest.approx(10 if "--epsilon" in arguments else 2, rel=1e-3)
    assert set(found["privacy"]) == {"epsilon", "delta", "rho", "mechanism", "neighbours"}
    assert [item["item"] for item in found["items"]] == ["q1", "q2", "q3", "q4"]
    assert sum(item["difficulty"] for item in found["items"]) == pytest.approx(0, abs=0.002 if method == "objective_perturbation" else 1e-9)
    assert found["items"][0]["difficulty"] < found["items"][3]["difficulty"]


def test_the_text_says_what_it_costs():
    said = candor("difficulties", quiz_file(), "--epsilon", "1", "--delta", "1e-5").stdout
    assert "Abilities (estimated): mean" in said
    assert "It costs a student ε = 1 at δ = 1e-05 (discrete Gaussian noise on totals of items and counts of scores)." in said
    assert "the number of students is public (3000)." in said


def test_exact_difficulties_are_marked_for_staff_alone():
    said = candor("difficulties", quiz_file(lsat6())).stdout
    assert "q3         1.236               0.069" in said
    assert said.endswith("Without noise: for staff alone, not for publication.\n")
    exact = released(quiz_file(lsat6()))
    assert (exact["method"], exact["privacy"]) == ("conditional_ml", None)
    assert exact["notes"] == ["without noise: for staff alone, not for publication"]


@pytest.mark.parametrize(
    "options", [("--noise", "cube"), *(("--method", one) for one in ("objective_perturbation", "noisy_totals", "randomized_response"))]
)
def test_pure_noise_takes_a_delta_and_spends_none(options):
    found = released(quiz_file(), "--epsilon", "1", "--delta", "1e-5", *options)
    assert (found["privacy"]["epsilon"], found["privacy"]["delta"]) == (pytest.approx(1), 0)
    assert found["notes"][-1] == "the noise keeps pure ε, and spends no δ"


def test_a_release_that_would_be_noise_is_refused_until_somebody_insists():
    path = quiz_file(lsat6()[:62])
    said = refused("difficulties", path, "--epsilon", "0.5")
    assert "This would be noise. With 62 people and 5 items" in said
    assert "Nothing was spent; --although-noise goes on." in said
    assert candor("difficulties", path, "--epsilon", "0.5", "--although-noise").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "noisy_totals"], "--method noisy_totals needs --epsilon"),
        (["--epsilon", "1", "--method", "spectral"], "--method spectral takes no --epsilon"),
        (["--delta", "1e-5"], "--delta needs --epsilon: without it there is no noise, and nothing is private"),
        (["--noise", "cube"], "--noise needs --epsilon"),
        (["--method", "noisy_totals", "--epsilon", "1", "--noise", "gaussian"], "--method noisy_totals takes no --noise"),
        (["--epsilon", "1", "--sparse"], "--method sufficient_statistics takes no --sparse"),
        (["--method", "conditional_ml", "--although-noise"], "--although-noise needs --epsilon"),
        (["--epsilon", "1", "--method", "private_spectral"], "noise on counts of pairs of items needs --delta"),
        (["--epsilon", "1", "--noise", "gaussian"], "needs --delta"),
        (["--epsilon", "1", "--delta", "1e-5", "--omitted", "not_given", "--noise", "cube"], "in which an omission is wrong"),
        (["--epsilon", "1", "--method", "noisy_totals", "--omitted", "not_given"], "needs complete rows"),
        (["--epsilon", "11"], "ε must be above 0 and at most 10, found 11"),
        (["--epsilon", "0"], "ε must be above 0 and at most 10, found 0"),
        (["--epsilon", "1", "--delta", "0.01"], "δ must be above 0 and below 1/(10·3000)"),
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
        (
            lambda text: text.replace("student", "name", 1),
            "line 2, column 'name': expected 0, 1, no, yes, false, true or nothing, found 's0'",
        ),
        (lambda text: text.replace("\ns7,", "\ns3,", 1), "line 9, column 'student': expected a key of its own, found 's3' again"),
        (lambda text: text.replace("\ns7,", "\n ,", 1), "line 9, column 'student': expected a key of its own, found nothing"),
        (
            lambda text: text.replace("\ns7,1", "\ns7,0", 1).replace("\ns7,0", "\ns7,2", 1),
            "line 9, column 'q1': expected 0, 1, no, yes, false, true or nothing, found '2'",
        ),
        (lambda text: text.replace("\ns2999,", "\ns2999,=1+1,", 1), "line 3001: expected 5 columns, found 6"),
        (lambda text: text.replace("\ns5,", "\ns5\n", 1), "line 7: expected 5 columns, found 1"),
        (lambda text: "\n".join(text.splitlines()[:11]), "quiz.csv: too few answers in the quiz: needed at least 20, found 10"),
        (lambda text: "student,q1\n" + "\n".join(f"{k},1" for k in range(30)), "2 to 200 items, found 1"),
        (lambda text: "", "2 to 200 items, found 0"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(change, said):
    path = Path(quiz_file())
    path.write_text(change(path.read_text()))
    assert said in refused("difficulties", str(path), "--epsilon", "1")


def test_a_file_in_latin_1_is_refused():
    path = Path(quiz_file())
    path.write_bytes(path.read_bytes().replace(b"s7", "sé".encode("latin-1"), 1))
    assert refused("difficulties", str(path), "--epsilon", "1").startswith("Error: quiz.csv: not a text file in UTF-8"), "and no line"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_harmless_spellings_give_the_same_numbers(delimiter):
    expected = candor("difficulties", quiz_file(), "--method", "spectral").stdout
    text = Path("quiz.csv").read_text().replace(",", delimiter).replace("\n", "\r\n").replace("student", '"student"')
    Path("other.csv").write_text("\ufeff" + text.replace("s7", "\r\ns7", 1), newline="")
    assert candor("difficulties", "other.csv", "--method", "spectral").stdout == expected
    Path("keys.csv").write_text(text.replace("student", "key"), newline="")
    assert candor("difficulties", "keys.csv", "--student", "key", "--method", "spectral").stdout == expected


def test_answers_may_be_written_in_words_and_without_keys():
    expected = candor("difficulties", quiz_file()).stdout
    rows = [line.split(",")[1:] for line in Path("quiz.csv").read_text().splitlines()]
    words = {"0": "no", "1": "TRUE"}
    Path("words.csv").write_text("\n".join(",".join(words.get(cell, cell) for cell in row) for row in rows))
    assert candor("difficulties", "words.csv").stdout == expected


@pytest.mark.usefixtures("limit_of_a_cell")
def test_a_cell_without_end_is_refused():
    Path("quiz.csv").write_text("q1,q2\n0,1\n0," + "x" * 200_000 + "\n")
    assert "quiz.csv: line 3: not a CSV file: field larger than field limit" in refused("difficulties", "quiz.csv")
    Path("quiz.csv").write_text("x" * 200_000 + ",q2\n" + "1,0\n" * 30)
    assert "quiz.csv: line 1: not a CSV file: field larger than field limit" in refused("difficulties", "quiz.csv")


@pytest.mark.parametrize("method", ["randomized_response", "noisy_totals"])
def test_a_loss_whose_noise_no_number_holds_is_refused(method):
    arguments = ("difficulties", quiz_file(), "--method", method, "--epsilon")
    assert "ε must be at least 1e-09, found 1e-300" in refused(*arguments, "1e-300")
    assert candor(*arguments, "1e-9").exit_code == 0


def test_noise_that_would_fill_the_memory_is_refused():
    arguments = ("difficulties", quiz_file(), "--although-noise", "--epsilon")
    assert "this ε asks for noise that is too large to draw: expected at least " in refused(*arguments, "1e-9")
    assert candor(*arguments, "0.02").exit_code == 0
