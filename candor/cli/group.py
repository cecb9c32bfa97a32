"""How every command begins and fails: loaded on demand, exit 2 with one line on stderr for bad input, never a traceback."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple

import click

from candor.errors import MethodError
from candor.software import described, software
from candor.terminal import complain

BAD_INPUT, INTERRUPTED = 2, 130
READ_ENOUGH = 141
"""128 + SIGPIPE, as a shell tells of any program whose reader has gone. 1 would say that a check found something."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class InputError(click.ClickException):
    """A mistake in the input files or options that the user can correct; the message names file, row and column."""

    exit_code = BAD_INPUT


class ClosedOutput(io.TextIOBase):
    """In the place of a standard output that was closed, as in some jobs: what a command writes there must not be lost without a word."""

    def write(self, text: str, /) -> int:
        """Refuse."""
        if text:
            raise InputError("standard output is closed")
        return 0


class ReaderGoneError(Exception):
    """The reader of standard output has closed the pipe. click would end with 1 if it met the system's own error."""


@contextmanager
def _with_reader() -> Iterator[None]:
    try:
        yield
        sys.stdout.flush()  # here, since the interpreter would complain at its end
    except BrokenPipeError as error:
        raise ReaderGoneError from error


def say_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Say which library this is, down to the byte, and end."""
    if wanted and not context.resilient_parsing:
        click.echo(described(software()))
        context.exit()


version_option = click.Option(
    ["--version"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=say_version,
    help="Say the version and the SHA-256 of the library, and exit.",
)


class LazyCommand(NamedTuple):
    """Where a command is defined, and the line about it in the help of the group."""

    module_and_attribute: str
    summary: str


class CommandGroup(click.Group):
    """A group of commands that are imported when they are used.

    Parameters
    ----------
    commands_by_name : mapping of str to LazyCommand
        In the order in which the help lists them.
    """

    def __init__(self, *, commands_by_name: Mapping[str, LazyCommand], **options: Any) -> None:
        super().__init__(**options)
        self.commands_by_name = commands_by_name

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they were given."""
        return list(self.commands_by_name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command, or None when there is no such command."""
        if cmd_name not in self.commands_by_name:
            return None
        module, attribute = self.commands_by_name[cmd_name].module_and_attribute.split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in self.commands_by_name.items()])

    def make_context(self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object) -> click.Context:
        """Read the arguments, and write the help or version that they ask for."""
        with _with_reader():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        with _with_reader():
            return super().invoke(ctx)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and turn every foreseeable failure into one line and an exit status. Output is UTF-8, as input is, in every locale."""
        if sys.stdout is None:
            sys.stdout = ClosedOutput()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8")
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            status = self._told(lambda: super(CommandGroup, self).main(args, prog_name, complete_var, standalone_mode=False, **extra))
        except (ReaderGoneError, BrokenPipeError):
            _leave_pipes()
            sys.exit(READ_ENOUGH)
        sys.exit(status)

    @staticmethod
    def _told(run: Callable[[], object]) -> int:
        """The exit status of a run, with one line about what failed."""
        try:
            status = run()
        except click.exceptions.NoArgsIsHelpError as help_wanted:
            click.echo(help_wanted.format_message())
            return 0
        except click.ClickException as error:
            return _failed(error.format_message())
        except MethodError as error:
            return _failed(str(error))
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            return INTERRUPTED
        except UnicodeEncodeError as error:
            return _failed(f"a name holds {error.object[error.start]!r}, which no text in UTF-8 holds")
        except BrokenPipeError:
            raise
        except OSError as error:
            # All that is written besides names its file.
            place = error.filename or ("standard output" if error.errno in FULL else "file")
            return _failed(f"{place}: {error.strerror or error}")
        return status if isinstance(status, int) else 0


def _failed(message: str) -> int:
    complain(message)
    return BAD_INPUT


def _leave_pipes() -> None:
    """Let what is still to be written go nowhere, or the interpreter complains at its end (documentation of `signal`)."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there may be no stream, and a test's are none of the system
            os.dup2(nowhere, stream.fileno())
