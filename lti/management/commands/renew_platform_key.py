"""Make a new key by which course platforms know this installation."""

from django.core.management.base import BaseCommand, CommandError, CommandParser

from lti.standard.keys import MOST_DAYS, USUAL_DAYS, renew_key


class Command(BaseCommand):
    help = "Sign messages to course platforms with a new key from now on. Earlier ones stay published for some days, unless they leaked."

    def add_arguments(self, parser: CommandParser) -> None:
        earlier = parser.add_mutually_exclusive_group()
        days = f"How long earlier keys stay published, from 1 to {MOST_DAYS} (default: {USUAL_DAYS})."
        earlier.add_argument("--days", type=int, default=USUAL_DAYS, help=days)
        earlier.add_argument("--leaked", action="store_true", help="Withdraw the earlier keys at once.")

    def handle(self, *args: object, **options: object) -> None:
        days = options["days"]
        if not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
            raise CommandError(f"Expected a number of days from 1 to {MOST_DAYS}, found {days}.")
        renew_key(days=0 if options["leaked"] else days)
        earlier = "The earlier ones are withdrawn." if options["leaked"] else f"The earlier ones stay published for at most {days} days."
        self.stdout.write(f"A new key signs messages to course platforms from now on. {earlier}")
