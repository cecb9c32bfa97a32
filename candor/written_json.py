"""JSON as it is read everywhere in the library: a name that stands twice in one object is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def json_in(text: str | bytes) -> Any:
    """The document in a text, or in bytes in UTF-8 with or without a byte order mark.

    Programs differ in which of two values of one name they take, and most say nothing: two readers of one file would see two documents.

    Raises
    ------
    ValueError
        It is no JSON document, is nested without end, or has a name twice in one object.

    Examples
    --------
    >>> json_in('{"n": 320}')
    {'n': 320}
    >>> json_in('{"n": 320, "n": 32}')
    Traceback (most recent call last):
    ValueError: the name 'n' stands twice in one object
    """
    try:
        return json.loads(text.decode("utf-8-sig") if isinstance(text, bytes) else text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} stands twice in one object")
        found[name] = value
    return found
