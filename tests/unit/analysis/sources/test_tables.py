"""Frozen tables: what a schema declares, and columns that come back as they were stored."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from analysis.sources.tables import MISSING, Column, Kind, Role, Schema, Table, Value, order_by_chance

AB = (Value(name="a", label="A"), Value(name="b", label="B"))


def column(**fields: Any) -> Column:
    return Column(**{"name": "x", "label": "X", "role": Role.BACKGROUND, "kind": Kind.CATEGORY, "values": AB, **fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"values": ()}, "expected the values that can occur"),
        ({"values": (*AB, AB[0])}, "values must differ"),
        ({"right": "c"}, "the right value must be one of a, b"),
        ({"kind": Kind.NUMBER, "values": ()}, "expected bounds"),
        ({"kind": Kind.NUMBER, "values": (), "minimum": 2, "maximum": 1}, "the minimum below the maximum, found 2.0 and 1.0"),
        ({"kind": Kind.NUMBER, "values": (), "minimum": float("nan"), "maximum": 1}, "finite"),
        ({"name": ""}, "at least 1 character"),
        ({"kind": "poem"}, "category"),
    ],
)
def test_a_column_that_does_not_declare_what_can_occur_is_refused(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        column(**fields)


def test_columns_named_alike_are_refused_and_unknown_ones_are_named() -> None:
    with pytest.raises(ValidationError, match="names of columns must differ; found x twice"):
        Schema(columns=(column(), column()))
    with pytest.raises(KeyError, match="expected one of the columns x, found y"):
        Schema(columns=(column(),)).column("y")


def test_a_table_comes_back_as_it_was_stored() -> None:
    many = tuple(Value(name=f"v{place}", label=f"V{place}") for place in range(200))
    columns = (
        column(name="one", right="a"),
        column(name="many", values=many),
        column(name="several", kind=Kind.CHOICES),
        column(name="number", kind=Kind.NUMBER, values=(), minimum=0, maximum=9),
        column(name="entries", entries=3),
        column(name="ticks", kind=Kind.CHOICES, entries=3),
    )
    schema, n = Schema(columns=columns), 5
    arrays = {one.name: one.empty(n) for one in columns}
    assert {name: (array.shape, array.dtype.name) for name, array in arrays.items()} == {
        "one": ((5,), "int8"),
        "many": ((5,), "int16"),
        "several": ((5, 2), "int8"),
        "number": ((5,), "float64"),
        "entries": ((5, 3), "int8"),
        "ticks": ((5, 3, 2), "int8"),
    }
    arrays["one"][:] = [0, 1, MISSING, 0, 1]
    arrays["many"][0] = 199
    arrays["number"][3] = 4.5
    stored = Table(schema=schema, n=n, arrays=arrays).to_bytes()
    found = Table.from_bytes(lambda: stored, schema=Schema.model_validate(schema.model_dump(mode="json")), n=n, kept={})
    for one in columns:
        np.testing.assert_array_equal(found[one.name], arrays[one.name])
    assert found.right_answers("one").tolist() == [1, 0, MISSING, 1, 0]
    with pytest.raises(KeyError, match="expected a quiz item, found many"):
        found.right_answers("many")
    with pytest.raises(KeyError, match="found unknown"):
        found["unknown"]


def test_the_order_is_a_permutation_and_never_the_same() -> None:
    first, second = order_by_chance(1000), order_by_chance(1000)
    assert sorted(first) == sorted(second) == list(range(1000))
    assert first.tolist() != second.tolist()
    assert order_by_chance(0).tolist() == []
