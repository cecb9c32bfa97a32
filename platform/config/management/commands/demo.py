"""`manage.py demo`, which `make demo` runs."""

import os
from argparse import ArgumentTypeError
from datetime import timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.services import ensure_demo_users
from analysis.models import Run, RunKind, RunStatus
from config.management.commands.serve import add_address_arguments, require_free_port
from config.settings.secrets import installation_secret
from jobs.tasks import work
from surveys.bots.services import day_of_batch, give_batch_a_day
from surveys.counts import exact_counts
from surveys.events import somebody_finished
from surveys.media.services import add_media_file
from surveys.models import Participant, Step, Study
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.study_file import read_study_file

SAMPLE = Path(settings.BASE_DIR) / "surveys" / "sample"
STUDY_FILE = SAMPLE / "lecture-videos.yaml"
SIMULATED = timedelta(weeks=4)
"""The time over which the batches of bots are spread."""


class Command(BaseCommand):
    help = "Builds the demonstration study, lets bots walk it, and serves everything from this one process. A second start keeps the data."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        add_address_arguments(parser)
        parser.add_argument("--bots", type=_bots, default=os.environ.get("DEMO_BOTS") or "300", help="default: DEMO_BOTS, else 300")
        parser.add_argument("--no-serve", action="store_true", help="stop when everything is built")

    def handle(self, *args: object, host: str, port: int, bots: int, no_serve: bool, **options: object) -> None:
        if not settings.DEMONSTRATIONS:
            raise CommandError(
                "A demonstration makes accounts with one password and lets bots into a study: production settings refuse it. Run it where "
                "DJANGO_SETTINGS_MODULE is config.settings.development."
            )
        if not no_serve:
            require_free_port(host, port)
        password = installation_secret(Path(settings.VAR_DIR) / "demo_password", characters=12)
        call_command("migrate", verbosity=0, interactive=False)
        study, users = build_demonstration(password=password)
        missing = bots - Participant.objects.filter(study=study, is_bot=True).count() - exact_counts(study).declined
        if missing > 0 and study.status == "recruiting":
            weeks = partial(_count_batch, study=study, expected=bots)
            somebody_finished.connect(weeks, dispatch_uid="demo")
            call_command("send_bots", study.slug, n=missing, prevalence=0.3, effect=0.35, stdout=self.stdout, stderr=self.stderr)
            somebody_finished.disconnect(dispatch_uid="demo")
            weeks()
        site = f"http://{'localhost' if host == '127.0.0.1' else host}:{port}"
        self.stdout.write(
            f"\nTake part:   {site}/s/{study.slug}/\n"
            f"Results:     {site}/studies/{study.slug}/results/\n"
            f"Log in as:   {', '.join(user.username for user in users)}\n"
            f"Password:    {password}   (drawn for this installation, kept in {Path(settings.VAR_DIR) / 'demo_password'})\n"
        )
        self.stdout.flush()
        if not no_serve:
            call_command("serve", host=host, port=port, stdout=self.stdout)


def _bots(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError(f"--bots or DEMO_BOTS must be a whole number of at least 0, got {text!r}")
    return int(text)


def build_demonstration(*, password: str) -> tuple[Study, list[User]]:
    """The sample study, recruiting, and one person for each role; what is there already is kept."""
    users = ensure_demo_users(password=password)
    people = {user.username: user for user in users}
    study = Study.objects.filter(slug=read_study_file(STUDY_FILE.read_text(encoding="utf-8")).slug).first()
    return study or _build(investigator=people["investigator"], officer=people["irb"]), users


def _count_batch(*, study: Study, expected: int, **signal: object) -> None:
    """Compute what waits, as a worker would, and give the batch its simulated day; all bots together would be one batch of one day."""
    for run_id in Run.objects.filter(status=RunStatus.QUEUED, kind=RunKind.FIRST_RESULTS).values_list("pk", flat=True):
        work(RunKind.FIRST_RESULTS, run_id)
    today = timezone.localdate()
    finished = Participant.objects.filter(study=study, is_bot=True, step=Step.FINISHED).count()
    give_batch_a_day(study, day_of_batch(last=today, arrived=finished, expected=expected, over=SIMULATED), today=today)


@transaction.atomic
def _build(*, investigator: User, officer: User) -> Study:
    """Takes the sample study through its whole life up to recruiting, by the services that everybody uses."""
    definition = read_study_file(STUDY_FILE.read_text(encoding="utf-8"), source=str(STUDY_FILE))
    study = studies.create_study(definition=definition, owner=investigator, accepts_bots=True)
    for name in sorted(definition.files()):
        with (SAMPLE / "lectures" / name).open("rb") as content:
            add_media_file(study, name=name, content=File(content), actor=investigator)
    studies.submit_for_review(study, actor=investigator)
    reviews.approve(study, actor=officer)
    return studies.launch(study, actor=investigator)
