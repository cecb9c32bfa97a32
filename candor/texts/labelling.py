"""One student's texts of one week become labels: at most so many topics, each with one affect. Nothing else of the texts is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from importlib import import_module
from typing import Protocol

from candor.errors import DataError, needing
from candor.texts.word_lists import WordList

# The lexicon's authors' own thresholds on its compound score (Hutto and Gilbert 2014).
CLEARLY = 0.05
LANGUAGES = ("en",)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


class Affect(IntEnum):
    """How a student writes about a topic: exclusive, so that one student counts in one cell of the topic."""

    POSITIVE = 0
    NEGATIVE = 1
    NONE = 2


def labels(texts: Sequence[str], *, words: WordList, cap: int, language: str = "en") -> dict[str, Affect]:
    """Topics and affect of one student in one week.

    Parameters
    ----------
    texts : sequence of str
        All that the student wrote in the week.
    words : WordList
        The public topics.
    cap : int
        At most so many topics, the most mentioned ones; ties in the list's order. The noise is calibrated to it.
    language : str
        Of the texts: ``"en"``, the lexicon's own.

    Returns
    -------
    dict
        Affect by topic: the mean compound score of the sentences that mention the topic, positive from .05, negative to −.05, else none.

    Raises
    ------
    DataError
        The cap is below 1, or the language is not English.
    """
    if cap < 1:
        raise DataError(f"the cap is a whole number of at least 1: got {cap!r}")
    if language not in LANGUAGES:
        raise DataError(f"affect is read by an English lexicon: texts in {language!r} cannot be labelled")
    sentences = [(words.mentions(sentence), sentence) for text in texts for sentence in SENTENCE_END.split(text)]
    total = {topic: sum(mentions.get(topic, 0) for mentions, _ in sentences) for topic in words.names}
    chosen = sorted((topic for topic in words.names if total[topic]), key=lambda topic: -total[topic])[:cap]
    return {topic: _affect([sentence for mentions, sentence in sentences if topic in mentions]) for topic in chosen}


class Lexicon(Protocol):
    """The part of VADER that is used here."""

    def polarity_scores(self, text: str) -> Mapping[str, float]: ...


def _affect(sentences: Sequence[str]) -> Affect:
    mean = sum(_lexicon().polarity_scores(sentence)["compound"] for sentence in sentences) / len(sentences)
    return Affect.POSITIVE if mean >= CLEARLY else Affect.NEGATIVE if mean <= -CLEARLY else Affect.NONE


@lru_cache(maxsize=1)
def _lexicon() -> Lexicon:
    with needing("texts"):
        lexicon: Lexicon = import_module("vaderSentiment.vaderSentiment").SentimentIntensityAnalyzer()
    return lexicon
