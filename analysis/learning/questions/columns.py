"""The columns of a source as `candor.queries` takes them. No Django.

A column of several choices becomes a yes/no column for each of its values, named ``column=value``; quiz items together give a score.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from analysis.sources.tables import FREE, MISSING, Array, Column, Kind, Role, Schema, Table
from candor.queries import columns as library

SCORE = "quiz score"
NO_YES = ("no", "yes")


def library_schema(schema: Schema) -> library.Schema:
    """Everything that can be asked about. Topics of texts have a page of their own: their entries are weeks, in order."""
    columns: list[library.Column] = []
    for column in schema.columns:
        if column.role == Role.TOPIC:
            continue
        if column.kind == Kind.NUMBER:
            low, high = column.minimum or 0.0, column.maximum or 0.0
            columns.append(library.Number(name=column.name, minimum=low, maximum=high, entries=column.entries))
        elif column.kind == Kind.CATEGORY:
            columns.append(library.Category(name=column.name, values=column.names, entries=column.entries))
        else:
            names = [f"{column.name}={value}" for value in column.names]
            columns += [library.Category(name=name, values=NO_YES, entries=column.entries) for name in names]
    if items := schema.with_role(Role.QUIZ):
        columns.append(library.Number(name=SCORE, minimum=0, maximum=len(items)))
    return library.Schema(tuple(columns))


def library_table(table: Table) -> library.Table:
    """The rows; each column is read when it is asked for."""
    return library.Table(library_schema(table.schema), table.n, _Arrays(table))


def labels(schema: Schema, language: str) -> dict[str, str]:
    """Labels, for people, in place of the names of columns."""
    found = {}
    for column in schema.columns:
        label = column.label.in_language(language)
        found[column.name] = label
        if column.kind == Kind.CHOICES:
            found |= {f"{column.name}={value.name}": f"{label}: {value.label.in_language(language)}" for value in column.values}
    return found


def value_labels(schema: Schema, name: str, language: str) -> dict[str, str]:
    """Labels, for people, in place of the values of a column."""
    found = {column.name: column for column in schema.columns}.get(name)
    return {value.name: value.label.in_language(language) for value in found.values} if found else {}


def is_free(schema: Schema, names: tuple[str, ...]) -> bool:
    """Whether the die protects all these columns, or chance made them."""
    roles = {column.name: column.role for column in schema.columns}
    return all(roles.get(name) in FREE for name in names)


class _Arrays(Mapping[str, Array]):
    def __init__(self, table: Table) -> None:
        self._table = table
        self._names = [column.name for column in library_schema(table.schema).columns]

    def __getitem__(self, name: str) -> Array:
        table = self._table
        if name == SCORE:
            items = table.schema.with_role(Role.QUIZ)
            return np.asarray(np.sum([table.right_answers(item.name) == 1 for item in items], axis=0, dtype=np.float64))
        column, _, value = name.partition("=")
        if value and name not in table.arrays:
            return _chosen(table.schema.column(column), table[column], value)
        return table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _chosen(column: Column, array: Array, value: str) -> Array:
    """0 or 1 for one of several choices; `MISSING` stays."""
    assert MISSING < 0
    return array[..., column.names.index(value)]
