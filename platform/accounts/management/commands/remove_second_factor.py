"""`manage.py remove_second_factor NAME`."""

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from accounts.services import remove_second_factor


class Command(BaseCommand):
    help = "Remove the second factor of somebody who lost their phone and their recovery codes. Make sure first who is asking."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: object, username: str, **options: object) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"Nobody is called {username}.")
        if not remove_second_factor(user=user):
            raise CommandError(f"{username} has no second factor.")
        self.stdout.write(f"{username} logs in with the password alone, until they set up a second factor again.")
