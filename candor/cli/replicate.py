"""``candor replicate``: compute the numbers of a data package again, also of one that older methods made."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from candor.cli.inputs import Input, InputFile
from candor.cli.options import key_at, key_option
from candor.errors import PackageError
from candor.packages.analytics import ANALYTICS
from candor.packages.archive import PUBLIC_KEY, SIGNATURE, SUMS, files_at, files_in
from candor.packages.programs import PROGRAM, run_program
from candor.packages.record_promises import CHECK, RECORDS
from candor.packages.verification import ARCHIVE, Fault, faults_of, faults_of_files, unsigned
from candor.terminal import say

NOT_RUN = 1
UNSIGNED = "nobody signed it"
# Unless these are as they were signed, nobody vouches for the program, and for the checker of records that it runs.
VOUCHING = {ARCHIVE, CHECK, PROGRAM, PUBLIC_KEY, SIGNATURE, SUMS, "the key"}
# The program reads these where it finds them, and is one of them.
TAKEN = {ANALYTICS, CHECK, PROGRAM, RECORDS, "data.csv", "protocol.json", "results.json"}


@click.command()
@click.argument("package", type=InputFile(folders=True))
@key_option
@click.pass_context
def replicate(context: click.Context, package: Input, key_path: Input | None) -> None:
    """Compute every published number of a data package again.

    PACKAGE is the ZIP file, or the folder that it was unpacked to. The package's own replicate.py is run, if it is as it was signed: use
    --key, or a package that you trust. If the methods of the package are of another version than the library's, this is said, and the
    numbers that both versions compute alike are compared. Exit status 1 when a compared number is another than the published one, or
    the program was not run.
    """
    key = key_at(key_path)
    with tempfile.TemporaryDirectory(prefix="candor-") as temporary:
        folder = Path(temporary)
        if isinstance(package, Path) and package.is_dir():
            folder = package
            files = files_at(folder)
            # A file that was put beside them is no fault, unless the program would take it for a part of the package.
            beside = [Fault(file=name, what=UNSIGNED) for name in unsigned(files) if name in TAKEN]
            faults = [*faults_of_files(files, key=key), *beside]
        else:
            content = package.read_bytes()
            faults = faults_of(content, key=key)
            files = {} if faults else files_in(content)
            for name, inside in files.items():
                (folder / Path(name).name).write_bytes(inside)
        for fault in faults:
            say(f"{fault.file}: {fault.what}", err=True)
        unvouched = any(fault.file in VOUCHING or fault.what == UNSIGNED for fault in faults)
        if (folder != package and faults) or unvouched:
            say(f"{PROGRAM} was not run: the package is not as it was signed.", err=True)
            context.exit(NOT_RUN)
        if PROGRAM not in files:
            raise PackageError(
                f"{package}: expected a package with {PROGRAM}, found none. {CHECK} says whether records hold their promise."
            )
        try:
            status = run_program(folder)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if not faults:
                raise
            say(f"Nothing was compared: the changed files cannot be read ({type(error).__name__}: {error}).", err=True)
            status = NOT_RUN
        context.exit(status)
