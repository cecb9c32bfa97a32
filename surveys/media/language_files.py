"""The pages' own sentences in languages that Candor does not have: from a file of the study, frozen with its protocol."""

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from django.utils.translation import gettext as _

from surveys.definition import StudyDefinition
from surveys.languages.catalogues import Catalogue, CatalogueError, read_catalogue, written
from surveys.languages.names import language_name
from surveys.languages.offered import FROM_FILES, participants_words
from surveys.languages.promises import privacy_sentences
from surveys.languages.spoken import code_of_words
from surveys.media.stores.errors import StoreAwayError
from surveys.models import Media, MediaFile
from surveys.protocols import file_of_server

logger = logging.getLogger(__name__)
MEDIA_TYPE = "text/x-gettext-translation"


class LostError(OSError):
    """A stored file of words is not there any more, or not what was frozen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWords:
    """The sentences of the pages in one language. `by_team`: the investigators brought the file; else those who run the server did."""

    code: str
    sha256: str
    catalogue: Catalogue
    by_team: bool

    @property
    def name(self) -> str:
        return self.catalogue.name

    @property
    def spoken(self) -> str:
        """The code under which `translation.override` speaks these words."""
        return code_of_words(self.catalogue, sha256=self.sha256)

    @property
    def missing(self) -> int:
        """How many sentences of the pages it lacks, since a newer version of Candor has more."""
        return len(sentences() - self.catalogue.entries.keys())

    @property
    def promises(self) -> list[tuple[str, str]]:
        """Each English sentence about privacy with its translation."""
        return [(one, " / ".join(self.catalogue.entries[one].said)) for one in privacy_sentences(self.catalogue.entries)]

    @property
    def rest(self) -> list[tuple[str, str]]:
        """Every other sentence with its translation."""
        promises = set(privacy_sentences(self.catalogue.entries))
        return [(one, " / ".join(entry.said)) for one, entry in self.catalogue.entries.items() if one not in promises]


def own_words(definition: StudyDefinition, media: Media, code: str) -> OwnWords | None:
    """The words that belong to this protocol in this language; None if they are Candor's, or the server's as it is now."""
    name = definition.words.get(code)
    facts = media.get(name or file_of_server(code))
    if facts is None:
        return None
    try:
        catalogue = _stored(facts["id"], facts["sha256"])
    except LostError:
        logger.exception("The pages are English in place of a language")
        return None
    return OwnWords(code=code, sha256=facts["sha256"], catalogue=catalogue, by_team=bool(name))


def brought_words(definition: StudyDefinition, media: Media) -> Iterator[OwnWords]:
    """The words of every language that a file brings: of the study, frozen with it, or of this server as it is now."""
    for code in definition.languages:
        if words := own_words(definition, media, code):
            yield words
        elif code in FROM_FILES and code not in definition.words:
            file = FROM_FILES[code]
            yield OwnWords(code=code, sha256=file.sha256, catalogue=_read(file.content), by_team=False)


def code_to_speak(definition: StudyDefinition, media: Media, language: str) -> str:
    """The code for `translation.override` on the pages of this protocol in this language."""
    if words := own_words(definition, media, language):
        return words.spoken
    is_lost = (definition.words.get(language) or file_of_server(language)) in media
    return "en" if is_lost else language


def names_of_languages(definition: StudyDefinition, media: Media) -> tuple[tuple[str, str], ...]:
    """Each language of the study with its own name for itself."""
    brought = {code: words.name for code in definition.languages if (words := own_words(definition, media, code))}
    return tuple((code, brought.get(code) or language_name(code)) for code in definition.languages)


@lru_cache(maxsize=1)
def sentences() -> frozenset[str]:
    """Every sentence that a participant can read."""
    return frozenset(participants_words().entries)


def list_of_sentences(words: OwnWords | None) -> str:
    """A file to fill in: every sentence of the pages, with what these words say."""
    template = participants_words()
    said = words.catalogue.entries if words else {}
    entries = {one: replace(entry, said=said[one].said if one in said else ()) for one, entry in template.entries.items()}
    return written(replace(words.catalogue if words else template, entries=entries))


@lru_cache(maxsize=64)
def _stored(media_id: str, sha256: str) -> Catalogue:
    """The catalogue in a stored file, which was checked when it came in; LostError if it is not there, or not what was frozen."""
    file = MediaFile.objects.filter(pk=media_id).first()
    content = b""
    if file:
        try:
            with file.file.open("rb") as opened:
                content = opened.read()
        except StoreAwayError:  # for a while only: better no page than one in another language
            raise
        except OSError:
            content = b""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise LostError(_("Expected the words of a language with the SHA-256 %(sha256)s, found others or none.") % {"sha256": sha256})
    try:
        return _read(content)
    except CatalogueError as error:
        raise LostError(_("A stored file of words cannot be read.")) from error


@lru_cache(maxsize=8)
def _read(content: bytes) -> Catalogue:
    return read_catalogue(content.decode("utf-8-sig"))
