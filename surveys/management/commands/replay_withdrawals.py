"""`manage.py replay_withdrawals`, after a back-up was restored."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.journey.services import replay_withdrawals
from surveys.journey.withdrawals import folder_of_withdrawals


class Command(BaseCommand):
    help = "Deletes again everybody who withdrew after the back-up was made that is in the database now. Twice does no harm."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--folder", type=Path, help="where withdrawals are remembered (default: below MEDIA_ROOT)")

    def handle(self, *args: object, folder: Path | None, **options: object) -> None:
        folder = folder or folder_of_withdrawals()
        if not folder.is_dir() and folder != folder_of_withdrawals():
            raise CommandError(f"{folder}: expected the folder in which withdrawals are remembered.")
        done = replay_withdrawals(folder)
        refused = f", {done.refused} refused because the data are published" if done.refused else ""
        self.stdout.write(f"{done.remembered} withdrawals are remembered, {done.again} were done again{refused}.")
