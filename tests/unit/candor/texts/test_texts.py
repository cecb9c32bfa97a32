"""Labels of texts: public words, one affect per topic, a cap, and nothing of the text kept."""

from typing import Any

import pytest

from candor.errors import DataError
from candor.texts import labelling
from candor.texts.labelling import Affect, labels
from candor.texts.topic_table.release import private_topic_tables, topic_tables
from candor.texts.word_lists import WordList

WORDS = WordList.of({"recursion": ["recursion", "base case"], "exam": ["exam", "tests"], "loops": ["loop", "c++"]})


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Recursion! RECURSION? recursion.", {"recursion": 3}),
        ("a base\n case", {"recursion": 1}),
        ("recursions examine testsuite", {}),
        ("c++ loops? One loop in C++.", {"loops": 3}),
        ("", {}),
        ("exam, (tests) and base case", {"exam": 2, "recursion": 1}),
    ],
)
def test_whole_words_count_whatever_their_case(text: str, mentions: dict[str, int]) -> None:
    assert WORDS.mentions(text) == mentions


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ({}, "1 to 100 topics: got 0"),
        ({str(number): ["a"] for number in range(101)}, "got 101"),
        ({"a": []}, "at least one word"),
        ({"a": "word"}, "a list"),
        ({"a": [" "]}, "empty word"),
        ({"a": ["Loop"], "b": ["loop "]}, "tells two topics, 'a' and 'b'"),
        ({"a": ["while", ["Loop"]]}, "topic 'a' needs a list of words: got a list with lists in it"),
        ({1: ["one"], "1": ["eins"]}, "two topics are called '1'"),
        ({"a": [{"loop": "while"}]}, "topic 'a' needs a list of words"),
    ],
)
def test_a_list_that_cannot_work_is_refused(topics: dict[Any, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        WordList.of(topics)


def test_each_topic_has_the_affect_of_its_own_sentences() -> None:
    found = labels(["I love recursion. The exam was horrible.", "A loop is a loop."], words=WORDS, cap=3)
    assert found == {"loops": Affect.NONE, "recursion": Affect.POSITIVE, "exam": Affect.NEGATIVE}


@pytest.mark.parametrize(
    ("scores", "affect"),
    [
        ([0.05], Affect.POSITIVE),
        ([0.049], Affect.NONE),
        ([-0.05], Affect.NEGATIVE),
        ([-0.049], Affect.NONE),
        ([0.6, 0, 0, -0.3], Affect.POSITIVE),
        ([0.6, 0, 0, -0.5], Affect.NONE),
    ],
)
def test_the_affect_is_that_of_the_mean_score_from_five_hundredths_on(
    scores: list[float], affect: Affect, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Told:
        def polarity_scores(self, text: str) -> dict[str, float]:
            return {"compound": scores[int(text[-2])]}

    monkeypatch.setattr(labelling, "_lexicon", Told)
    assert labels([f"loop {place}." for place in range(len(scores))], words=WORDS, cap=1) == {"loops": affect}


def test_the_cap_keeps_the_most_mentioned_topics_and_ties_follow_the_list() -> None:
    text = "loop loop exam recursion"
    assert list(labels([text], words=WORDS, cap=1)) == ["loops"]
    assert list(labels([text], words=WORDS, cap=2)) == ["loops", "recursion"]


def test_other_languages_and_no_cap_are_refused() -> None:
    with pytest.raises(DataError, match="English"):
        labels(["Rekursion"], words=WORDS, cap=1, language="de")
    with pytest.raises(DataError, match="at least 1"):
        labels(["loop"], words=WORDS, cap=0)


@pytest.mark.parametrize(
    ("table", "said"),
    [([[[0, 1, 2]]], "at most 2 topics"), ([[[0, 3, -1]]], "from -1 to 2"), ([[0, 1, -1]], "shape"), ([[[0.0, 1, 2]]], "float64")],
)
def test_labels_beyond_what_was_declared_are_refused(table: list[object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        topic_tables(table, topics=3, cap=2)


def test_twice_as_many_weeks_or_topics_of_one_student_cost_twice_the_noise() -> None:
    def noise(weeks: int, cap: int) -> float:
        tables = topic_tables([[[0, -1]] * weeks], topics=2, cap=cap)
        return private_topic_tables(tables, cap=cap, rho=0.5).noise_sd ** 2

    assert noise(2, 1) == pytest.approx(2 * noise(1, 1)) == pytest.approx(noise(1, 2))
