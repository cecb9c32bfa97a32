"""Write a study as a study file."""

import shutil
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.services import record
from surveys import actions
from surveys.models import MediaFile, Study
from surveys.study_file import define, write_study_file


class Command(BaseCommand):
    help = "Writes a study file to standard output, or with --output to a file with its media beside it. No participant's data are in it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--output", "-o", type=Path, help="file to write; must not exist yet")

    def handle(self, *args: object, slug: str, output: Path | None, **options: object) -> None:
        study = Study.objects.filter(slug=slug).first()
        if study is None:
            raise CommandError(f"There is no study called {slug}.")
        definition = define(study.definition)
        text = write_study_file(definition)
        if output is None:
            record(actor=None, action=actions.STUDY_EXPORTED, subject=study)
            self.stdout.write(text, ending="")
            return
        media = list(MediaFile.objects.filter(study=study, current=True, name__in=definition.files()))
        targets = [output, *(output.parent / file.name for file in media)]
        if there := [str(path) for path in targets if path.exists()]:
            raise CommandError(f"Not overwritten: {', '.join(there)}")
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            for file in media:
                with file.file.open("rb") as content, output.parent.joinpath(file.name).open("wb") as copy:
                    shutil.copyfileobj(content, copy)
            output.write_text(text, encoding="utf-8")
            record(actor=None, action=actions.STUDY_EXPORTED, subject=study)
        except BaseException as error:
            for path in filter(Path.exists, targets):
                path.unlink()  # half of a study would be in the way of the next attempt
            if isinstance(error, OSError):
                raise CommandError(f"Nothing was written: {error}") from error
            raise
        self.stderr.write(f"{output} and {len(media)} media files written.")
