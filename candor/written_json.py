"""JSON as it is read everywhere in the library: a name that stands twice in one object is refused.

Programs differ in which of two values of one name they take, and most say nothing: two readers of one file would see two documents.

>>> json_in(b'{"n": 320}')
{'n': 320}
>>> json_in('{"n": 320, "n": 32}')
Traceback (most recent call last):
ValueError: the name 'n' stands twice in one object
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} stands twice in one object")
        found[name] = value
    return found


json_in = partial(json.loads, object_pairs_hook=_once)
"""The document in a text, or in bytes in UTF-8 with or without a byte order mark. Raises ValueError for what is none."""
