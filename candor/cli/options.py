"""Options that several commands share: proportions as numbers or fractions, effects by arm, the two formats of output, figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from candor.cli.inputs import Input, InputFile, OutputFile, write
from candor.errors import DataError, what_came
from candor.terminal import say_document
from candor.written_numbers import number_or_fraction

Command = TypeVar("Command", bound=Callable[..., object] | click.Command)


class Number(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.2 on
    """A number such as 0.25 or a fraction such as 2/6, within limits."""

    name = "number"

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it, or say what was expected and what came."""
        number = number_or_fraction(str(value), low=self.low, high=self.high)
        if number is None:
            upper = "" if self.high == math.inf else f" to {self.high:g}"
            self.fail(f'expected a number from {self.low:g}{upper} or a fraction like "2/6", found {what_came(str(value))}', param, ctx)
        return number


class Whole(click.IntRange):
    """A whole number within limits."""

    name = "whole number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it, or say what was expected and what came."""
        try:
            number = int(str(value))
            click.IntRange.convert(self, number, param, ctx)
        except (ValueError, click.BadParameter):
            limits = f"of at least {self.min}" if self.max is None else f"from {self.min} to {self.max}"
            self.fail(f"expected a whole number {limits}, found {what_came(str(value))}", param, ctx)
        return number


class OneOf(click.Choice):  # type: ignore[type-arg]  # generic from click 8.2 on
    """One of several words."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read it, or say what was expected and what came."""
        if value not in self.choices:
            self.fail(f"expected {' or '.join(self.choices)}, found {what_came(value)}", param, ctx)
        return str(value)


PROPORTION = Number(0, 1)
DIFFERENCE = Number(-1, 1)
POSITIVE = Number(0, math.inf)
WHOLE = Whole(min=1)
SEED = Whole(min=0)

DESIGN = "DESIGN.json of the study, its study file, or the protocol.json of a data package."
design_option = click.option("--design", "design_path", required=True, type=InputFile(), help=DESIGN)
design_of_data_option = click.option("--design", "design_path", type=InputFile(), help=f"{DESIGN} The ZIP file of a package brings it.")
key_option = click.option(
    "--key",
    "key_path",
    type=InputFile(),
    help="PEM file with the public key of the server that the data come from. Default: the key in the package, which proves less.",
)


def key_at(path: Input | None) -> bytes | None:
    """The content of a file with keys; None without a file."""
    from candor.packages.verification import holds_keys

    if path is None:
        return None
    if not holds_keys(pem := path.read_bytes()):
        raise DataError(f"{path}: expected a PEM file with the public key of a server (Ed25519), found something else")
    return pem


format_option = click.option("--format", "output_format", type=OneOf(["text", "json"]), default="text", show_default=True)
level_option = click.option("--level", type=PROPORTION, default=0.95, show_default=True, help="Confidence level.")
effect_option = click.option(
    "--effect",
    "effects",
    multiple=True,
    metavar="NUMBER or ARM=NUMBER",
    help="Difference of prevalence to control; ARM=NUMBER, repeated, for several arms. Needed unless the design has one arm.",
)
prevalence_option = click.option(
    "--prevalence", type=PROPORTION, default=0.4, show_default=True, help="Share of true yes in the control arm."
)
cluster_size_option = click.option(
    "--cluster-size",
    type=POSITIVE,
    default=1.0,
    show_default=True,
    help="People in a section that is assigned as a whole; Σm²/Σm where sizes m vary.",
)
icc_option = click.option(
    "--icc", type=PROPORTION, default=0.0, show_default=True, help="Intraclass correlation of the true answers of a section."
)
cheaters_option = click.option("--cheaters", type=PROPORTION, default=0.0, show_default=True, help="Share of people who ignore the die.")


def effects_by_arm(texts: Sequence[str], *, treatments: Sequence[str]) -> dict[str, float]:
    """Read ``--effect`` options: one number for all treatment arms, or ARM=NUMBER for some.

    Examples
    --------
    >>> effects_by_arm(["0.2"], treatments=["face", "voice"])
    {'face': 0.2, 'voice': 0.2}
    >>> effects_by_arm(["0.1", "voice=1/4"], treatments=["face", "voice"])
    {'face': 0.1, 'voice': 0.25}
    """
    if treatments and not texts:
        raise click.UsageError("Missing option '--effect'.")
    if texts and not treatments:
        raise click.BadParameter("a design with one arm is a survey, which has no effect", param_hint="--effect")
    effects: dict[str, float] = {}
    for text in texts:
        arm, is_named, number = text.rpartition("=")
        if is_named and arm not in treatments:
            raise click.BadParameter(f"there is no treatment arm {arm!r}; the design has {', '.join(treatments)}", param_hint="--effect")
        try:
            effect = DIFFERENCE.convert(number, None, None)
        except click.BadParameter as error:
            raise click.BadParameter(error.message, param_hint="--effect") from None
        effects |= {arm: effect} if is_named else dict.fromkeys(treatments, effect)
    return effects


def all_of(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Put several options on a command, in order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class Result(Protocol):
    """A result that can be told as a text, as a document and as a figure."""

    def to_dict(self) -> dict[str, Any]:
        """Give all of it, for JSON."""

    def plot(self) -> str:
        """Draw it as SVG."""


def plot_option(drawn: str) -> Callable[[Command], Command]:
    """Let a command draw something."""
    return click.option("--plot", type=OutputFile(), help=f"Write {drawn} to this SVG file.")


def show(result: Result, *, output_format: str, plot: Path | None) -> None:
    """Print a result, and then write its figure: what stands in the way of one does not lose the other."""
    try:
        say_document(result.to_dict(), str(result).split("\n"), output_format=output_format)
    finally:
        if plot is not None:
            write(plot, result.plot())
