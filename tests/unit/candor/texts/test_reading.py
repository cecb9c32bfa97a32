"""Reading a file of texts: all of it or nothing, the place of a mistake named, and students in an order that tells nothing."""

from __future__ import annotations

import csv
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from candor.cli.analytics.topics import _words
from candor.cli.group import InputError
from candor.errors import DataError
from candor.texts.reading import read_labels
from candor.texts.word_lists import WordList
from tests.unit.candor.cli.running import candor, refused

WORDS = WordList.of({"recursion": ["recursion"], "exam": ["exam"]})
HEAD = "student,week,text\n"


def read(text: str) -> np.ndarray:
    return read_labels(text.splitlines(keepends=True), words=WORDS, weeks=2, cap=2)


def test_a_week_of_one_student_counts_once_however_many_texts() -> None:
    table = read(HEAD + 's1,1,"I love recursion"\ns2,2,exam\ns1\u200b,1,"Recursion\n\nis great, recursion"\n')
    assert sorted(table.reshape(2, -1).tolist()) == [[-1, -1, -1, 2], [0, -1, -1, -1]]


@pytest.mark.parametrize("mark", [";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_semicolons_and_tabs_set_columns_apart_as_well(mark: str, end: str) -> None:
    written = (HEAD + 's1,1,"I love, oh, recursion"\n').replace(",", mark).replace("\n", end)
    assert read(written.replace(f"I love{mark} oh{mark}", "I love, oh, ")).tolist() == [[[0, -1], [-1, -1]]]


def test_the_order_of_students_is_drawn() -> None:
    text = HEAD + "".join(f"s{number},{1 + (number < 10)},exam\n" for number in range(20))
    orders = {tuple(read(text)[:, 0, 1].tolist()) for _ in range(10)}
    assert len(orders) > 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: expected one column 'student'"),
        ("week,text\n1,a\n", "line 1: expected one column 'student', found it not among week, text"),
        ("student,student,week,text\n", "'student', found it twice"),
        (HEAD + "s1,1,a\ns2,3,b\n", "line 3, column 'week': expected a whole number from 1 to 2, found '3'"),
        (HEAD + "s1,one,a\n", "found 'one'"),
        (HEAD + "s1,²,a\n", "found '²'"),
        (HEAD + " ,1,a\n", "line 2, column 'student'"),
        (HEAD + "s1,1\n", "line 2: expected at least 3 columns, found 2"),
        (HEAD + "s1,1,a\n\ns1,3,b\n", "line 4, column 'week'"),
        (HEAD + "s1,1," + "a" * 1_000_001 + "\n", "line 2: not a CSV file: field larger than field limit"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, said: str) -> None:
    limit = csv.field_size_limit()
    with pytest.raises(DataError, match=said):
        read(text)
    assert csv.field_size_limit() == limit, "the limit is that of all of the process"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    texts, words = tmp_path / "texts.csv", tmp_path / "words.yaml"
    texts.write_text("\ufeff" + HEAD + "".join(f"s{number},1,I love recursion\n" for number in range(400)))
    words.write_text("recursion: [recursion]\nexam: [exam]\n")
    return str(texts), str(words)


def test_the_command_prints_tables_and_what_they_cost(files: tuple[str, str]) -> None:
    texts, words = files
    result = candor("topics", texts, "--words", words, "--weeks", "2", "--cap", "1", "--epsilon", "4", "--format", "json")
    document = json.loads(result.stdout)
    assert abs(document["weeks"][0]["recursion"]["positive"] - 400) < 40
    assert document["loss"]["pure_epsilon"] == pytest.approx(4)
    shown = candor("topics", texts, "--words", words, "--weeks", "2", "--rho", "0.5").stdout
    assert "recursion" in shown
    assert "costs a student ρ = 0.5" in shown


def test_the_command_says_what_95_percent_of_the_noise_stays_within(files: tuple[str, str]) -> None:
    """Discrete Laplace noise of scale 4 with p = e^(−1/4): P(|Z| ≥ k) = 2pᵏ/(1 + p) is .056 at 12 and .044 at 13."""
    texts, words = files
    shown = candor("topics", texts, "--words", words, "--weeks", "2", "--cap", "1", "--epsilon", "1").stdout
    assert "The discrete Laplace noise moves 95 % of the counts by at most 12." in shown
    p = math.exp(-1 / 4)
    assert 2 * p**13 / (1 + p) < 0.05 < 2 * p**12 / (1 + p)


def test_a_short_word_file_that_stands_for_a_billion_words_is_refused_at_once(files: tuple[str, str], tmp_path: Path) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{one}: &{one} [{', '.join([f'*{before}'] * 10)}]" for before, one in itertools.pairwise("abcdefghij")]
    bomb = _written(tmp_path, "\n".join(lines))
    assert "aliases (*name) are not allowed" in refused("topics", files[0], "--words", str(bomb), "--weeks", "2", "--rho", "1")


def test_a_topic_that_stands_twice_is_refused_and_plain_words_stay_words(files: tuple[str, str], tmp_path: Path) -> None:
    """The last list would win, and the words of the first would count for nothing."""
    options = ("--weeks", "2", "--cap", "1", "--epsilon", "4", "--format", "json")
    for written in ("loops: [for]\nexam: [exam]\nloops: [while]\n", '{"loops": ["for"], "exam": ["exam"], "loops": ["while"]}'):
        said = refused("topics", files[0], "--words", str(_written(tmp_path, written)), *options)
        assert "the key 'loops' stands twice" in said
    words = _written(tmp_path, "no: [012, null, 1e3]\n012: [yes, 2024-01-31, ~]\n")
    document = json.loads(candor("topics", files[0], "--words", str(words), *options).stdout)
    assert list(document["weeks"][0]) == ["no", "012"]


def test_the_command_refuses_in_one_line(files: tuple[str, str], tmp_path: Path) -> None:
    texts, words = files
    latin = tmp_path / "latin.csv"
    for lines in (0, 10_000):  # a file is decoded in parts: no line is named that might be the wrong one
        latin.write_bytes((HEAD + "s1,1,a\n" * lines + "s1,1,gr\xfc\xdfe\n").encode("latin-1"))
        said = refused("topics", str(latin), "--words", words, "--weeks", "2", "--rho", "1")
        assert said.startswith(f"Error: {latin}: not a text file in UTF-8")
    empty = str(_written(tmp_path, "{}"))
    assert f"{empty}: a word list has 1 to 100 topics" in refused("topics", texts, "--words", empty, "--weeks", "2", "--rho", "1")
    assert "expected topics" in refused("topics", texts, "--words", str(_written(tmp_path, "[]")), "--weeks", "2", "--rho", "1")
    assert "above 0" in refused("topics", texts, "--words", words, "--weeks", "2", "--rho", "0")
    assert candor("topics", texts, "--words", words, "--weeks", "2").exit_code == 2


def _written(folder: Path, text: str) -> Path:
    path = folder / "other.yaml"
    path.write_text(text)
    return path


def test_words_of_a_file_are_those_that_were_written(tmp_path):
    """YAML 1.1 makes False of no, 10 of 012 and a date of 2024-01-31."""
    path = tmp_path / "words.yaml"
    path.write_text("no: [on, 012, null]\nexam: [2024-01-31, 1:30]\n")
    assert _words(path).topics == (("no", ("on", "012", "null")), ("exam", ("2024-01-31", "1:30")))


def test_a_week_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(DataError, match="line 2, column 'week': expected a whole number from 1 to 2, found '1"):
        read(HEAD + f"s1,{'1' * 5000},exam\n")


@pytest.mark.parametrize("words", [{"exam": 1}, "exam", 5, None, []])
def test_the_words_of_a_topic_are_a_list(words: object, tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    path.write_text(json.dumps({"exam": words}))
    with pytest.raises(InputError, match=f"{path}: topic 'exam' needs a list of at least one word"):
        _words(path)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--epsilon", "1e300"), "expected epsilon above 0 and at most 10, found 1e+300"),
        (("--epsilon", "1e-300"), "expected epsilon of at least 1e-09, found 1e-300"),
        (("--rho", "1e-300"), "expected rho of at least 5e-19, found 1e-300"),
        (("--epsilon", "1", "--cap", "1" + "0" * 400), "expected a whole number from 1 to 100"),
    ],
)
def test_a_loss_whose_noise_no_number_holds_is_refused(options: tuple[str, ...], what: str, tmp_path: Path) -> None:
    texts, words = tmp_path / "texts.csv", tmp_path / "words.json"
    texts.write_text(HEAD + "s1,1,exam\n")
    words.write_text(json.dumps({"exam": ["exam"]}))
    assert what in refused("topics", str(texts), "--words", str(words), "--weeks", "2", *options)
