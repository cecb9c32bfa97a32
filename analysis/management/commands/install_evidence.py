"""Show a report of `make prove` on the public page *Evidence*."""

import sys
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.evidence.report import EvidenceError, read_report
from analysis.evidence.services import install


class Command(BaseCommand):
    help = "Signs the report of a run of `make prove` with the key of this installation, and shows it on /evidence/."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="evidence.json, as `make prove` wrote it; - is standard input")

    def handle(self, *args: object, file: str, **options: object) -> None:
        try:
            content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
            path = install(read_report(content))
        except OSError as error:
            raise CommandError(f"{error.filename or file}: {error.strerror}") from error
        except EvidenceError as error:
            raise CommandError(f"{file} was not taken; nothing was written: {error}") from error
        self.stdout.write(f"Signed, and shown on /evidence/: {path}")
