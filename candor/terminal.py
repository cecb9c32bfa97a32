"""The one way in which commands and programs write to a terminal. Files of strangers name columns, arms, studies and files there."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click

from candor.errors import shortened

MOVES_THE_CURSOR = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but for the tab, marks that turn the direction of what follows, and halves of characters."""


def say(*lines: str, err: bool = False) -> None:
    r"""Write lines. A character that would move the cursor is written as its code, as JSON does: ``\u001b``.

    Otherwise the name of a file in a package could write over the line that says what was changed.
    """
    click.echo("\n".join(MOVES_THE_CURSOR.sub(lambda found: f"\\u{ord(found[0]):04x}", line) for line in lines), err=err)


def say_document(document: object, lines: Iterable[str], *, output_format: str) -> None:
    """Write one JSON document, or its lines for people."""
    say(*(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2).split("\n") if output_format == "json" else lines))


def complain(message: str) -> None:
    """Write one line on standard error, and its beginning and end where it is very long."""
    say(f"Error: {shortened(' '.join(message.split()))}", err=True)


@contextmanager
def progress_bar(length: int, *, label: str) -> Iterator[Callable[[int], object]]:
    """Give a function that is told how much more is done; it draws a bar when standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update
