"""Tables from CSV files, published so that k rows look alike."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite

import numpy as np
import numpy.typing as npt

from candor import complaints
from candor.errors import DataError
from candor.records import checking
from candor.records.anonymising import without_collection
from candor.records.hierarchies import Hierarchy, Intervals, interval_label, read_hierarchies
from candor.records.schema import ParameterError, Record, Role, checked_roles
from candor.records.shuffling import shuffled
from candor.records.tables.closeness import Scale, equal_distance, largest_close_part
from candor.records.tables.recoding import Accept, Floats, Nodes, Part, Recoded, recode
from candor.records.trees import Flat

DELIMITERS = ";\t,"
MOST_OF_A_SCALE, OFTEN = 20, 5
"""Numbers are a scale where there are no more of them, and each occurs so often on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of texts under their columns."""

    columns: list[str]
    rows: list[list[str]]
    delimiter: str

    def column(self, name: str) -> list[str]:
        """The values of a column."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def in_intervals(self, widths: Mapping[str, float]) -> Table:
        """Numbers of these columns as the intervals that hold them; an empty cell stays. Beside semicolons a comma is a decimal comma.

        Raises
        ------
        DataError
            If a value is no number; it names row and column.
        """
        places = {self.columns.index(name): width for name, width in widths.items()}
        rows = [list(row) for row in self.rows]
        for number, row in enumerate(rows, start=2):
            for place, width in places.items():
                cell = row[place].replace(",", ".") if self.delimiter == ";" else row[place]
                try:
                    row[place] = cell and interval_label(cell, width, name=self.columns[place])
                except DataError as error:
                    raise DataError(f"row {number}: {error}") from None
        return Table(columns=self.columns, rows=rows, delimiter=self.delimiter)

    def to_csv(self) -> str:
        """As a file."""
        text = io.StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()

    def records(self, roles: Mapping[str, Role]) -> list[Record]:
        """As records without children, which the checker reads."""
        labels, values = self._objects(names_of(roles, "quasi_identifier")), self._objects(names_of(roles, "sensitive"))
        return [{"quasi_identifiers": one, "sensitive": other, "children": []} for one, other in zip(labels, values, strict=True)]

    def _objects(self, names: Sequence[str]) -> list[dict[str, object]]:
        """Some columns of each row by their names; rows that are alike there share one."""
        here = [name for name in names if name in self.columns]
        if not here:
            return [{} for _ in self.rows]
        written = list(zip(*(self.column(name) for name in here), strict=True))
        known: dict[tuple[str, ...], dict[str, object]] = {values: dict(zip(here, values, strict=True)) for values in set(written)}
        return [known[values] for values in written]


def names_of(roles: Mapping[str, Role], role: Role) -> list[str]:
    """The columns of a role."""
    return [name for name, own in roles.items() if own == role]


def read_table(text: str) -> Table:
    """A table set apart by semicolons, tabs or commas; its first row names the columns.

    Raises
    ------
    DataError
        Naming the row, or what makes it no table.
    """
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="")
    delimiter = max(DELIMITERS, key=lines.readline().count)
    lines.seek(0)
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error as error:
        raise DataError(f"not a CSV file: {error}") from None
    if len(rows) < 2:
        raise DataError("expected a row of names and at least one row of values")
    columns = [name.strip() for name in rows[0]]
    if len(set(columns)) < len(columns):
        raise DataError(f"row 1 names the column {next(name for name in columns if columns.count(name) > 1)!r} twice")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(columns):
            raise DataError(f"row {number}: expected {len(columns)} values, found {len(row)}")
    return Table(columns=columns, rows=[[cell.strip() for cell in row] for row in rows[1:]], delimiter=delimiter)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """A table that can be published, and what it lost."""

    table: Table
    roles: dict[str, Role]
    loss: float
    suppressed: int


