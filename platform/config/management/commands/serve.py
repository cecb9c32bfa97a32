"""`manage.py serve`."""

import os
import socket
from argparse import ArgumentTypeError

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def add_address_arguments(parser: CommandParser) -> None:
    """The address to listen on. The port may come from PORT, so error messages name both ways to give it."""
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this computer only)")
    parser.add_argument("--port", type=_port, default=os.environ.get("PORT") or "8000", help="default: PORT, else 8000")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 65535:
        raise ArgumentTypeError(f"--port or PORT must be a whole number from 1 to 65535, got {text!r}")
    return int(text)


def require_free_port(host: str, port: int) -> None:
    """Say before any building that another program listens there."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise CommandError(f"Cannot listen on {host}:{port} ({error.strerror}); choose another port with --port or PORT.") from error


class Command(BaseCommand):
    help = "Run web, worker and beat in this one process until Ctrl-C. The default address is http://localhost:8000."

    def add_arguments(self, parser: CommandParser) -> None:
        add_address_arguments(parser)

    def handle(self, *args: object, host: str, port: int, **options: object) -> None:
        from config.celery import app
        from config.embedded import EmbeddedServer

        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise CommandError("The database is not up to date: run `manage.py migrate` first.")
        require_free_port(host, port)
        server = EmbeddedServer(celery=app, host=host, port=port)
        shown = "localhost" if host in {"127.0.0.1", "0.0.0.0", "::"} else host  # noqa: S104
        self.stdout.write(f"Candor is at http://{shown}:{port}/ – Ctrl-C stops it.")
        self.stdout.flush()
        server.run()
