"""`manage.py verify_audit_log`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.selectors import verify


class Command(BaseCommand):
    help = "Check the audit log's chain of hashes; exit with an error that names the first broken entry."

    def handle(self, *args: Any, **options: Any) -> None:
        verification = verify()
        if verification.broken_at is not None:
            raise CommandError(f"Entry {verification.broken_at} is broken: {verification.reason}. Intact before it: {verification.intact}.")
        self.stdout.write(f"The audit log is intact: {verification.intact} entries.")