@without_collection()
def anonymize_table(
    table: Table,
    roles: object,
    hierarchies: object,
    *,
    k: int,
    diversity: Mapping[str, int] | None = None,
    by: str = "distinct",
    t: float | None = None,
    distance: str = "equal",
    suppress: float = 0.02,
    auxiliary: Iterable[str] = (),
) -> PublishedTable:
    """Rows of which k look alike, with diverse sensitive values.

    Parameters
    ----------
    table : Table
    roles : mapping of str to str
        The role of every column. Identifiers are left out.
    hierarchies : mapping
        As for records. Intervals of a sensitive column are its bins: it is published as the narrowest.
    k : int
    diversity : mapping of str to int, optional
        ℓ by sensitive column.
    by : str
        How ℓ is counted: “distinct” values, “entropy”, or “frequency” of the commonest.
    t : float, optional
        The largest distance of the values of a class from those of all published rows, for every sensitive column.
    distance : str
        “equal” (half L1), “ordered” (by the order of numbers, or that of the leaves in the column's hierarchy), or “hierarchical” (by
        that hierarchy).
    suppress : float
    auxiliary : iterable of str
        Columns that somebody confirmed to be published as they are; other auxiliary ones are treated as quasi-identifiers.

    Returns
    -------
    PublishedTable

    Raises
    ------
    DataError
        If a role is missing, or a value is not a leaf; it names row and column.
    ParameterError
        If the parameters cannot be kept.
    """
    given = checked_roles(roles, table.columns, of="the table")
    confirmed = set(auxiliary)
    own: dict[str, Role] = {
        name: "quasi_identifier" if role == "auxiliary" and name not in confirmed else role for name, role in given.items()
    }
    quasi, sensitive = names_of(own, "quasi_identifier"), names_of(own, "sensitive")
    trees = read_hierarchies(hierarchies)
    bins = {name: tree.widths[0] for name, tree in trees.items() if name in sensitive and isinstance(tree, Intervals)}
    table = table.in_intervals(bins)
    chosen = [_hierarchy(name, trees, given[name]) for name in quasi]
    leaves = np.array([_leaves(tree, table.column(name)) for name, tree in zip(quasi, chosen, strict=True)], dtype=np.int64).T
    _check(table, quasi, sensitive, k=k, diversity=diversity or {}, t=t)
    scales = {name: Scale.of(name, table.column(name), trees.get(name), distance if t is not None else "equal") for name in sensitive}
    codes = {name: scale.codes(table.column(name)) for name, scale in scales.items()}
    demanded = dict(diversity or {})
    for margin in (0.0,) if t is None else (suppress / 4, suppress):  # what is suppressed changes the shares of all rows by no more
        accepts, part = _demands(codes, scales, demanded, by=by, t=None if t is None else max(0.0, t - margin))
        recoded = recode(leaves, chosen, k=k, sensitive=codes, accepts=accepts, suppress=suppress, part=part)
        published = _published(table, own, quasi, chosen, recoded)
        equal = t if distance == "equal" else None
        broken = next(checking.violations(published.records(own), k=k, diversity=demanded, by=by, t=equal), None)
        far = {} if t is None else {name: most for name, most in largest_distances(published, own, scales).items() if most > t + 1e-9}
        if broken is None and not far:
            break
    else:
        raise ParameterError(f"the checker refuses this table: {broken or f't = {t} is exceeded: {far}'}")
    return PublishedTable(table=published, roles=own, loss=recoded.loss, suppressed=recoded.suppressed)


def largest_distances(table: Table, roles: Mapping[str, Role], scales: Mapping[str, Scale]) -> dict[str, float]:
    """How far the class that is farthest from all rows is, by sensitive column.

    Parameters
    ----------
    table : Table
        As published.
    roles : mapping of str to str
    scales : mapping of str to Scale

    Returns
    -------
    dict of str to float
    """
    labels = list(zip(*(table.column(name) for name in names_of(roles, "quasi_identifier")), strict=True))
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    of = np.array([numbers[label] for label in labels], dtype=np.int64)
    found = {}
    for name, scale in scales.items():
        width = len(scale.values)
        cells = of * width + scale.codes(table.column(name))
        counts = np.bincount(cells, minlength=len(numbers) * width).reshape(-1, width).astype(np.float64)
        found[name] = float(scale.distance(counts, counts.sum(axis=0) / counts.sum()).max())
    return found


def _hierarchy(name: str, trees: Mapping[str, Hierarchy], role: Role) -> Hierarchy:
    if name not in trees and role == "auxiliary":
        return Flat(name)
    if name not in trees:
        raise DataError(complaints.NO_HIERARCHY % {"name": repr(name)})
    return trees[name]


def _leaves(tree: Hierarchy, values: Sequence[str]) -> list[int]:
    found: dict[str, int] = {}
    for number, value in enumerate(values, start=2):
        if value not in found:
            try:
                found[value] = tree.leaf(value)
            except DataError as error:
                raise DataError(f"row {number}: {error}") from None
    tree.settle()
    return [found[value] for value in values]


