"""``candor verify``: whether a data package is as it was signed, which file is not, and whether its library is the one installed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from candor.cli.inputs import Input, InputFile
from candor.cli.options import format_option, key_at, key_option
from candor.packages.archive import files_at, files_in, folders_in
from candor.packages.preregistrations import NamedPlan, named_plans
from candor.packages.verification import Named, faults_of, faults_of_files, named_in, software_named_in, unsigned
from candor.software import described, software
from candor.terminal import say_document

NOT_GENUINE = 1


@click.command()
@click.argument("package", type=InputFile(folders=True))
@key_option
@format_option
@click.pass_context
def verify(context: click.Context, package: Input, key_path: Input | None, output_format: str) -> None:
    """Check every byte of a data package against its signature.

    PACKAGE is the ZIP file, or the folder that it was unpacked to. Exit status 1, and a line for each file that was changed, when it is not
    as it was signed, or when an analysis plan is not the one whose hash the protocol names.
    """
    key = key_at(key_path)
    if isinstance(package, Path) and package.is_dir():
        files = files_at(package)
        faults, folders = faults_of_files(files, key=key), folders_in(package)
    else:
        content = package.read_bytes()
        faults, folders = faults_of(content, key=key), []
        files = {} if faults else files_in(content)
    beside = [*unsigned(files), *folders]
    files = {name: files[name] for name in files.keys() - {*beside}}
    plans, which, named, installed = named_plans(files), named_in(files), software_named_in(files), software()
    document = {
        "genuine": not faults,
        "package": asdict(which) if which else None,
        "key": str(key_path) if key_path else None,
        "faults": [asdict(fault) for fault in faults],
        "unsigned": beside,
        "preregistrations": [asdict(plan) for plan in plans],
        "software": {
            "named": named,
            "installed": installed,
            "same": named == installed if named and "library_sha256" in named else None,
        },
    }
    if faults:
        lines = [f"{fault.file}: {fault.what}" for fault in faults]
    else:
        whose = f"the key in {key_path}" if key_path else "the key in the package; compare that key with the one that the server shows"
        lines = [f"Every byte is as it was signed with {whose}."]
        lines += [_about_package(which)] if which else []
        lines += [f"Not signed, because no part of the package: {', '.join(beside)}."] if beside else []
        lines += map(_about_plan, plans)
        lines += [_about_software(named, installed)] if named else []
    say_document(document, lines, output_format=output_format)
    if faults or not all(plan.genuine for plan in plans):
        context.exit(NOT_GENUINE)


def _about_package(which: Named) -> str:
    """A signature says that a package was made, not that it is the newest of its study, or not retracted."""
    now = f"; whether it is the newest, and still public, stands on {which.homepage}" if which.homepage else ""
    return f"It is {which.name}, “{which.title}”{now}."


def _about_plan(plan: NamedPlan) -> str:
    """Whether the analysis plan is the one whose hash the protocol names."""
    kept = f"The analysis plan of protocol version {plan.version}, kept on {plan.registered_on}, "
    if plan.genuine:
        return f"{kept}is in {plan.file}; compare its SHA-256 with the one on the study's public page: {plan.sha256}"
    return f"{kept}is not in {plan.file}: its SHA-256 is not {plan.sha256}"


def _about_software(named: Mapping[str, object], installed: Mapping[str, str]) -> str:
    """Whether the numbers were computed by the library that is installed here."""
    if named == installed:
        return f"Its numbers were computed by the library that is installed here: {described(installed)}."
    return f"Its numbers were computed by {described(named)}; installed here is {described(installed)}."
