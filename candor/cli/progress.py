"""Progress bars on standard error, shown to people only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress_bar(length: int, *, label: str) -> Iterator[Callable[[int], object]]:
    """Give a function that is told how much more is done; it draws a bar when standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update
