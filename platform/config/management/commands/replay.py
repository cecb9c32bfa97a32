"""`manage.py replay`, after a back-up was restored: everything is done again that files beside the database tell and it does not know."""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.data_sets.services import delete_again
from analysis.ledger.errors import LedgerError
from analysis.ledger.remembered import FOLDER as CHARGES
from analysis.ledger.remembered import make_whole
from analysis.models import Source
from analysis.publications.remembered import FOLDER as PUBLICATIONS
from analysis.publications.remembered import publish_again, unknown_record_sets
from analysis.publications.retractions import retract_again
from surveys.batches.numbers import wait_for_new_people
from surveys.batches.remembered_withdrawals import FOLDER as WITHDRAWALS
from surveys.journey.services import replay_withdrawals
from surveys.restores.remembered import FOLDER as ENDS
from surveys.restores.services import close_again
from surveys.retention.remembered import FOLDER as DELETIONS
from surveys.retention.services import forget_again


class Command(BaseCommand):
    help = (
        "Does again what was done after the back-up that is in the database now: ends of studies, withdrawals, publications, retractions, "
        "deletions, charges to privacy budgets, their freezing and lowering. People who wait to be shown wait for new ones. Twice does no "
        "harm."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--folder", type=Path, help=f"has {', '.join(STEPS)} (default: MEDIA_ROOT)")

    def handle(self, *args: object, folder: Path | None, **options: object) -> None:
        if folder is not None and not any((folder / name).is_dir() for name in STEPS):
            raise CommandError(f"{folder}: expected a folder with {', '.join(STEPS)}, found none of them.")
        failed = False
        for name, again in STEPS.items():
            try:
                self.stdout.write(again((folder or Path(settings.MEDIA_ROOT)) / name))
            except (LedgerError, OSError, ValueError) as error:
                failed = True
                self.stderr.write(f"{name}: {error}")
                if name == ENDS:  # nobody would hide people who are withdrawn before; the other steps do not need each other
                    break
        self.stdout.write(f"{wait_for_new_people()} running studies show no other numbers until enough new people have come.")
        if failed:
            raise CommandError("Not everything was done again. Put right what is named above, then repeat this.")


def _ends(folder: Path) -> str:
    """Before the withdrawals, which are hidden among others after the end."""
    done = close_again(folder)
    return f"{done.studies} studies were closed again, with {done.withdrawals} withdrawals."


def _withdrawals(folder: Path) -> str:
    done = replay_withdrawals(folder)
    refused = f", {done.refused} refused because the data are published" if done.refused else ""
    return f"{done.remembered} withdrawals are remembered, {done.again} were done again{refused}."


def _publications(folder: Path) -> str:
    """After the withdrawals, which are refused from then on."""
    marked, retracted, unknown = publish_again(within=folder), retract_again(within=folder), unknown_record_sets(within=folder)
    said = [f"The data of {marked} studies were marked as public again."]
    if retracted:
        said.append(f"{retracted} packages were retracted again.")
    if unknown:
        said.append(f"Public records that this database does not know: {', '.join(unknown)}.")
    return " ".join(said)


def _deletions(folder: Path) -> str:
    """After the withdrawals, which find nobody from then on."""
    studies, data_sets = len(forget_again(within=folder)), len(delete_again(within=folder))
    return f"The operational data of {studies} studies and the rows of {data_sets} data sets were deleted again."


def _ledgers(folder: Path) -> str:
    """After the withdrawals, which take a source's table away. A ledger that cannot be read keeps no other from being made whole."""
    charges, limits, wrong = 0, 0, []
    for source in Source.objects.select_related("study", "data_set").order_by("pk"):
        try:
            again = make_whole(source, within=folder)
        except LedgerError as error:
            wrong.append(str(error))
        else:
            charges, limits = charges + again.charges, limits + again.limits
    if wrong:
        raise LedgerError(" ".join(wrong))
    return f"{charges} charges were made again, {limits} budgets were frozen or lowered again."


STEPS: dict[str, Callable[[Path], str]] = {
    ENDS: _ends,
    WITHDRAWALS: _withdrawals,
    PUBLICATIONS: _publications,
    DELETIONS: _deletions,
    CHARGES: _ledgers,
}
"""The steps, in their order, by the name of the folder that remembers each."""
