"""`manage.py check_restored`, which the drill runs in a process that knows no other database than the restored one."""

import json
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from config.management.commands.replay import STEPS

UP_TO_DATE = "brought up to date"


class Command(BaseCommand):
    help = "Brings the database up to date and checks it, for `manage.py drill`: a line of JSON for every finding."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--remembered", type=Path, help="has what is remembered beside the database, to be done again here")

    def handle(self, *args: object, remembered: Path | None, **options: object) -> None:
        for what, command in (
            (UP_TO_DATE, ("migrate", "--noinput", "--verbosity=0")),
            ("audit log", ("verify_audit_log",)),
            ("lectures and packages", ("verify_stored",)),
        ):
            if not self._tell(what, partial(_asked, *command)) and what == UP_TO_DATE:
                return  # there is no database to ask further
        there = {name: remembered / name for name in STEPS if remembered is not None and (remembered / name).is_dir()}
        for once_more in ("", ", again"):
            for name, folder in there.items():
                self._tell(f"{name.removeprefix('.')}{once_more}", partial(STEPS[name], folder))

    def _tell(self, what: str, check: Callable[[], str]) -> bool:
        """Write the last line of what a check said, or why it did not end well."""
        try:
            well, said = True, check()
        except Exception as error:  # whatever a damaged back-up leads to is a finding
            well, said = False, str(error) or type(error).__name__
        self.stdout.write(json.dumps([what, well, (said.strip().splitlines() or [""])[-1]]))
        return well


def _asked(*command: str) -> str:
    said = StringIO()
    call_command(*command, stdout=said)
    return said.getvalue()
