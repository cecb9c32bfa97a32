"""Anatomy: quasi-identifiers and sensitive values in two tables, which only a group joins."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from candor.records.schema import ParameterError, checked_roles
from candor.records.shuffling import shuffled
from candor.records.tables.anonymising import Table, names_of, why_no_diversity

GROUP = "group"


def anatomize(table: Table, roles: object, *, k: int, level: int, auxiliary: Iterable[str] = ()) -> tuple[Table, Table]:
    """Two tables: quasi-identifiers as they are, and the sensitive values; only the number of a group joins them.

    A person is found in the first table, but has any of the sensitive values of the group. There is one sensitive column.

    Parameters
    ----------
    table : Table
    roles : mapping of str to str
        The role of every column. Identifiers are left out.
    k : int
        Rows of a group, at least; not above ℓ, because groups have ℓ rows.
    level : int
        ℓ: different values of a group, at least.
    auxiliary : iterable of str
        Columns that somebody confirmed to be published as they are; others are left out.

    Returns
    -------
    Table, Table
        Both in an order of their own.

    Raises
    ------
    DataError
        If a role is missing.
    ParameterError
        If there is not one sensitive column, ℓ is below k, a value is too frequent, or values are neighbouring numbers.
    """
    given = checked_roles(roles, table.columns, of="the table")
    sensitive = names_of(given, "sensitive")
    if len(sensitive) != 1:
        raise ParameterError(f"anatomy: expected one sensitive column, found {', '.join(sensitive) or 'none'}")
    if level < k:
        raise ParameterError(f"anatomy: expected ℓ of at least k = {k}, because groups have ℓ rows; found {level}")
    if GROUP in table.columns:
        raise ParameterError(f"anatomy: expected no column {GROUP!r}: that of the groups gets this name")
    (name,) = sensitive
    values = table.column(name)
    if why := why_no_diversity(name, values):
        raise ParameterError(f"ℓ of {why}")
    groups = [(str(number), rows) for number, rows in enumerate(buckets(values, level=level), start=1)]
    kept = [one for one in table.columns if given[one] == "quasi_identifier" or (given[one] == "auxiliary" and one in set(auxiliary))]
    columns = [table.column(one) for one in kept]
    labels = shuffled([[*(column[row] for column in columns), number] for number, rows in groups for row in rows])
    told = shuffled([[number, values[row]] for number, rows in groups for row in rows])
    return (
        Table(columns=[*kept, GROUP], rows=labels, delimiter=table.delimiter),
        Table(columns=[GROUP, name], rows=told, delimiter=table.delimiter),
    )


def buckets(values: Sequence[object], *, level: int) -> list[list[int]]:
    """Rows in groups, of which each has `level` or more different values, and none twice.

    Parameters
    ----------
    values : sequence, shape (rows,)
        The sensitive value of each row.
    level : int
        ℓ.

    Returns
    -------
    list of list of int
        Rows of each group.

    Raises
    ------
    ParameterError
        If a value is too frequent: n ≥ ℓ · (its count) must hold. It says the largest ℓ that is possible.

    Notes
    -----
    While ℓ values are left, a group takes a row of each of the ℓ commonest. Each value that is then left has one row; it goes to a
    group that lacks the value.

    References
    ----------
    Xiao & Tao (2006), Anatomy: Simple and Effective Privacy Preservation, VLDB, §5.

    Examples
    --------
    >>> sorted(len(group) for group in buckets(["A-", "A-", "B+", "C", "A", "B"], level=3))
    [3, 3]
    """
    counts = Counter(values)
    if level < 2:
        raise ParameterError(f"ℓ: expected at least 2, found {level}")
    if not counts or len(values) < level * max(counts.values()):
        most = max(counts.values(), default=0)
        raise ParameterError(f"ℓ: expected at most {len(values) // max(1, most)}, because one value stands in {most} of {len(values)} rows")
    rows: dict[object, list[int]] = defaultdict(list)
    for row in shuffled(range(len(values))):
        rows[values[row]].append(row)
    groups: list[list[int]] = []
    while len(left := [value for value in rows if rows[value]]) >= level:
        commonest = sorted(shuffled(left), key=lambda value: -len(rows[value]))[:level]
        groups.append([rows[value].pop() for value in commonest])
    for value in left:
        for row in rows[value]:
            lacking = [group for group in groups if value not in {values[one] for one in group}]
            if not lacking:
                raise ParameterError(f"ℓ: {value!r} fits in no group; expected at most {level - 1}")
            min(shuffled(lacking), key=len).append(row)
    return shuffled(groups)
