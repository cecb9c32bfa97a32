"""JSON as it is read everywhere in the library, without what two readers would read in two ways or no program could write.

A name that stands twice in one object is refused, and so are half of a character and a number without end.
Programs differ in which of two values of one name they take, and most say nothing: two readers of one file would see two documents.

>>> json_in(b'{"n": 320}')
{'n': 320}
>>> json_in('{"n": 320, "n": 32}')
Traceback (most recent call last):
ValueError: the name 'n' stands twice in one object
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial

_SPACE = re.compile(r"[ \t\n\r]*")


class _Strict(json.JSONDecoder):
    def __init__(self) -> None:
        super().__init__(object_pairs_hook=_once, parse_float=_finite, parse_constant=_finite)

    def decode(self, s: str, _w: Callable[..., object] = _SPACE.match) -> object:
        try:
            found: object = super().decode(s)
            json.dumps(found, ensure_ascii=False).encode()
        except RecursionError:
            raise ValueError("lists and objects stand too deep in each other") from None
        except UnicodeEncodeError:  # an escape such as \ud800 alone
            raise ValueError("a text holds half of a character") from None
        return found


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written[:20]} is too large or no number")
    return number


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} stands twice in one object")
        found[name] = value
    return found


json_in = partial(json.loads, cls=_Strict)
"""The document in a text, or in bytes in UTF-8 with or without a byte order mark. Raises ValueError for what is none."""
