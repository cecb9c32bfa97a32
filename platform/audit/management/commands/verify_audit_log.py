"""`manage.py verify_audit_log`."""

import json
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.chain import compare_with_published
from audit.exported import WHAT_A_PART_PROVES, hashes_in, part_head, verify_lines
from audit.selectors import hashes_at, verify


class Command(BaseCommand):
    help = "Check the audit log's chain of hashes, or that of an exported file; exit with an error that names the first broken entry."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--file", type=Path, help="a log, or a part of it, exported as JSON Lines; the database is not asked")
        parser.add_argument("--heads", type=Path, help="the log's ends as they were published (/data/log-heads.json), kept since: compare")

    def handle(self, *args: object, file: Path | None, heads: Path | None, **options: object) -> None:
        lines = _lines_of(file) if file is not None else []
        head = part_head(lines[0]) if lines else None
        verification = verify() if file is None else verify_lines(lines)
        if verification.broken_at is not None:
            place = "Line" if head else "Entry"
            raise CommandError(
                f"{place} {verification.broken_at} is broken: {verification.reason}. Intact before it: {verification.intact}."
            )
        if heads is not None:
            published = _published(heads)
            wanted = {sequence for _day, sequence, _hash in published}
            found = hashes_at(wanted) if file is None else hashes_in(lines, wanted)
            if head is not None:  # a part has gaps
                published = [one for one in published if one[1] in found]
            if difference := compare_with_published(published, found=found):
                raise CommandError(f"The audit log is not the one that was published: {difference}.")
            self.stdout.write(f"It leads to all {len(published)} published ends.")
        if head is None:
            self.stdout.write(f"The audit log is intact: {verification.intact} entries.")
            return
        self.stdout.write(f"This part of an audit log of {head.end} entries is intact: {verification.intact} entries ({head.part}).")
        self.stdout.write(WHAT_A_PART_PROVES)


def _published(path: Path) -> list[tuple[str, int, str]]:
    try:
        return [(str(one["day"]), int(one["entries"]), str(one["hash"])) for one in json.loads(path.read_text(encoding="utf-8"))["heads"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{path}: expected the file from /data/log-heads.json: {error}") from error


def _lines_of(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8") as lines:
            return list(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: expected an exported log in UTF-8: {error}") from error
