"""`manage.py verify_audit_log`."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.chain import Verification
from audit.exported import verify_lines
from audit.selectors import verify


class Command(BaseCommand):
    help = "Check the audit log's chain of hashes, or that of an exported file; exit with an error that names the first broken entry."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--file", type=Path, help="a log exported as JSON Lines; the database is not asked")

    def handle(self, *args: Any, file: Path | None, **options: Any) -> None:
        verification = verify() if file is None else _verify_file(file)
        if verification.broken_at is not None:
            raise CommandError(f"Entry {verification.broken_at} is broken: {verification.reason}. Intact before it: {verification.intact}.")
        self.stdout.write(f"The audit log is intact: {verification.intact} entries.")


def _verify_file(path: Path) -> Verification:
    try:
        with path.open(encoding="utf-8") as lines:
            return verify_lines(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: expected an exported log in UTF-8: {error}") from error
