"""How every command begins and fails: loaded on demand, exit 2 with one line on stderr for bad input, never a traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import click

from candor.errors import MethodError
from candor.software import described, software

BAD_INPUT, INTERRUPTED = 2, 130
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class InputError(click.ClickException):
    """A mistake in the input files or options that the user can correct; the message names file, row and column."""

    exit_code = BAD_INPUT


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

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and turn every foreseeable failure into one line and an exit status."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            status = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as help_wanted:
            click.echo(help_wanted.format_message())
            sys.exit(0)
        except click.ClickException as error:
            _fail(error.format_message())
        except MethodError as error:
            _fail(str(error))
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(0)
        except OSError as error:
            # All that is written besides names its file.
            place = error.filename or ("standard output" if error.errno in FULL else "file")
            _fail(f"{place}: {error.strerror or error}")
        sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str) -> NoReturn:
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    sys.exit(BAD_INPUT)
