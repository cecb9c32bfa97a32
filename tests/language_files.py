"""Complete files of participants' words in languages that Candor does not have."""

from dataclasses import replace

from surveys.languages.catalogues import Catalogue, written
from surveys.languages.offered import participants_words

TURKISH = {"Language": "tr", "X-Language-Name": "Türkçe", "Plural-Forms": "nplurals=2; plural=(n > 1);"}


def file_of_words(mark: str = "TR", **header: str) -> str:
    """Every sentence with the mark before it, its places kept."""
    entries = {
        one: replace(entry, said=(f"{mark} {one}",) * (2 if entry.many else 1)) for one, entry in participants_words().entries.items()
    }
    return written(Catalogue(header={**TURKISH, **header}, entries=entries))