def _check(table: Table, quasi: Sequence[str], sensitive: Sequence[str], *, k: int, diversity: Mapping[str, int], t: float | None) -> None:
    if not quasi:
        raise ParameterError("expected at least one quasi-identifier")
    if not 2 <= k <= len(table.rows):
        raise ParameterError(f"k: expected from 2 to the number of rows, {len(table.rows)}, found {k}")
    if t is not None and not 0 <= t <= 1:
        raise ParameterError(complaints.T % {"found": t})
    for name, level in diversity.items():
        if name not in sensitive:
            raise ParameterError(f"ℓ: there is no sensitive column {name!r}; there are {', '.join(sensitive) or 'none'}")
        if level > (different := len(set(table.column(name)))):
            raise ParameterError(f"ℓ of {name!r}: expected at most {different}, the number of its values, found {level}")
        if level > 1 and (why := why_no_diversity(name, table.column(name))):
            raise ParameterError(f"ℓ of {why}")


def why_no_diversity(name: str, column: Sequence[str]) -> str:
    """Why ℓ of these values says nothing: 3.98 has neighbours, and so has a salary of 48,213. Empty for words, and for a scale of marks."""
    numbers = [number for value in column if (number := _number(value)) is not None]
    different = set(numbers)
    if len(different) <= MOST_OF_A_SCALE and (len(numbers) >= OFTEN * len(different) or not any(number % 1 for number in different)):
        return ""
    example = next((number for number in numbers if number % 1), numbers[0])
    return f"{name!r}: {example:.12g} beside its neighbours is no diversity; expected intervals as its hierarchy"


def _number(value: str) -> float | None:
    """However it is written: 3.98, 3,98 or 398e-2."""
    try:
        number = float(value.replace(",", "."))
    except ValueError:
        return None
    return number if isfinite(number) else None


def _demands(
    codes: Mapping[str, Nodes], scales: Mapping[str, Scale], diversity: Mapping[str, int], *, by: str, t: float | None
) -> tuple[dict[str, Accept], Part | None]:
    """The rule that classes keep, by sensitive column; and, with t alone, the part of a class that keeps it."""
    accepts = {
        name: _accept(own, scales[name], level=diversity.get(name, 0), by=by, t=t)
        for name, own in codes.items()
        if t is not None or diversity.get(name, 0) > 1
    }
    if t is None or len(codes) != 1 or any(level > 1 for level in diversity.values()):
        return accepts, None
    ((name, own),) = codes.items()
    if scales[name].distance is not equal_distance:
        return accepts, None
    return accepts, partial(largest_close_part, of=np.bincount(own) / len(own), t=t * (1 - 1e-9))


def _accept(codes: Nodes, scale: Scale, *, level: int, by: str, t: float | None) -> Accept:
    """Demands on the classes of one sensitive column."""
    shares = np.bincount(codes) / len(codes)

    def accept(counts: Floats) -> npt.NDArray[np.bool_]:
        sizes = counts.sum(axis=1)
        good = np.ones(len(counts), dtype=bool)
        if level > 1 and by == "distinct":
            good &= (counts > 0).sum(axis=1) >= level
        elif level > 1 and by == "frequency":
            good &= counts.max(axis=1) * level <= sizes
        elif level > 1:
            parts = counts / sizes[:, None]
            entropy = -(parts * np.log(np.where(parts > 0, parts, 1.0))).sum(axis=1)
            good &= entropy >= np.log(level)
        if t is not None:
            good &= scale.distance(counts, shares) <= t * (1 - 1e-12)
        return good

    return accept


def _published(table: Table, roles: Mapping[str, Role], quasi: Sequence[str], trees: Sequence[Hierarchy], recoded: Recoded) -> Table:
    columns = [name for name in table.columns if roles[name] != "identifier"]
    texts = {name: [*map(str, tree.labels), ""] for name, tree in zip(quasi, trees, strict=True)}  # the last one is that of suppressed rows
    written = {name: [texts[name][node] for node in nodes] for name, nodes in zip(quasi, recoded.nodes.T.tolist(), strict=True)}
    rows = zip(*(written.get(name) or table.column(name) for name in columns), recoded.nodes[:, 0].tolist(), strict=True)
    return Table(columns=columns, rows=shuffled([row for *row, node in rows if node >= 0]), delimiter=table.delimiter)
