"""`manage.py replay_publications`, after a back-up was restored."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.publications.remembered import folder_of_publications, publish_again


class Command(BaseCommand):
    help = "Marks data as public that were published after the back-up was made that is in the database now. Twice does no harm."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--folder", type=Path, help="where publications are remembered (default: below MEDIA_ROOT)")

    def handle(self, *args: object, folder: Path | None, **options: object) -> None:
        folder = folder or folder_of_publications()
        if not folder.is_dir() and folder != folder_of_publications():
            raise CommandError(f"{folder}: expected the folder in which publications are remembered.")
        self.stdout.write(f"The data of {publish_again(within=folder)} studies were marked as public again.")
