"""Reads a file with the sentences of participants' pages in another language."""

import hashlib
from typing import IO

from surveys.languages.catalogues import LARGEST_CATALOGUE, CatalogueError
from surveys.languages.offered import checked, participants_words
from surveys.reading.words import UnreadableError
from surveys.reading.words import sentence as _


def read(file: IO[bytes]) -> dict[str, str | int]:
    """The language's code and name, and the file's size and SHA-256; an UnreadableError names every sentence with a problem."""
    content = file.read(LARGEST_CATALOGUE + 1)
    try:
        catalogue = checked(content, participants_words())
    except CatalogueError as error:
        raise UnreadableError(*(_("%(problem)s", problem=problem) for problem in error.problems)) from error
    return {"language": catalogue.language, "name": catalogue.name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
