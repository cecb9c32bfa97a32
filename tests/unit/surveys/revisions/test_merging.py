"""Two changes of one document: each is kept where the other left it alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.revisions.merging import merged

NAMED = [{"name": "a", "text": "A"}, {"name": "b", "text": "B"}, {"name": "c", "text": "C"}]
documents = st.dictionaries(
    st.sampled_from("xyz"),
    st.integers(0, 2)
    | st.dictionaries(st.sampled_from("pq"), st.integers(0, 2), max_size=2)
    | st.lists(st.sampled_from("abcd"), unique=True, max_size=4).map(lambda names: [{"name": name} for name in names]),
    max_size=3,
)


def names(items: list[dict[str, Any]]) -> str:
    return "".join(item["name"] for item in items)


@given(documents, documents)
def test_what_only_one_person_changed_is_theirs(base: dict[str, Any], changed: dict[str, Any]) -> None:
    for merge in (merged(base, changed, base), merged(base, base, changed), merged(base, changed, changed)):
        assert merge.document == changed
        assert merge.conflicts == []


@given(documents, documents, documents)
def test_without_a_conflict_both_changes_are_there_whoever_comes_first(
    base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]
) -> None:
    one, other = merged(base, mine, theirs), merged(base, theirs, mine)
    assert bool(one.conflicts) == bool(other.conflicts)
    if not one.conflicts:
        for key in {*base, *mine, *theirs}:
            if mine.get(key) == base.get(key):
                assert one.document.get(key) == theirs.get(key)
            if theirs.get(key) == base.get(key):
                assert one.document.get(key) == mine.get(key)


def test_two_languages_of_one_text_are_two_places() -> None:
    base = {"title": {"en": "Faces", "de": "Gesichter"}}
    merge = merged(base, {"title": {"en": "Lectures", "de": "Gesichter"}}, {"title": {"en": "Faces", "de": "Vorlesungen"}})
    assert merge.document == {"title": {"en": "Lectures", "de": "Vorlesungen"}}
    assert merge.conflicts == []


def test_a_conflict_names_the_place_and_keeps_what_is_there() -> None:
    merge = merged({"title": "Faces"}, {"title": "Mine"}, {"title": "Theirs"})
    (conflict,) = merge.conflicts
    assert (conflict.place, conflict.mine, conflict.theirs) == ("title", "Mine", "Theirs")
    assert merge.document == {"title": "Theirs"}


def test_something_removed_that_somebody_else_changed_is_a_conflict() -> None:
    changed = [NAMED[0], NAMED[1] | {"text": "other"}, NAMED[2]]
    merge = merged({"list": NAMED}, {"list": [NAMED[0], NAMED[2]]}, {"list": changed})
    assert [one.place for one in merge.conflicts] == ["list, b, name", "list, b, text"]
    assert merge.document == {"list": changed}


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        ("cab", "abc", "cab"),
        ("abc", "cab", "cab"),
        ("ab", "cab", "ab"),
        ("abcd", "cab", "cdab"),
        ("dabc", "cab", "dcab"),
        ("abc", "abdc", "abdc"),
        ("cab", "abdc", "cabd"),
        ("", "abc", ""),
    ],
)
def test_an_order_is_that_of_the_person_who_moved_something(mine: str, theirs: str, expected: str) -> None:
    base, left, right = ([{"name": name} for name in order] for order in ("abc", mine, theirs))
    assert names(merged(base, left, right).document) == expected
