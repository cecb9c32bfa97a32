"""A public list of topics and the words that tell them, fixed before any text is read: topics mined from texts would leak them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from candor.errors import DataError, what_came

MOST_TOPICS = 100


@dataclass(frozen=True)
class WordList:
    """Topics in their order, each with its words or short phrases.

    Parameters
    ----------
    topics : mapping from str to sequence of str
        Words are compared without regard to case, as whole words; a phrase is words with one space between them.

    Raises
    ------
    DataError
        No topic or more than 100, two of one name, a topic without words, an empty word, or a word that tells two topics.

    Examples
    --------
    >>> WordList.of({"recursion": ["recursion", "base case"], "exam": ["exam"]}).mentions("No base case? Recursion never ends.")
    {'recursion': 2}
    """

    topics: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, topics: Mapping[str, Sequence[str]]) -> WordList:
        """Check the words and fix their order."""
        if not 1 <= len(topics) <= MOST_TOPICS:
            raise DataError(f"a word list has 1 to {MOST_TOPICS} topics: got {len(topics)}")
        home: dict[str, str] = {}
        read: dict[str, tuple[str, ...]] = {}
        for name, words in topics.items():
            topic = str(name)
            if topic in read:
                raise DataError(f"two topics are called {topic!r}: leave one of them")
            if not isinstance(words, list | tuple) or not words:
                raise DataError(f"topic {topic!r} needs a list of at least one word: got {what_came(words)}")
            if any(isinstance(word, Sequence | Mapping) and not isinstance(word, str) for word in words):  # a short file may nest endlessly
                raise DataError(f"topic {topic!r} needs a list of words: got a list with lists in it")
            plain = tuple(" ".join(str(word).casefold().split()) for word in words)
            for word in plain:
                if not word:
                    raise DataError(f"topic {topic!r} has an empty word")
                if home.setdefault(word, topic) != topic:
                    raise DataError(f"the word {word!r} tells two topics, {home[word]!r} and {topic!r}: leave it in one of them")
            read[topic] = plain
        return cls(tuple(read.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The topics in their order."""
        return tuple(topic for topic, _ in self.topics)

    @cached_property
    def _home(self) -> dict[str, str]:
        return {word: topic for topic, words in self.topics for word in words}

    @cached_property
    def _any_word(self) -> re.Pattern[str]:
        longest_first = sorted(self._home, key=lambda word: (-len(word), word))
        return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first) + r")(?!\w)")

    def mentions(self, text: str) -> dict[str, int]:
        """How often each topic is mentioned, topics without a mention left out."""
        found: dict[str, int] = {}
        for match in self._any_word.finditer(text.casefold()):
            topic = self._home[" ".join(match.group().split())]
            found[topic] = found.get(topic, 0) + 1
        return found
