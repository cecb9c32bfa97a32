"""``candor risk``: what a published file still tells attackers, beside the original."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from candor.cli.inputs import Input, InputFile
from candor.cli.options import format_option
from candor.cli.records import files
from candor.records.risk import risks


@click.command()
@click.argument("published_path", metavar="OUT.json|OUT.csv", type=InputFile())
@files.records_option
@files.roles_option
@format_option
def risk(published_path: Input, original_path: Input | None, roles_path: Input | None, output_format: str) -> None:
    """Say the risks of a file: linkage by what an attacker knows, insiders who know one value, values that are certain.

    With --original, linkage is counted before and after.
    """
    roles = files.roles_in(roles_path) if roles_path is not None else None
    document: dict[str, Any] = risks(files.checked_records(published_path, roles)).to_dict()
    if original_path is not None:
        document["before"] = risks(files.checked_records(original_path, roles)).to_dict()
    files.say(document, output_format, _lines(document))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    before = document.get("before")
    yield f"{document['records']} records in {document['classes']} classes of at least {document['smallest_class']}"
    yield f"prosecutor: at most {document['prosecutor_highest']:.3f}, on average (marketer) {document['prosecutor_mean']:.3f}"
    yield "singled out by" + (" (before)" if before else "")
    for name, number in document["linked"].items():
        yield f"  {name}: {number}" + (f" ({before['linked'][name]})" if before else "")
    yield "singled out by an insider who knows one value"
    for name, one in document["insider"].items():
        yield f"  {name}: {one['singled_out']:.1%}; at most two are left: {one['two_left']:.1%}"
    yield "certain for everybody in the class"
    yield from (f"  {name}: {share:.1%} of the values" for name, share in document["certain"].items())
