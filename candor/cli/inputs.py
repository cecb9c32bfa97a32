"""Files that a command reads: a path, or ``-`` for standard input, which can then be read more than once as a file can."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Literal

import click

STANDARD_INPUT = "-"


class StandardInput:
    """Standard input, read when it is first asked for and kept in a temporary file until `close`."""

    @cached_property
    def _kept(self) -> IO[bytes]:
        kept = tempfile.TemporaryFile()  # noqa: SIM115  (until `close`)
        shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.flush()
        return kept

    def __str__(self) -> str:
        return "standard input"

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


Input = Path | StandardInput


class InputFile(click.Path):
    """A file that exists, or ``-``, which only one input of a command can be; with `folders`, also a folder."""

    def __init__(self, *, folders: bool = False) -> None:
        super().__init__(exists=True, dir_okay=folders, allow_dash=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path, or what is read from standard input."""
        if str(value) != STANDARD_INPUT:
            return super().convert(value, param, ctx)
        context = ctx or click.get_current_context()
        if context.meta.setdefault("candor.standard_input", param) is not param:
            self.fail("only one input can be -, standard input", param, ctx)
        return context.with_resource(closing(StandardInput()))
