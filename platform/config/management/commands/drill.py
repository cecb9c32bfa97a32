"""`manage.py drill FOLDER`: would the newest back-up bring this installation back?"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.restoring import RestoreError, newest_backup, restored


class Finding(NamedTuple):
    what: str
    well: bool
    found: str


class Command(BaseCommand):
    help = (
        "Restores the newest back-up of a folder into a database made for it, checks the audit log, lectures and data packages there, "
        "and repeats the withdrawals and charges made since. The running installation is not touched. Ends with 1 if anything failed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds the back-ups (….dump or ….sqlite3) and the folder media")
        parser.add_argument(
            "--media", default="", help="where the copies of lectures are, as file:///… or s3://… (default: the folder media)"
        )
        server = os.environ.get("DATABASE_URL", "")
        parser.add_argument("--server", default=server, help="the address of a database on the server where a dump is restored")

    def handle(self, *args: object, folder: Path, server: str, media: str, **options: object) -> None:
        findings = self._findings(folder, server=server, media=media)
        width = max(len(one.what) for one in findings)
        for one in findings:
            self.stdout.write(f"{one.what:<{width}}  {'well  ' if one.well else 'FAILED'}  {one.found}")
        if not all(one.well for one in findings):
            raise CommandError("The drill failed: this back-up would not bring everything back.")

    def _findings(self, folder: Path, *, server: str, media: str) -> list[Finding]:
        with tempfile.TemporaryDirectory(prefix="candor-drill-") as scratch:
            try:
                backup = newest_backup(folder)
                with restored(backup, scratch=Path(scratch), server=server) as database:
                    return [
                        Finding("restored", True, backup.name),
                        *_asked(database, media=media or _folder(folder / "media"), scratch=Path(scratch)),
                    ]
            except RestoreError as error:
                return [Finding("restored", False, str(error))]


def _folder(path: Path) -> str:
    return f"file://{quote(str(path.resolve()))}"


def _asked(database: str, *, media: str, scratch: Path) -> list[Finding]:
    """The findings of a process of its own, which knows no database but the restored one."""
    environment = {name: value for name, value in os.environ.items() if name not in {"REDIS_URL", "EMAIL_HOST"}} | {
        # No queue, no cache and no mail server: nothing that is done to the copy is told to anybody.
        "DJANGO_SETTINGS_MODULE": "config.settings.development",
        "SECRET_KEY": settings.SECRET_KEY,
        "DATABASE_URL": database,
        "CANDOR_MEDIA_URL": media,
        "MEDIA_ROOT": unquote(urlsplit(media).path) if media.startswith("file:") else str(scratch / "media"),
        "CANDOR_VAR": str(scratch),
    }
    program = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "check_restored", "--remembered", str(settings.MEDIA_ROOT)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
    found = [Finding(*json.loads(line)) for line in done.stdout.splitlines()]
    if done.returncode:
        found.append(Finding("checked", False, (done.stderr.strip().splitlines() or [""])[-1]))
    return found
