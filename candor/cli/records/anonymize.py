"""``candor anonymize``: records or a table that can be published, of which k look alike."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from candor.cli.group import InputError
from candor.cli.inputs import Input, InputFile, OutputFile, write
from candor.cli.options import PROPORTION, WHOLE, format_option
from candor.cli.records import files
from candor.records.anonymising import SUPPRESSED_AT_MOST, read_records
from candor.records.anonymising import anonymize as anonymized
from candor.records.loss import Losses, losses
from candor.records.schema import Role
from candor.records.tables.anatomy import GROUP, anatomize
from candor.records.tables.anonymising import anonymize_table
from candor.terminal import progress_bar, say_document


@click.command()
@click.argument("records_path", metavar="RECORDS.json|TABLE.csv", type=InputFile())
@files.hierarchies_option
@files.roles_option
@files.k_option
@files.levels_option
@files.t_option
@files.distance_option
@click.option("--class-size", type=WHOLE, help="Records of a class that are aimed at.  [default: k, or the largest ℓ]")
@click.option("--suppress", type=PROPORTION, default=SUPPRESSED_AT_MOST, show_default=True, help="Share that may be left out.")
@click.option(
    "--anatomy",
    is_flag=True,
    help="Records: shuffle sensitive values among vertices that look alike. Table: two files, joined by groups only.",
)
@files.auxiliary_option
@files.by_option
@click.option("-o", "--output", required=True, type=OutputFile(), help="Where to write the published file.")
@format_option
def anonymize(
    records_path: Input,
    hierarchies_path: Input | None,
    roles_path: Input | None,
    k: int,
    levels: dict[str, int],
    t: float | None,
    distance: str | None,
    class_size: int | None,
    suppress: float,
    anatomy: bool,
    auxiliary: tuple[str, ...],
    by: str | None,
    output: Path,
    output_format: str,
) -> None:
    """Publish student records: k of them look alike in labels and structure, and sensitive values are diverse.

    A record holds its quasi-identifiers, sensitive values and children, as docs/records.md describes. --roles changes roles:
    a grade as "quasi_identifier" protects it from instructors, who know it.
    """
    roles = files.roles_in(roles_path) if roles_path is not None else None
    if anatomy and files.is_table(records_path):
        unused = {"--class-size": class_size, "--by": by, "--t": t, "--distance": distance, "--hierarchies": hierarchies_path}
        if given := [name for name, value in unused.items() if value is not None]:
            raise InputError(f"{given[0]}: a table with --anatomy needs --k, --l and --roles only")
        _anatomize(records_path, roles or {}, k=k, levels=levels, auxiliary=auxiliary, output=output, output_format=output_format)
        return
    if hierarchies_path is None:
        raise InputError("--hierarchies: expected the labels of every quasi-identifier; nothing is guessed")
    document = files.hierarchies_of(hierarchies_path)
    if files.is_table(records_path):
        if class_size is not None:
            raise InputError("--class-size is for records, not for tables")
        table = files.table_in(records_path)
        with files.named(records_path):
            published = anonymize_table(
                table,
                roles or {},
                document,
                k=k,
                diversity=levels,
                by=by or "distinct",
                t=t,
                distance=distance or "equal",
                suppress=suppress,
                auxiliary=auxiliary,
            )
        write(output, published.table.to_csv())
        told = {"rows": len(published.table.rows), "suppressed": published.suppressed, "loss": published.loss}
        lines = [f"{told['rows']} rows, {told['suppressed']} suppressed", f"loss {published.loss:.4f}"]
        say_document(told, lines, output_format=output_format)
        return
    if by not in (None, "frequency") or distance not in (None, "equal"):
        raise InputError("--by and --distance: for records they are frequency and equal")
    with files.named(records_path):
        forest = read_records(files.written_records(records_path, roles), document, auxiliary=auxiliary)
    with progress_bar(100, label="Classes") as advance:
        shown = [0]

        def tell(share: float) -> None:
            advance(int(100 * share) - shown[0])
            shown[0] = int(100 * share)

        release = anonymized(
            forest, k=k, diversity=levels, class_size=class_size, suppress=suppress, t=t, auxiliary=auxiliary, anatomy=anatomy, tell=tell
        )
    write(output, "[\n" + ",\n".join(json.dumps(record, ensure_ascii=False) for record in release.records) + "\n]\n")
    sizes = [len(one.members) for one in release.classes]
    told = {"records": len(release.records), "suppressed": release.suppressed, "classes": len(sizes), "smallest_class": min(sizes)}
    lost = losses(release)
    say_document({**told, "loss": lost.to_dict()}, _lines(told, lost), output_format=output_format)


def _anatomize(
    path: Input,
    roles: dict[str, Role],
    *,
    k: int,
    levels: Mapping[str, int],
    auxiliary: Iterable[str],
    output: Path,
    output_format: str,
) -> None:
    """Write OUT.csv with the labels and OUT.values.csv with the sensitive values."""
    second = OutputFile().convert(output.with_suffix(f".values{output.suffix}"), None, None)
    table = files.table_in(path)
    if len(levels) != 1 or next(iter(levels)) not in table.columns:
        raise InputError("--l: with --anatomy, expected COLUMN=ℓ for the sensitive column")
    with files.named(path):
        labels, values = anatomize(table, roles, k=k, level=next(iter(levels.values())), auxiliary=auxiliary)
    write(output, labels.to_csv())
    write(second, values.to_csv())
    told = {"rows": len(labels.rows), "groups": len(set(labels.column(GROUP))), "labels": str(output), "values": str(second)}
    lines = [f"{told['rows']} rows in {told['groups']} groups", f"{output} and {second}"]
    say_document(told, lines, output_format=output_format)


def _lines(told: Mapping[str, float], lost: Losses) -> Iterator[str]:
    yield f"{told['records']} records in {told['classes']} classes of at least {told['smallest_class']}"
    yield f"{told['suppressed']} records suppressed"
    yield f"loss {lost.overall:.3f} (0 nothing, 1 all)"
    yield from (f"  {name}: {share:.3f}" for name, share in lost.labels.items())
    yield from (f"  {name}: {share:.1%} blank" for name, share in lost.blank.items())
