"""Records by column are the records that were packed, in the fields of their roles."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from analysis.sources.records.columns import RecordColumns

HOMES = {"a": "quasi_identifiers", "b": "quasi_identifiers", "c": "sensitive"}
VALUES = st.dictionaries(st.sampled_from("ab"), st.sampled_from(["x", "y", "é"]))


def vertices(children: Any) -> Any:
    sensitive = st.dictionaries(st.just("c"), st.sampled_from("12"))
    return st.fixed_dictionaries({"quasi_identifiers": VALUES, "sensitive": sensitive, "children": children})


LEAVES = vertices(st.just([]))
TREES = st.lists(vertices(st.lists(vertices(st.lists(LEAVES, max_size=3)), max_size=3)), max_size=5)


def canonical(vertex: dict[str, Any]) -> str:
    """A tree without the order of siblings."""
    below = sorted(map(canonical, vertex["children"]))
    return json.dumps([vertex["quasi_identifiers"], vertex["sensitive"], vertex.get("auxiliary", {}), below], sort_keys=True)


@given(records=TREES)
def test_what_is_packed_is_read_again(records: list[dict[str, Any]]) -> None:
    before = list(map(canonical, records))
    written = RecordColumns.of(records, {}).to_bytes()
    assert list(map(canonical, RecordColumns.from_bytes(written).records(HOMES))) == before


def test_a_role_is_applied_when_a_record_is_read() -> None:
    child = {"quasi_identifiers": {"b": "CS"}, "sensitive": {"c": "3.98"}, "children": []}
    columns = RecordColumns.of([{"quasi_identifiers": {"a": "Ada"}, "sensitive": {}, "children": [child]}], {})
    [moved] = columns.records({"a": "sensitive", "c": "quasi_identifiers", "b": "auxiliary"})
    assert moved == {
        "quasi_identifiers": {},
        "sensitive": {"a": "Ada"},
        "children": [{"quasi_identifiers": {"c": "3.98"}, "sensitive": {}, "auxiliary": {"b": "CS"}, "children": []}],
    }
    changed = columns.changed(dropped=["a"], renamed={"c": {"3.98": "[3.8,4)"}})
    assert changed.columns["b"] is columns.columns["b"], "nothing else is written"
    written = changed.to_bytes()
    assert b"Ada" not in written
    assert b"3.98" not in written
    [left] = RecordColumns.from_bytes(written).records(HOMES)
    assert (left["quasi_identifiers"], left["children"][0]["sensitive"]) == ({}, {"c": "[3.8,4)"})


def test_values_with_one_new_name_are_counted_together() -> None:
    records = [{"quasi_identifiers": {"a": value}, "sensitive": {}, "children": []} for value in "122333"]
    column = RecordColumns.of(records, {}).columns["a"]
    assert column.counts() == {"1": 1, "2": 2, "3": 3}
    assert column.renamed({"1": "low", "2": "low"}).counts() == {"low": 3, "3": 3}


def test_the_order_of_siblings_is_drawn_by_chance() -> None:
    children = [{"quasi_identifiers": {"a": str(place)}, "sensitive": {}, "children": []} for place in range(60)]
    [record] = RecordColumns.of([{"quasi_identifiers": {}, "sensitive": {}, "children": [*children]}], {}).records(HOMES)
    assert record["children"] != children, "probability 1/60! of being wrong"
