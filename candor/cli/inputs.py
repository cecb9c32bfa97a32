"""Files that a command reads: a path, or what can be read only once (``-`` for standard input, a pipe), kept to be read as a file can.

Files that a command writes: complete, or not at all.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Literal

import click

STANDARD_INPUT = STANDARD_OUTPUT = "-"
READ, WRITTEN = "read", "written"


class Stream:
    """Standard input or a pipe, read when it is first asked for and kept in a temporary file until `close`.

    Parameters
    ----------
    path : Path, optional
        Of the pipe, as a shell makes one for ``<(zcat answers.csv.gz)``. Default: standard input.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    @cached_property
    def _kept(self) -> IO[bytes]:
        kept = tempfile.TemporaryFile()  # noqa: SIM115  (until `close`)
        with nullcontext(sys.stdin.buffer) if self._path is None else self._path.open("rb") as source:
            try:
                shutil.copyfileobj(source, kept)
                kept.flush()
            except OSError as error:
                error.filename = tempfile.gettempdir()
                raise
        return kept

    def __str__(self) -> str:
        return "standard input" if self._path is None else str(self._path)

    def close(self) -> None:
        """Let the temporary file go, if there is one."""
        if "_kept" in vars(self):
            self._kept.close()

    def open(self, mode: Literal["rb"]) -> io.BufferedReader:
        """Read it from its beginning."""
        self._kept.seek(0)
        return os.fdopen(os.dup(self._kept.fileno()), mode)

    def read_bytes(self) -> bytes:
        """All of it."""
        with self.open("rb") as file:
            return file.read()

    def stat(self) -> os.stat_result:
        """Its size, among others."""
        return os.fstat(self._kept.fileno())


Input = Path | Stream


class InputFile(click.Path):
    """A file that exists, or ``-``, which only one input of a command can be; with `folders`, also a folder."""

    def __init__(self, *, folders: bool = False) -> None:
        super().__init__(exists=True, dir_okay=folders, allow_dash=True, path_type=Path)

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path, or what is read from standard input or from a pipe."""
        context = ctx or click.get_current_context()
        if str(value) != STANDARD_INPUT:
            path = Path(os.fsdecode(super().convert(value, param, ctx)))
            if not path.is_file() and not path.is_dir():
                return context.with_resource(closing(Stream(path)))
            _keep_apart(path, READ, context)
            return path
        if context.meta.setdefault("candor.standard_input", param) is not param:
            self.fail("only one input can be -, standard input", param, ctx)
        if sys.stdin is None:
            self.fail("standard input is closed", param, ctx)
        return context.with_resource(closing(Stream()))


class OutputFile(click.Path):
    """A file to write, in a folder that can be written to: asked before a long computation, not after it.

    ``-`` is standard output where a command may write there, and refused elsewhere.
    """

    def __init__(self, *, or_standard_output: bool = False) -> None:
        super().__init__(dir_okay=False, allow_dash=or_standard_output, path_type=Path)

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Give the path, or say with its name what stands in the way."""
        if str(value) == STANDARD_OUTPUT:
            return Path(STANDARD_OUTPUT) if self.allow_dash else self.fail("expected the name of a file, found '-'", param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            if not path.exists() or path.is_file():
                tempfile.TemporaryFile(dir=path.resolve().parent).close()
        except OSError as error:
            error.filename = str(path)
            raise
        _keep_apart(path, WRITTEN, ctx or click.get_current_context())
        return path


def _keep_apart(path: Path, use: str, context: click.Context) -> None:
    """Refuse a command that would write over one of its own inputs."""
    named: list[tuple[Path, str]] = context.meta.setdefault("candor.files", [])
    if path.is_file() and any(other_use != use and other.samefile(path) for other, other_use in named if other.is_file()):
        raise click.UsageError(f"{path} is an input of this command: expected another file to write")
    named.append((path, use))


@contextmanager
def complete_file(path: Path) -> Iterator[IO[str]]:
    """Give a file in which to write; it takes its place once all is written. A pipe or a device is written as it is.

    Complaints name the path that somebody gave.
    """
    is_file = path.is_file() or not path.exists()
    place = path.resolve() if is_file else path  # a link stays one
    partial = place.with_name(f".{place.name}.partial") if is_file else place
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            yield file
        if is_file:
            partial.replace(place)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        if is_file:
            partial.unlink(missing_ok=True)


def write(path: Path, text: str) -> None:
    """Write a whole text."""
    with complete_file(path) as file:
        file.write(text)
