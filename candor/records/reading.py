"""Records from JSON files, read one by one, and hierarchies from JSON or from the tables that ARX writes."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from io import SEEK_END
from pathlib import Path
from typing import IO

from candor.errors import DataError
from candor.records.hierarchies import chains_in_table
from candor.records.schema import Record

LARGEST_FILE = 400_000_000
"""Bytes; at about 4 kB for a record, that of a hundred thousand students."""
CHUNK, LARGEST_RECORD = 1 << 20, 1 << 25
LONGEST_NUMBER = 300
"""Digits of a whole number; with more than 308 it is beyond the doubles."""


def records_in(stream: IO[bytes], *, largest: int = LARGEST_FILE) -> Iterator[Record]:
    """The records of a JSON list, each as soon as it is read.

    Parameters
    ----------
    stream : binary file
    largest : int
        Bytes, above which the file is refused.

    Yields
    ------
    Record
        As it is written: the anonymiser and the checker refuse what is none.

    Raises
    ------
    DataError
        If it is no JSON list, is too large, or holds NaN or infinity.
    """
    source = _Text(stream, largest)
    source.expect("[", "a JSON list of records")
    if source.peek() == "]":
        source.expect("]", "a JSON list of records")
    else:
        yield source.record()
        while source.peek() == ",":
            source.expect(",", "a JSON list of records")
            yield source.record()
        source.expect("]", f"a comma or the end of the list after record {source.records}")
    if source.peek():
        raise DataError(f"expected nothing after the list of records, found {source.peek()!r}")


class _Text:
    """The text of a file, of which only the part that is being read is kept."""

    def __init__(self, stream: IO[bytes], largest: int) -> None:
        self.stream, self.largest = stream, largest
        self.text, self.at, self.read, self.records = "", 0, 0, 0
        if stream.seekable():  # a file tells its size before anything of it is read
            begin = stream.tell()
            self._require_at_most(stream.seek(0, SEEK_END) - begin)
            stream.seek(begin)
        self.characters = codecs.getincrementaldecoder("utf-8-sig")()
        self.decoder = json.JSONDecoder(parse_int=_whole, parse_constant=_refuse_constant)

    def _require_at_most(self, size: int) -> None:
        if size > self.largest:
            raise DataError(f"expected at most {self.largest / 1e6:.0f} MB; publish in parts that are apart, such as faculties")

    def more(self) -> bool:
        """Read on; False at the end of the file."""
        chunk = self.stream.read(CHUNK)
        self.read += len(chunk)
        self._require_at_most(self.read)
        try:
            self.text, self.at = self.text[self.at :] + self.characters.decode(chunk, final=not chunk), 0
        except UnicodeDecodeError:
            raise DataError("expected a text file in UTF-8") from None
        return bool(chunk)

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def expect(self, character: str, what: str) -> None:
        """Pass one character."""
        if self.peek() != character:
            raise DataError(f"expected {what}, found {self.peek()!r}" if self.peek() else f"expected {what}, found the end of the file")
        self.at += 1

    def record(self) -> Record:
        """Read one record, which may need more of the file."""
        self.records += 1
        self.peek()
        while True:
            try:
                found: Record
                begin = self.at
                found, self.at = self.decoder.raw_decode(self.text, begin)
                _require_whole_characters(found, self.text[begin : self.at])
                return found
            except json.JSONDecodeError as error:
                if len(self.text) - self.at > LARGEST_RECORD or not self.more():
                    raise DataError(f"record {self.records}: {error.msg}") from None
            except RecursionError:
                raise DataError(f"record {self.records}: nested too deeply") from None
            except DataError as error:
                raise DataError(f"record {self.records}: {error}") from None


def _refuse_constant(text: str) -> object:
    raise DataError(f"expected numbers, found {text}")


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise DataError(f"expected numbers of at most {LONGEST_NUMBER} digits, found one of {len(digits):,}")
    return int(digits)


def _require_whole_characters(document: object, written: str) -> None:
    """Refuse half a character, which JSON can write and no file in UTF-8 can hold."""
    if re.search(r"\\u[dD][89a-fA-F]", written) and re.search("[\ud800-\udfff]", json.dumps(document, ensure_ascii=False)):
        raise DataError("expected whole characters, found half of one, such as \\ud800")


def read_json(text: str | bytes) -> object:
    """A small JSON document; a name that stands twice in one object is refused.

    Raises
    ------
    DataError
        If it is none, or two values of one object are alike.
    """
    try:
        written = text if isinstance(text, str) else text.decode("utf-8-sig")
        document = json.loads(written, object_pairs_hook=_once, parse_int=_whole, parse_constant=_refuse_constant)
        _require_whole_characters(document, written)
        return document
    except RecursionError:
        raise DataError("nested too deeply") from None
    except ValueError as error:
        raise error if isinstance(error, DataError) else DataError(f"not a JSON document: {error}") from None


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise DataError(f"{name!r} stands twice in one object")
        found[name] = value
    return found


def hierarchies_in(path: Path) -> Mapping[str, Mapping[str, Sequence[object]]]:
    """The document of hierarchies in a JSON file, in a folder of tables as ARX writes them, or in one such table.

    A table is called after its attribute: ``education.csv``.

    Raises
    ------
    DataError
        If they cannot be read.
    """
    tables = sorted(path.glob("*.csv")) if path.is_dir() else [path] if path.suffix == ".csv" else []
    if path.is_dir() and not tables:
        raise DataError("expected a table NAME.csv for each attribute, found none")
    return {table.stem: _chains_in(table) for table in tables} if tables else written_hierarchies(path.read_bytes())


def written_hierarchies(text: bytes) -> Mapping[str, Mapping[str, Sequence[object]]]:
    """The document of hierarchies in JSON.

    Raises
    ------
    DataError
        If it is none.
    """
    document = read_json(text)
    if not isinstance(document, dict):
        raise DataError("expected hierarchies as {NAME: {VALUE: [VALUE, PARENT, …, '*']}}")
    return document


def _chains_in(table: Path) -> dict[str, list[str]]:
    try:
        return chains_in_table(table.read_text(encoding="utf-8-sig"), name=table.stem)
    except UnicodeDecodeError:
        raise DataError(f"hierarchy {table.stem!r}: expected a text file in UTF-8") from None
