"""`manage.py check_restored`, which the drill runs in a process that knows no other database than the restored one."""

import json
from io import StringIO
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from analysis.ledger.remembered import FOLDER as CHARGES
from analysis.publications.remembered import FOLDER as PUBLICATIONS
from surveys.journey.withdrawals import FOLDER as WITHDRAWALS

REPLAYED = (
    ("withdrawals", "replay_withdrawals", WITHDRAWALS),
    ("publications", "replay_publications", PUBLICATIONS),
    ("charges", "replay_charges", CHARGES),
)
UP_TO_DATE = "brought up to date"


class Command(BaseCommand):
    help = "Brings the database up to date and checks it, for `manage.py drill`: a line of JSON for every finding."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--remembered", type=Path, help="has withdrawals and charges that are remembered, to be done again here")

    def handle(self, *args: object, remembered: Path | None, **options: object) -> None:
        again = [
            (words, (command, "--folder", str(remembered / folder)))
            for words, command, folder in REPLAYED
            if remembered is not None and (remembered / folder).is_dir()
        ]
        for what, command in (
            (UP_TO_DATE, ("migrate", "--noinput", "--verbosity=0")),
            ("audit log", ("verify_audit_log",)),
            ("lectures and packages", ("verify_stored",)),
            *again,
            *((f"{words}, again", command) for words, command in again),
        ):
            well, found = _asked(*command)
            self.stdout.write(json.dumps([what, well, found]))
            if what == UP_TO_DATE and not well:
                return  # there is no database to ask further


def _asked(*command: str) -> tuple[bool, str]:
    """Whether the command ended well, and the last line of what it said."""
    said = StringIO()
    try:
        call_command(*command, stdout=said)
    except Exception as error:  # whatever a damaged back-up leads to is a finding
        return False, _last_line(str(error) or type(error).__name__)
    return True, _last_line(said.getvalue())


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
