"""Add a language to participants' pages by a file."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.languages.catalogues import CatalogueError
from surveys.languages.offered import TEMPLATE, checked_file, participants_words
from surveys.languages.offered import install as put


class Command(BaseCommand):
    help = "Checks a catalogue of participants' words in another language; --install puts it where Candor finds it (docs/languages.md)."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, nargs="?", help="a .po file; without it the empty one is written to standard output")
        parser.add_argument("--install", action="store_true", help="put it into LANGUAGES_FOLDER if nothing is wrong")

    def handle(self, *args: object, file: Path | None, install: bool, **options: object) -> None:
        if file is None:
            self.stdout.write(TEMPLATE.read_text(encoding="utf-8"), ending="")
            return
        try:
            words = participants_words()
            catalogue = put(file, words, settings.LANGUAGES_FOLDER) if install else checked_file(file, words)[0]
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}") from error
        except CatalogueError as error:
            raise CommandError("\n".join([f"{file} was not taken; nothing was written.", *error.problems])) from error
        where = f" It is in {settings.LANGUAGES_FOLDER}: restart Candor." if install else ""
        self.stdout.write(f"{catalogue.name} ({catalogue.language}): {len(catalogue.entries)} sentences, nothing is wrong.{where}")
