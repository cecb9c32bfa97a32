"""`manage.py push`."""

import os
import sys

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Hold the connections of open results pages, and tell them when a batch is counted. It needs PUSH=1, Redis, and no database."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this computer only)")
        parser.add_argument("--port", type=int, default=8001)

    def handle(self, *args: object, host: str, port: int, **options: object) -> None:
        if not settings.PUSH:
            self.stderr.write("PUSH is not 1: nobody is told anything, and open pages ask for themselves.")
        given = [
            "--interface",
            "asgi",
            "--host",
            host,
            "--port",
            str(port),
            "--workers",
            "1",
            "--no-access-log",
            "--respawn-failed-workers",
        ]
        os.execve(sys.executable, [sys.executable, "-m", "granian", *given, "config.push.server:application"], os.environ)  # noqa: S606
