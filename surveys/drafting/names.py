"""Names in the data, made from people's texts, and kept while the texts are polished."""

import re
import unicodedata
from collections.abc import Collection, Sequence

LONGEST = 40
_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "œ": "oe"})


def name_from(text: str, *, taken: Collection[str] = (), between: str = "_", otherwise: str = "item") -> str:
    """A name like `in_which_year` for a text, different from those already used."""
    plain = unicodedata.normalize("NFKD", text.lower().translate(_LETTERS)).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain)
    while len(words) > 1 and len(between.join(words)) > LONGEST:
        words.pop()
    name = between.join(words)[:LONGEST] or otherwise
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name}{between}{number}", number + 1
    return unique


def kept_names(texts: Sequence[str], before: Sequence[tuple[str, str]]) -> list[str]:
    """Names for a list of texts: an unchanged text keeps its name wherever it moves; a changed one takes its place's name when the list's
    length is the same.

    `before`: names and texts of the earlier list.
    """
    by_text = {text: name for name, text in before}
    names = [by_text.pop(text, "") for text in texts]
    if len(texts) == len(before):
        names = [name or (old if old not in names else "") for name, (old, _text) in zip(names, before, strict=True)]
    for index, name in enumerate(names):
        names[index] = name or name_from(texts[index], taken={*names, *(old for old, _text in before)}, otherwise="option")
    return names
