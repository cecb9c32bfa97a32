"""`manage.py forget_operational_data SLUG`."""

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.errors import TransitionError
from surveys.models import Study
from surveys.retention.services import forget_operational_data


class Command(BaseCommand):
    help = (
        "Deletes the operational data of a closed study before its day: background and quiz answers, tokens, withdrawal codes, "
        "panel numbers, entry codes, people who did not finish. Reported answers and counts stay. This cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--confirm", metavar="SLUG", help="the slug once more, in place of typing it when asked")

    def handle(self, *args: object, slug: str, confirm: str | None, **options: object) -> None:
        study = Study.objects.defer("definition").filter(slug=slug).first()
        if study is None:
            raise CommandError(f"There is no study called {slug}.")
        typed = confirm if confirm is not None else _answer_to(f"This cannot be undone. Type {slug} to go on: ")
        if typed.strip() != slug:
            raise CommandError(f"Nothing was deleted: expected {slug}, got {typed.strip() or 'nothing'}.")
        try:
            forget_operational_data(study)
        except TransitionError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The operational data of {slug} are deleted.")


def _answer_to(question: str) -> str:
    """The typed line; empty where nobody is there to type one."""
    try:
        return input(question)
    except EOFError:
        return ""
