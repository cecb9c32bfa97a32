"""Options and files of the commands about records."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.options import POSITIVE, OneOf, Whole
from candor.errors import MethodError, what_came
from candor.records.checking import violations
from candor.records.hierarchies import read_hierarchies
from candor.records.reading import hierarchies_in, read_json, records_in, written_hierarchies
from candor.records.schema import Record, Role, checked_roles, with_roles
from candor.records.tables.anonymising import Table, largest_distances, names_of, read_table, why_no_diversity
from candor.records.tables.closeness import DISTANCES, Scale
from candor.written_numbers import number_in_digits

BEGINNING = 1000


class Levels(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.2 on
    """NAME=L,…: whole numbers by attribute."""

    name = "name=l,…"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, int]:
        """Read it, or say what was expected and what came."""
        if isinstance(value, dict):
            return value
        levels: dict[str, int] = {}
        for part in str(value).split(","):
            name, is_named, level = part.strip().rpartition("=")
            if not is_named or not name or (number := number_in_digits(level.strip())) is None or name in levels:
                self.fail(f"expected ATTRIBUTE=NUMBER, set apart by commas, such as grade=3,gpa=0; found {what_came(part)}", param, ctx)
            levels[name.strip()] = number
        return levels


k_option = click.option("--k", required=True, type=Whole(2), help="At least so many records look alike.")
levels_option = click.option("--l", "levels", type=Levels(), default={}, help="ℓ by sensitive attribute; 0 demands nothing.")
t_option = click.option("--t", type=POSITIVE, help="The largest distance of values that look alike from all of their label.")
hierarchies_option = click.option(
    "--hierarchies", "hierarchies_path", type=InputFile(folders=True), help="JSON file, or a folder of ARX tables NAME.csv."
)
roles_option = click.option("--roles", "roles_path", type=InputFile(), help="JSON file: the role of each column or attribute.")
auxiliary_option = click.option(
    "--publish",
    "auxiliary",
    multiple=True,
    metavar="NAME",
    help="Publish this auxiliary attribute as it is.",
)
by_option = click.option(
    "--by",
    type=OneOf(["frequency", "distinct", "entropy"]),
    help="How ℓ is counted.  [default: frequency for records, distinct for tables]",
)
distance_option = click.option(
    "--distance",
    type=OneOf(DISTANCES),
    help="How far two values of a table are apart, for --t: all alike, by their order, or by their hierarchy.  [default: equal]",
)
records_option = click.option("--original", "original_path", type=InputFile(), help="The records before; for their keeper.")


def is_table(path: Input) -> bool:
    """Whether a file is a table: by its name, or, without one, if it does not begin as JSON does."""
    if isinstance(path, Path):
        return path.suffix.lower() == ".csv"
    with path.open("rb") as file:
        return re.match(rb"\s*[^\s\[{]", file.read(BEGINNING).removeprefix(codecs.BOM_UTF8)) is not None


@contextlib.contextmanager
def named(path: object) -> Iterator[None]:
    """Name the file in a complaint about what it holds."""
    try:
        yield
    except MethodError as error:
        raise InputError(f"{path}: {error}") from None


def table_in(path: Input) -> Table:
    """The table of a CSV file."""
    with named(path):
        try:
            return read_table(path.read_bytes().decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise InputError(f"{path}: expected a text file in UTF-8") from None


def far_classes(path: Input, roles: Mapping[str, Role] | None, hierarchies_path: Input | None, *, t: float, distance: str) -> Iterator[str]:
    """The sensitive columns of a published table that break t."""
    if not is_table(path) or roles is None:
        raise InputError("--distance: for records it is equal; for a table, --roles are needed")
    table = table_in(path)
    trees = read_hierarchies(hierarchies_of(hierarchies_path))
    here = {name: role for name, role in roles.items() if name in table.columns}
    scales = {name: Scale.of(name, table.column(name), trees.get(name), distance) for name in names_of(here, "sensitive")}
    for name, most in largest_distances(table, here, scales).items():
        if most > t + 1e-9:
            yield f"t: {name}: a class is {most:.4f} from all rows, by the {distance} distance; expected at most {t:g}"


def neighbouring_numbers(path: Input, levels: Mapping[str, int]) -> Iterator[str]:
    """The sensitive columns of a published table of which ℓ says nothing."""
    table = table_in(path)
    whys = [why_no_diversity(name, table.column(name)) for name, level in levels.items() if level > 1 and name in table.columns]
    yield from (f"ℓ of {why}" for why in whys if why)


def written_records(path: Input, roles: Mapping[str, Role] | None = None) -> Iterator[Record]:
    """The records of a file, with the roles that were chosen for some attributes; a row of a table is a record without children."""
    if is_table(path):
        if roles is None:
            raise InputError(f"{path}: expected --roles, the role of each column; nothing is guessed")
        table = table_in(path)
        if missing := [name for name in table.columns if name not in roles]:
            raise InputError(f"{path}: the column {missing[0]!r} has no role")
        yield from table.records(roles)
        return
    with named(path), path.open("rb") as file:
        for record in records_in(file):
            yield with_roles(record, roles) if roles else record


def checked_records(path: Input, roles: Mapping[str, Role] | None = None) -> list[Record]:
    """The records of a file, of which each is at least well-formed."""
    found = list(written_records(path, roles))
    broken = next((one for one in violations(found, k=1) if one.rule != "labels"), None)
    if broken is not None:
        raise InputError(f"{path}: {broken}")
    return found


def document_in(path: Input) -> object:
    """The JSON document of a small file."""
    with named(path):
        return read_json(path.read_bytes())


def roles_in(path: Input) -> dict[str, Role]:
    """The roles of a file, whatever attributes there are."""
    document = document_in(path)
    with named(path):
        return checked_roles(document, document if isinstance(document, Mapping) else (), of="the file")


def hierarchies_of(path: Input | None) -> Mapping[str, Mapping[str, Sequence[object]]]:
    """The document of hierarchies, whose faults name its file; none is an empty one."""
    if path is None:
        return {}
    with named(path):
        document = hierarchies_in(path) if isinstance(path, Path) else written_hierarchies(path.read_bytes())
        read_hierarchies(document)
        return document
