"""`manage.py verify_audit_log`."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.exported import WHAT_A_PART_PROVES, part_head, verify_lines
from audit.selectors import verify


class Command(BaseCommand):
    help = "Check the audit log's chain of hashes, or that of an exported file; exit with an error that names the first broken entry."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--file", type=Path, help="a log, or a part of it, exported as JSON Lines; the database is not asked")

    def handle(self, *args: object, file: Path | None, **options: object) -> None:
        lines = _lines_of(file) if file is not None else []
        head = part_head(lines[0]) if lines else None
        verification = verify() if file is None else verify_lines(lines)
        if verification.broken_at is not None:
            place = "Line" if head else "Entry"
            raise CommandError(
                f"{place} {verification.broken_at} is broken: {verification.reason}. Intact before it: {verification.intact}."
            )
        if head is None:
            self.stdout.write(f"The audit log is intact: {verification.intact} entries.")
            return
        self.stdout.write(f"This part of an audit log of {head.end} entries is intact: {verification.intact} entries ({head.part}).")
        self.stdout.write(WHAT_A_PART_PROVES)


def _lines_of(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8") as lines:
            return list(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: expected an exported log in UTF-8: {error}") from error
