"""Issue or revoke a token for the API."""

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import TokenScope, User
from accounts.services import LONGEST_TOKEN_DAYS, USUAL_TOKEN_DAYS, issue_token, revoke_token


class Command(BaseCommand):
    help = "Prints a new token for the API, once; or revokes the token of this name."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("name", help="what the token is for, such as night-report")
        parser.add_argument("--scope", choices=TokenScope.values, default=TokenScope.READ)
        parser.add_argument(
            "--days", type=int, default=USUAL_TOKEN_DAYS, help=f"how long it is good, 1 to {LONGEST_TOKEN_DAYS} (default: %(default)s)"
        )
        parser.add_argument("--revoke", action="store_true")

    def handle(self, *args: object, username: str, name: str, scope: str, days: int, revoke: bool, **options: object) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user called {username}.")
        if revoke:
            if not revoke_token(user=user, name=name):
                raise CommandError(f"{username} has no token called {name}.")
            self.stdout.write(f"The token {name} of {username} is revoked.")
            return
        if not 1 <= days <= LONGEST_TOKEN_DAYS:
            raise CommandError(f"--days: expected 1 to {LONGEST_TOKEN_DAYS}, got {days}.")
        try:
            self.stdout.write(issue_token(user=user, name=name, scope=TokenScope(scope), days=days))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
