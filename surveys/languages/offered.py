"""The languages in which participants' pages are there: Candor's own, and those that the people who run a server added as files."""

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from surveys.languages.catalogues import LARGEST_CATALOGUE, Catalogue, CatalogueError, compiled, problems_in, read_catalogue

TEMPLATE = Path(__file__).parents[2] / "templates/locale/participants.pot"
OWN = {
    "en": "English",
    "de": "Deutsch",
    "nl": "Nederlands",
    "fr": "Français",
    "es": "Español",
    "it": "Italiano",
    "pt": "Português",
    "pl": "Polski",
    "zh-hans": "简体中文",
    "ar": "العربية",
}
LANGUAGE_NAMES = dict(OWN)
"""Every language that the builder offers, by its code, in its own words."""
FROM_FILES: dict[str, "AddedLanguage"] = {}
"""Those of them whose sentences come from a file of this server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedLanguage:
    """A language that a file of this server brings. `sha256` is that of the file, whose bytes are the `content`."""

    code: str
    name: str
    sha256: str
    content: bytes


def participants_words() -> Catalogue:
    """Every sentence that a catalogue has to translate."""
    return read_catalogue(TEMPLATE.read_text(encoding="utf-8"))


def place_of(code: str, folder: Path) -> Path:
    """Where gettext looks for the catalogue of a language: `zh-hans` is found at `zh_Hans`."""
    language, _, part = code.partition("-")
    script_or_region = part.title() if len(part) > 2 else part.upper()
    return folder / (f"{language}_{script_or_region}" if part else language) / "LC_MESSAGES"


def checked_file(path: Path, template: Catalogue) -> tuple[Catalogue, bytes]:
    """The catalogue in a file, and the file's bytes; `CatalogueError` names all that is wrong with it."""
    with path.open("rb") as file:
        content = file.read(LARGEST_CATALOGUE + 1)
    return checked(content, template), content


def checked(content: bytes, template: Catalogue) -> Catalogue:
    """The catalogue in a file of these bytes; `CatalogueError` names all that is wrong with it."""
    if len(content) > LARGEST_CATALOGUE:
        raise CatalogueError([f"expected at most {LARGEST_CATALOGUE:,} bytes, found more"])
    try:
        catalogue = read_catalogue(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise CatalogueError(["expected text in UTF-8, found other bytes"]) from None
    problems = problems_in(catalogue, template)
    if catalogue.language in OWN:
        problems.append(f"header: {catalogue.language} is one of Candor’s own languages; a file can only add others")
    if problems:
        raise CatalogueError(problems)
    return catalogue


def install(path: Path, template: Catalogue, folder: Path) -> Catalogue:
    """Put a checked file and what is compiled from it into the folder of this server; nothing is written if anything is wrong."""
    catalogue, content = checked_file(path, template)
    place = place_of(catalogue.language, folder)
    place.mkdir(parents=True, exist_ok=True)
    _replace(place / "django.mo", compiled(catalogue))
    _replace(place / "django.po", content)
    return catalogue


def offer_from(folder: Path, template: Catalogue) -> Iterator[str]:
    """Offer the languages of this server's folder; a file that no longer fits the pages is left out, and told."""
    for path in sorted(folder.glob("*/LC_MESSAGES/django.po")):
        try:
            catalogue, content = checked_file(path, template)
        except CatalogueError as error:
            yield f"{path}: {error.problems[0]} ({len(error.problems)} problems)"
            continue
        LANGUAGE_NAMES[catalogue.language] = catalogue.name
        sha256 = hashlib.sha256(content).hexdigest()
        FROM_FILES[catalogue.language] = AddedLanguage(code=catalogue.language, name=catalogue.name, sha256=sha256, content=content)


def _replace(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all."""
    incoming = path.with_name(f".{secrets.token_hex(8)}")
    try:
        incoming.write_bytes(content)
        incoming.chmod(0o644)
        incoming.replace(path)
    finally:
        incoming.unlink(missing_ok=True)
