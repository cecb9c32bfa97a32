"""``candor check``: whether published records or a published table keep k, ℓ and t."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import click

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.records import files
from candor.records.auditing import Audit
from candor.records.checking import MALFORMED, Violation, violations
from candor.records.schema import ParameterError
from candor.terminal import say


@click.command()
@click.argument("published_path", metavar="OUT.json|OUT.csv", type=InputFile())
@files.k_option
@files.levels_option
@files.t_option
@files.distance_option
@files.auxiliary_option
@files.by_option
@files.records_option
@files.hierarchies_option
@files.roles_option
@click.option("--anatomy", is_flag=True, help="Sensitive values were shuffled: only whether they moved is compared.")
@click.pass_context
def check(
    context: click.Context,
    published_path: Input,
    k: int,
    levels: dict[str, int],
    t: float | None,
    distance: str | None,
    auxiliary: tuple[str, ...],
    by: str | None,
    original_path: Input | None,
    hierarchies_path: Input | None,
    roles_path: Input | None,
    anatomy: bool,
) -> int:
    """Check that k published records look alike and their sensitive values are diverse; anybody can, without the original.

    Ends with 0 when all holds, and with 1 when not: then the first violation is named. A malformed record ends it with 2. With --original
    all that was published is compared with the records before: nothing may be invented, and no order kept. --hierarchies then says which
    label covers which value.
    """
    roles = files.roles_in(roles_path) if roles_path is not None else None
    by = by or ("distinct" if files.is_table(published_path) else "frequency")
    with files.named(published_path):
        published = list(files.written_records(published_path, roles))
        known = {name for record in published for name in _sensitive(record)}
        if unknown := [name for name in levels if name not in known]:
            raise ParameterError(f"ℓ: there is no sensitive attribute {unknown[0]!r}; there are {', '.join(sorted(known)) or 'none'}")
        equal = t if distance in (None, "equal") else None
        found: Iterable[object] = violations(published, k=k, diversity=levels, by=by, t=equal, auxiliary=auxiliary)
        if files.is_table(published_path):
            found = chain(found, files.neighbouring_numbers(published_path, levels))
        if t is not None and equal is None:
            found = chain(found, files.far_classes(published_path, roles, hierarchies_path, t=t, distance=str(distance)))
        if original_path is not None:
            original = files.checked_records(original_path, roles)
            audit = Audit(original, files.hierarchies_of(hierarchies_path) or None, anatomy=anatomy)
            found = chain(found, audit.violations(published))
        broken = next(iter(found), None)
    if isinstance(broken, Violation) and broken.rule in MALFORMED:
        raise InputError(f"{published_path}: {broken}")
    demanded = "".join(f", ℓ of {name} = {level}" for name, level in levels.items() if level > 1)
    say(f"violated: {broken}" if broken else f"holds: {len(published)} records, k = {k}{demanded}")
    return int(broken is not None)


def _sensitive(vertex: object) -> Iterator[str]:
    """Names of sensitive attributes, wherever they stand; malformed vertices are the checker's."""
    if isinstance(vertex, dict):
        values, children = vertex.get("sensitive"), vertex.get("children")
        yield from values if isinstance(values, dict) else ()
        for child in children if isinstance(children, list) else ():
            yield from _sensitive(child)
