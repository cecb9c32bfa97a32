"""`manage.py replay_charges`, after a back-up was restored."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.ledger.errors import LedgerError
from analysis.ledger.remembered import charge_again, folder_of_charges
from analysis.models import Source


class Command(BaseCommand):
    help = "Charges again what was asked under a privacy budget after the back-up that is in the database now. Twice does no harm."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--folder", type=Path, help="where charges are remembered (default: below MEDIA_ROOT)")

    def handle(self, *args: object, folder: Path | None, **options: object) -> None:
        folder = folder or folder_of_charges()
        if not folder.is_dir() and folder != folder_of_charges():
            raise CommandError(f"{folder}: expected the folder in which charges are remembered.")
        sources = Source.objects.select_related("study", "data_set").order_by("pk")
        try:
            again = sum(charge_again(source, within=folder) for source in sources)
        except LedgerError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{again} charges were made again.")
