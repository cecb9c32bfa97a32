"""``candor risk``: what a published file still tells attackers, beside the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile
from candor.cli.options import WHOLE, format_option
from candor.cli.records import files
from candor.records.hierarchies import read_hierarchies
from candor.records.releases.intersection import Intersection, intersection
from candor.records.risk import Risks, risks, rounded_up
from candor.records.schema import Record
from candor.records.tables.minimality import rows_given_away
from candor.terminal import say_document


@click.command()
@click.argument("published_path", metavar="OUT.json|OUT.csv", type=InputFile())
@files.records_option
@files.roles_option
@click.option("--also", "other_path", type=InputFile(), help="Another release of the same records, to intersect this one with.")
@files.hierarchies_option
@click.option("--k", type=WHOLE, default=2, show_default=True, help="The k of the table, for --l.")
@files.levels_option
@format_option
def risk(
    published_path: Input,
    original_path: Input | None,
    roles_path: Input | None,
    other_path: Input | None,
    hierarchies_path: Input | None,
    k: int,
    levels: dict[str, int],
    output_format: str,
) -> None:
    """Say the risks of a file: linkage by what an attacker knows, insiders who know one value, values that are certain.

    With --original, linkage is counted before and after. With --also, two releases are intersected. With --l, --original and --hierarchies,
    rows of a table are counted whose values are given away to somebody who knows that labels were coarsened only for the sake of ℓ.
    """
    roles = files.roles_in(roles_path) if roles_path is not None else None
    published = files.checked_records(published_path, roles)
    after = risks(published)
    original = files.checked_records(original_path, roles) if original_path is not None else None
    before = risks(original) if original is not None else None
    both = intersection(published, files.checked_records(other_path, roles)) if other_path is not None else None
    given = None
    if demanded := {name: level for name, level in levels.items() if level > 1}:
        if original is None or hierarchies_path is None:
            raise InputError("--l: expected --original and --hierarchies, because the attack compares labels before and after")
        given = _given_away(published, original, hierarchies_path, k=k, levels=demanded)
    more = {"before": before and before.to_dict(), "intersection": both and both.to_dict(), "minimality": given}
    document = {**after.to_dict(), **{name: part for name, part in more.items() if part is not None}}
    say_document(document, _lines(after, before, both, given), output_format=output_format)


def _given_away(
    published: Sequence[Record], original: Sequence[Record], hierarchies_path: Input, *, k: int, levels: dict[str, int]
) -> dict[str, int]:
    names = sorted({name for record in original for name in record["quasi_identifiers"]})
    trees = read_hierarchies(files.hierarchies_of(hierarchies_path))
    if missing := [name for name in names if name not in trees]:
        raise InputError(f"--hierarchies: the quasi-identifier {missing[0]!r} has no hierarchy")
    for name in names:
        for number, record in enumerate(original, start=1):
            if name not in record["quasi_identifiers"]:
                raise InputError(f"--l: expected the same quasi-identifiers in all rows; record {number} of --original has no {name!r}")
            trees[name].leaf(record["quasi_identifiers"][name])
        trees[name].settle()
    known = {name: trees[name] for name in names}
    return {name: rows_given_away(published, original, known, name=name, k=k, level=level) for name, level in levels.items()}


def _percent(share: float) -> str:
    return f"{rounded_up(share, digits=3):.1%}"


def _lines(after: Risks, before: Risks | None, both: Intersection | None, given: dict[str, int] | None) -> Iterator[str]:
    yield f"{after.records} records in {after.classes} classes of at least {after.smallest_class}"
    highest, mean = (rounded_up(one, digits=3) for one in (after.prosecutor_highest, after.prosecutor_mean))
    yield f"prosecutor: at most {highest:.3f}, on average (marketer) {mean:.3f}"
    yield "singled out by" + (" (before)" if before else "")
    for name, number in after.linked.items():
        yield f"  {name}: {number}" + (f" ({before.linked[name]})" if before else "")
    if after.insider:
        yield "singled out by an insider who knows one value"
    for name, insider in after.insider.items():
        yield f"  {name}: {_percent(insider.singled_out)}; at most two are left: {_percent(insider.two_left)}"
    yield "certain for everybody in the class"
    yield from (f"  {name}: {_percent(share)} of the values" for name, share in after.certain.items())
    yield "largest distance (t) of values that look alike from those of their label"
    yield from (f"  {name}: {rounded_up(distance, digits=3):.3f}" for name, distance in after.distance.items())
    yield "one of m look-alikes has some value, at most"
    yield from (f"  {name}: {_percent(alike.highest)}, m = {alike.m}" for name, alike in after.look_alikes.items())
    if both is not None:
        yield "with the other release"
        yield f"  recognised: {both.recognised}; singled out: {both.singled_out}"
    if given is not None:
        yield "given away by the algorithm"
        yield from (f"  {name}: {number} rows" for name, number in given.items())
