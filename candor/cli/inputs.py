"""Files that a command reads: a path, or ``-`` for standard input, which can then be read more than once as a file can."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO, Any, Literal

import click

STANDARD_INPUT = "-"


class StandardInput:
    """What came on standard input, kept in a temporary file for as long as the command runs."""

    def __init__(self) -> None:
        self._kept: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        shutil.copyfileobj(sys.stdin.buffer, self._kept)

    def __str__(self) -> str:
        return "standard input"

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


Input = Path | StandardInput


class InputFile(click.Path):
    """A file that exists, or ``-``, which only one input of a command can be; with `folders`, also a folder."""

    def __init__(self, *, folders: bool = False) -> None:
        super().__init__(exists=True, dir_okay=folders, allow_dash=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path, or what is read from standard input."""
        if str(value) != STANDARD_INPUT:
            return super().convert(value, param, ctx)
        if ctx is not None and ctx.meta.setdefault("candor.standard_input", param) is not param:
            self.fail("only one input can be -, standard input", param, ctx)
        return StandardInput()
