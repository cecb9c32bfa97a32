"""Read a study file into a new draft, or into an existing one."""

from contextlib import ExitStack
from pathlib import Path

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from candor.designs.privacy_words import loss
from surveys.access import OWNER_ROLES, Seat
from surveys.errors import SurveyError
from surveys.models import Study
from surveys.studies.exchange import import_study
from surveys.study_file import study_from_outside


class Command(BaseCommand):
    help = "Reads a study file (YAML or JSON) and its media into a draft. Everything or nothing: an error changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--owner", required=True, help="user name of the investigator who owns the study, or with --replace of one who runs it"
        )
        parser.add_argument(
            "--media", type=Path, help="folder with the videos, captions and posters (default: the folder of the study file)"
        )
        parser.add_argument("--replace", action="store_true", help="change the draft if the study exists already")

    def handle(self, *args: object, file: Path, owner: str, media: Path | None, replace: bool, **options: object) -> None:
        try:
            with file.open("rb") as content:
                definition = study_from_outside(content, source=str(file))
        except OSError as error:
            raise CommandError(f"{file}: cannot be read: {error}") from error
        except SurveyError as error:
            raise CommandError(str(error)) from error
        user = User.objects.filter(username=owner).first()
        if user is None:
            raise CommandError(f"There is no user called {owner}.")
        existing = Study.objects.select_related("owner").filter(slug=definition.slug).first() if replace else None
        if existing is None and user.role not in OWNER_ROLES:
            raise CommandError(f"Only an investigator or an administrator can own a study; {owner} is neither.")
        if existing is not None and not Seat(user, existing).may_change:
            raise CommandError(f"The study {existing.slug} is that of {existing.owner.username}; {owner} does not run it.")
        try:
            with ExitStack() as opened:
                folder = media or file.parent
                files = {
                    name: File(opened.enter_context(folder.joinpath(name).open("rb")), name=name) for name in sorted(definition.files())
                }
                study = import_study(definition, media=files, owner=user, replace=replace)
        except FileNotFoundError as error:
            raise CommandError(f"The study file names a file that is not there: {error.filename}") from error
        except (OSError, SurveyError) as error:
            raise CommandError(str(error)) from error
        for warning in definition.warnings():
            self.stderr.write(self.style.WARNING(f"Warning: {warning}"))
        self.stdout.write(
            f"{study.slug}: draft ready, ε = {loss(study.epsilon_per_question)} per question, {loss(study.epsilon_total)} in total."
        )
