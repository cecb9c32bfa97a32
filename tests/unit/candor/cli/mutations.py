"""Files that were written by hand, or by somebody who wants to break a program: a right file, changed in a few places by chance."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.5, -0.0, 1e308, 1e-320, float("nan"), float("inf"), 10**30, 10**400, -(10**400), 10**5000),
    *("", "0", "1", "1/0", "7/6", "nan", "1e400", "１", "½", "\0", "\ud800", "🎲", "x" * 5000, "*", "=1+1", "\n", "\u202e", "1,5", "[1,2]"),
    *("arm", "control", "yes", "any", "unknown", "always_no", [], {}, [[]], [None], {"": ""}, {"a": 1}, ["a", "a"], [1, 2]),
)
"""Put in the place of any other."""
CELLS = (
    "",
    "0",
    "1",
    "2",
    "-1",
    "NA",
    "inf",
    "1e308",
    "1e-320",
    "1e400",
    "yes",
    "maybe",
    "control",
    "'",
    '"',
    "\0",
    "１",
    "1,5",
    "x" * 3000,
)
NAMES = ("", "zz", "\0", "arm", "children", "x" * 2000)


def changed_document(document: Any, chance: Random) -> str:
    """A JSON text with one to four changes."""
    whole = [deepcopy(document)]
    for _ in range(chance.choice((1, 1, 2, 4))):
        parent, key = chance.choice(list(_places(whole)))
        act = chance.random()
        if act < 0.5 or parent is whole:
            parent[key] = deepcopy(chance.choice(VALUES))
        elif act < 0.7:
            del parent[key]
        elif act < 0.8 and isinstance(parent, dict):
            parent[chance.choice(NAMES)] = parent.pop(key)
        elif act < 0.9 and isinstance(parent, list):
            parent.append(deepcopy(parent[key]))
        else:
            other, name = chance.choice(list(_places(whole)))
            parent[key] = deepcopy(other[name])
    return _written(whole[0])


def _places(part: Any) -> Any:
    """All containers below one, with the keys of what they hold."""
    for key in part if isinstance(part, dict) else range(len(part)):
        yield part, key
        if isinstance(part[key], dict | list):
            yield from _places(part[key])


def _written(document: Any) -> str:
    """JSON, with numbers of more digits than Python writes by itself."""
    with suppress(ValueError):
        return json.dumps(document)
    if isinstance(document, dict):
        return f"{{{', '.join(f'{json.dumps(str(name))}: {_written(value)}' for name, value in document.items())}}}"
    if isinstance(document, list):
        return f"[{', '.join(map(_written, document))}]"
    return "1" + "0" * 5000


def changed_table(text: str, chance: Random) -> str:
    """A CSV text with one to four changes."""
    rows = [line.split(",") for line in text.rstrip("\n").split("\n")]
    for _ in range(chance.choice((1, 1, 2, 4))):
        row = chance.choice(rows)
        at = chance.randrange(len(row)) if row else 0
        act = chance.random()
        if act < 0.3 and row:
            row[at] = chance.choice(CELLS)
        elif act < 0.5 and row:
            cell = chance.choice(CELLS)
            for other in rows[1:]:
                other[at : at + 1] = [cell]
        elif act < 0.6:
            del row[at:]
        elif act < 0.7:
            row.append("9")
        elif act < 0.8 and len(rows) > 1:
            rows.remove(row)
        elif act < 0.9:
            rows = rows[: chance.randint(1, 12)]
        elif rows[0]:
            rows[0][chance.randrange(len(rows[0]))] = chance.choice((*CELLS, *NAMES))
    return "\n".join(map(",".join, rows)) + "\n"
