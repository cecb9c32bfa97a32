"""The sentences of participants' pages that promise something: they are read with more care than others."""

import re
from collections.abc import Iterable

ABOUT_PRIVACY = re.compile(
    r"\b(answers?|die|dice|codes?|stored?|sent|sends?|deleted|removed?|withdraw\w*|taken? (?:your|my|their)? ?(?:data )?out|data|private|"
    r"privacy|protect\w*|nobody|never|published?|name|fingerprint|noise|keep|kept|cookies?|consent|agree\w*|rolls?|gives? away|"
    r"tells? (?:a little )?more|passes through|one person|shoulder|bad luck|course credit|day on which|forgets|computed on your|"
    r"could tell who|take part twice|fastest computer)\b",
    re.IGNORECASE,
)


def privacy_sentences(words: Iterable[str]) -> list[str]:
    """Promises to participants: all that speaks of answers, the die, codes, or of what is stored, sent, seen and published."""
    return [one for one in words if len(one.split()) > 4 and ABOUT_PRIVACY.search(one)]
