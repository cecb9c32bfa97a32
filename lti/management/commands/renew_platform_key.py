"""Make a new key by which course platforms know this installation."""

from django.core.management.base import BaseCommand

from lti.standard.keys import renew_key


class Command(BaseCommand):
    help = "Sign messages to course platforms with a new key from now on. The earlier ones stay published, so nothing breaks meanwhile."

    def handle(self, *args: object, **options: object) -> None:
        renew_key()
        self.stdout.write("A new key signs messages to course platforms from now on.")
