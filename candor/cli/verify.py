"""``candor verify``: whether a data package is as it was signed, and which files are not."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from candor.cli.options import format_option
from candor.packages.verification import faults_of

NOT_GENUINE = 1


@click.command()
@click.argument("package", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--key",
    "key_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="PEM file with the public key of the server that the data come from. Default: the key in the package, which proves less.",
)
@format_option
@click.pass_context
def verify(context: click.Context, package: Path, key_path: Path | None, output_format: str) -> None:
    """Check every byte of a data package against its signature.

    PACKAGE is the ZIP file. Exit status 1, and a line for each file that was changed, when it is not as it was signed.
    """
    faults = faults_of(package.read_bytes(), key=key_path.read_bytes() if key_path else None)
    if output_format == "json":
        document = {"genuine": not faults, "key": str(key_path) if key_path else None, "faults": [asdict(fault) for fault in faults]}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    elif faults:
        for fault in faults:
            click.echo(f"{fault.file}: {fault.what}")
    else:
        whose = f"the key in {key_path}" if key_path else "the key in the package; compare that key with the one that the server shows"
        click.echo(f"Every byte is as it was signed with {whose}.")
    if faults:
        context.exit(NOT_GENUINE)
