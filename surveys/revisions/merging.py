"""Two changes of one document brought together: each is kept where the other left the document alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from surveys.drafting.edits import Difference, differences

ABSENT: object = object()
"""In place of a value that a version lacks."""


@dataclass(slots=True)
class Merge:
    """The merged document, and the places where both changes wanted something else. There the document has `theirs`."""

    document: object = None
    conflicts: list[Difference] = field(default_factory=list)


def merged(base: object, mine: object, theirs: object) -> Merge:
    """Both changes of `base`: one person made `mine` of it, another `theirs`.

    Dictionaries are merged key by key, lists of things with a name by these names. Every other list is one value.
    """
    merge = Merge()
    merge.document = _merge(merge, base, mine, theirs, "")
    return merge


def _merge(merge: Merge, base: object, mine: object, theirs: object, place: str) -> object:
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    base, mine, theirs = _in_same_languages(base, mine, theirs)
    if isinstance(base, Mapping) and isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        return _merge_keys(merge, base, mine, theirs, place)
    old, own, new = (_by_name(one) for one in (base, mine, theirs))
    if old is not None and own is not None and new is not None:
        found = _merge_keys(merge, old, own, new, place)
        return [found[name] for name in _order(list(old), list(own), list(new), list(found))]
    shown = [None if one is ABSENT else one for one in (mine, theirs)]
    where = [Difference(place=_joined(place, one.place), mine=one.mine, theirs=one.theirs) for one in differences(*shown)]
    merge.conflicts.extend(where or [Difference(place=place, mine="", theirs="")])
    return theirs


def _merge_keys(
    merge: Merge, base: Mapping[str, object], mine: Mapping[str, object], theirs: Mapping[str, object], place: str
) -> dict[str, object]:
    found = {
        key: _merge(merge, base.get(key, ABSENT), mine.get(key, ABSENT), theirs.get(key, ABSENT), _joined(place, key))
        for key in dict.fromkeys([*theirs, *mine])
    }
    return {key: value for key, value in found.items() if value is not ABSENT}


def _in_same_languages(*versions: object) -> list[object]:
    """A text that is the same in all languages stands there once; beside one with languages it is said in each of them."""
    codes = [code for one in versions if isinstance(one, Mapping) for code in one]
    return [dict.fromkeys(codes, one) if codes and isinstance(one, str) else one for one in versions]


def _by_name(value: object) -> dict[str, object] | None:
    """The items of a list by their names; None where one has none, and for everything else."""
    if isinstance(value, list) and all(isinstance(item, Mapping) and "name" in item for item in value):
        return {item["name"]: item for item in value}
    return None


def _order(base: list[str], mine: list[str], theirs: list[str], names: list[str]) -> list[str]:
    """The names in the order of the side that moved some, mine if both did; what it does not know comes after its neighbour elsewhere."""
    both = [name for name in mine if name in theirs]
    leading, other = (theirs, mine) if both == [name for name in base if name in both] else (mine, theirs)
    order = [name for name in leading if name in names]
    for name in (name for name in other if name in names and name not in order):
        before = other[: other.index(name)]
        place = max((order.index(one) + 1 for one in before[-1:] if one in order), default=len(order) if before else 0)
        order.insert(place, name)
    return order


def _joined(place: str, key: str) -> str:
    return ", ".join(part for part in (place, key) if part)
