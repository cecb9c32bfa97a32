"""Lists of personal codes from outside: the file is read in a process of its own, by `code_files`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from surveys.errors import SurveyError
from surveys.reading.apart import NotReadError, in_words, read_apart
from surveys.reading.readers import CODES
from surveys.recruitment.code_files import CODE, MAXIMUM_CODES, ReadCodes, tidied


class CodesError(SurveyError, ValueError):
    """A list that cannot be used. `lines` says what is wrong with single lines of it."""

    title = gettext_lazy("This list of codes cannot be used")
    advice = gettext_lazy("Correct the file and upload it again; no code was added.")

    def __init__(self, message: str, *, lines: Sequence[str] = ()) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join((message, *lines)))
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeList:
    """The codes of a file in their order, and how the file was understood."""

    codes: tuple[str, ...]
    encoding: str
    delimiter: str
    """The word for it; empty in a file with one column."""
    column: int
    """Counted from 1."""
    columns: int
    headings: tuple[str, ...]
    """The first row, if it does not hold a code."""
    refused: tuple[str, ...]
    """One line of words for each line of the file that is left out, as many as the reader lists."""
    refused_count: int

    @classmethod
    def of(cls, read: ReadCodes) -> "CodeList":
        """From the plain values of the reader, with its sentences in the language of this request."""
        return cls(
            codes=tuple(read["codes"]),
            encoding=read["encoding"],
            delimiter=in_words(read["delimiter"]) if read["delimiter"] else "",
            column=read["column"],
            columns=read["columns"],
            headings=tuple(read["headings"]),
            refused=tuple(in_words(one) for one in read["refused"]),
            refused_count=read["refused_count"],
        )


def read_codes(content: bytes | IO[bytes], *, source: str = "file") -> CodeList:
    """The codes of a file. Raises CodesError when none can be used, or when two columns could hold them."""
    try:
        return CodeList.of(read_apart(content, reader=CODES, source=source))
    except NotReadError as error:
        message, *lines = error.problems
        raise CodesError(message, lines=lines) from error


def checked_codes(codes: Iterable[str]) -> list[str]:
    """Codes that come back from the page that showed them: the same rules hold for them."""
    found = dict.fromkeys(tidied(code) for code in codes)
    if not 1 <= len(found) <= MAXIMUM_CODES or not all(map(CODE.fullmatch, found)):
        raise CodesError(_("Expected the codes that the page showed. Choose the file again."))
    return list(found)
