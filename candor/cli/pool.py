"""``candor pool``: `candor.pool` for the files of several data packages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from candor.cli.inputs import Input, InputFile
from candor.cli.options import format_option, key_at, level_option, plot_option, show
from candor.errors import what_came
from candor.pooling.pooled_estimates import pool as pooled
from candor.pooling.studies import StudySource

EXPECTED = "expected COMMON=STUDY:NAME, such as attention=second-study:focus, found {came}"


@click.command()
@click.argument("packages", nargs=-1, required=True, metavar="[NAME=]PACKAGE...")
@click.option("--outcome", "outcomes", multiple=True, help="Question to pool; repeat for several. Default: all that two studies have.")
@click.option("--question", "questions", multiple=True, metavar="COMMON=STUDY:NAME", help="A question that has another name in one study.")
@click.option("--arm", "arms", multiple=True, metavar="COMMON=STUDY:NAME", help="An arm that has another name in one study.")
@level_option
@click.option("--simulated", is_flag=True, help="Accept simulated data; the result says so.")
@click.option(
    "--key",
    "key_path",
    type=InputFile(),
    help="PEM file with the public keys of the servers, one after the other. Default: the key in each package, which proves less.",
)
@format_option
@plot_option("a forest plot")
def pool(
    packages: tuple[str, ...],
    outcomes: tuple[str, ...],
    questions: tuple[str, ...],
    arms: tuple[str, ...],
    level: float,
    simulated: bool,
    key_path: Input | None,
    output_format: str,
    plot: Path | None,
) -> None:
    """Pool the effects of several studies, each with its own die.

    A PACKAGE is the ZIP file of a release, or the folder that it was unpacked to. NAME is what the study is called here; without it, it is
    called as its protocol calls it. Every package must be as it was signed.
    """
    result = pooled(
        _sources(packages),
        outcomes=outcomes,
        questions=_renamed(questions, option="--question"),
        arms=_renamed(arms, option="--arm"),
        level=level,
        simulated=simulated,
        key=key_at(key_path),
    )
    show(result, output_format=output_format, plot=plot)


def _sources(packages: Sequence[str]) -> list[StudySource] | dict[str, StudySource]:
    """Files with the names that stand before them, or files alone."""
    named = {text: text.partition("=") for text in packages if not Path(text).exists() and "=" in text}
    if not named:
        return [Path(text) for text in packages]
    if bare := [text for text in packages if text not in named]:
        raise click.BadParameter(f"{bare[0]!r} has no name, but {next(iter(named))!r} has: name all of them, or none", param_hint="PACKAGE")
    if len({name for name, _, _ in named.values()}) < len(packages):
        raise click.BadParameter("two packages have the same name", param_hint="PACKAGE")
    return {name: Path(path) for name, _, path in named.values()}


def _renamed(texts: Sequence[str], *, option: str) -> dict[str, dict[str, str]]:
    """Read COMMON=STUDY:NAME options.

    Examples
    --------
    >>> _renamed(["attention=second:focus"], option="--question")
    {'attention': {'second': 'focus'}}
    """
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        common, is_mapped, own = text.partition("=")
        study, is_named, name = own.rpartition(":")
        if not (is_mapped and is_named and common and study and name):
            raise click.BadParameter(EXPECTED.format(came=what_came(text)), param_hint=option)
        if (other := found.setdefault(common, {}).setdefault(study, name)) != name:
            raise click.BadParameter(f"{common!r} is {other!r} and {name!r} in {study!r}: expected one name", param_hint=option)
    return found
