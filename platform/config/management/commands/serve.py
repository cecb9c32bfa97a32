"""`manage.py serve`."""

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = "Run web, worker and beat in this one process until Ctrl-C. The default address is http://localhost:8000."
    requires_migrations_checks = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this computer only)")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or 8000), help="default: PORT, else 8000")

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        from config.celery import app
        from config.embedded import EmbeddedServer

        try:
            server = EmbeddedServer(celery=app, host=host, port=port)
        except OSError as error:
            raise CommandError(f"Cannot listen on {host}:{port} ({error.strerror}); choose another port with --port or PORT.") from error
        shown = "localhost" if host in {"127.0.0.1", "0.0.0.0", "::"} else host  # noqa: S104
        self.stdout.write(f"Candor is at http://{shown}:{port}/ – Ctrl-C stops it.")
        self.stdout.flush()
        server.run()
