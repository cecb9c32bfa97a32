"""Errors of methods that cannot give a number. Every message says what was expected and what came."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from candor.software import DISTRIBUTION


def what_came(value: object, *, most: int = 60) -> str:
    """Say in a message what came: a text in quotation marks, a list, an object or ``null`` as in JSON, and “nothing” for an empty text.

    Parameters
    ----------
    value : object
        What somebody typed or sent.
    most : int
        More characters of it are cut off.

    Examples
    --------
    >>> what_came("2/6x"), what_came(" "), what_came("a long text", most=6)
    ("'2/6x'", 'nothing', "'a lon…")
    >>> what_came(None), what_came(True), what_came({"forced_no": [None]})
    ('null', 'true', '{"forced_no": [null]}')

    Nothing of it moves the cursor of a terminal, or turns the direction of a line:

    >>> what_came("a\\x1b[2J"), what_came(["a\\x9b2J\\u202e"])
    ("'a\\\\x1b[2J'", '["a\\\\x9b2J\\\\u202e"]')
    """
    if isinstance(value, str) and not value.strip():
        return "nothing"
    is_plain = value is None or isinstance(value, bool | list | tuple | dict)
    written = json.dumps(value, ensure_ascii=False, default=repr) if is_plain else repr(value)
    shown = written if len(written) <= most else written[:most] + "…"
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in shown)


LONGEST_MESSAGE = 1000
"""Characters. A cell that a message quotes may be longer than the screen."""


def shortened(message: str) -> str:
    """The beginning and the end of a message that is very long."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 203]} … {message[-200:]}"


class MethodError(ValueError):
    """A statistical method was asked for something that it cannot answer.

    Examples
    --------
    >>> str(MethodError("row 3 has " + "a" * 5000 + ", 1"))[-20:], len(str(MethodError("a" * 5000)))
    ('aaaaaaaaaaaaaaaaa, 1', 1000)
    """

    def __str__(self) -> str:
        return shortened(super().__str__())


class DesignError(MethodError):
    """A study design that cannot protect anybody, or from which nothing can be learned."""


class DataError(MethodError):
    """Data that do not fit the design: wrong shape, unknown names, counts that are negative or not whole."""


class QuestionError(MethodError):
    """A question about a table that cannot be asked as it is written."""


class NotIdentifiedError(MethodError):
    """A quantity that no amount of data from this design can determine under its cheater model."""


class MissingPackageError(MethodError, ImportError):
    """The request needs a package that the library can otherwise do without."""


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Say which extra brings a package that cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "another package").partition(".")[0]
        raise MissingPackageError(f"this needs {package}, which is not installed: pip install '{DISTRIBUTION}[{extra}]'") from error


class PackageError(MethodError):
    """A data package that cannot be read, or is not as it was signed."""


class TooFewResponsesError(MethodError):
    """Too few answers for the number that was asked for.

    Parameters
    ----------
    needed, found : int
        Number of answers needed and found.
    of : str
        Where they are counted, such as ``"arm 'control'"``.

    Examples
    --------
    >>> str(TooFewResponsesError(needed=1, found=0, of="arm 'control'"))
    "too few answers in arm 'control': needed at least 1, found 0"
    """

    def __init__(self, *, needed: int, found: int, of: str = "the study") -> None:
        super().__init__(f"too few answers in {of}: needed at least {needed}, found {found}")
        self.needed = needed
        self.found = found
        self.of = of

    def __reduce__(self) -> tuple[object, ...]:
        return _too_few_responses, (self.needed, self.found, self.of)


def _too_few_responses(needed: int, found: int, of: str) -> TooFewResponsesError:
    """Rebuild the error in another process."""
    return TooFewResponsesError(needed=needed, found=found, of=of)
