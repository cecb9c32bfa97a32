"""Send simulated participants through a study."""

import json
import logging
import secrets
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import click
import httpx
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction

from audit.services import record
from candor.errors import MethodError
from candor.planning.simulation import Behaviour
from surveys import actions
from surveys.bots.population import Habits, Population
from surveys.bots.sending import send_bots
from surveys.bots.walker import Diary, Ending, UnexpectedPageError
from surveys.models import Study, StudyStatus
from surveys.protocols import frozen_protocol
from surveys.ways_in import OPEN


class Command(BaseCommand):
    help = "Bots walk the real journey, page by page. Only studies that accept bots take them (rehearsals and demonstrations)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("--n", type=int, default=300, help="how many bots (default: 300)")
        parser.add_argument("--prevalence", type=float, default=0.4, help="share of true yes in the control arm")
        parser.add_argument("--effect", type=float, default=0.2, help="added to it in every other arm")
        parser.add_argument("--cheaters", type=float, default=0.1, help="share who do not follow the die")
        parser.add_argument("--cheater-behaviour", default="always_no", choices=[b.value for b in Behaviour if b != Behaviour.HONEST])
        parser.add_argument("--dropout", type=float, default=Habits().drops_out, help="share who leave in the middle")
        parser.add_argument("--decline", type=float, default=Habits().declines, help="share who do not consent")
        parser.add_argument(
            "--agree-directly", type=float, default=Habits().agrees_to_direct, help="share who may be asked without a die, where some are"
        )
        parser.add_argument(
            "--under-report", type=float, default=Habits().under_reports, help="share who deny a true yes when they are asked without a die"
        )
        parser.add_argument("--codes", default="", help="file with a personal code in each line, for a study that is entered by them")
        parser.add_argument("--workers", type=int, default=4, help="how many walk at the same time")
        parser.add_argument("--patience", type=float, default=60.0, help="seconds for which they wait for a server that is away")
        parser.add_argument("--diary", default="", help="file in which they note what was acknowledged to them, one JSON line each")
        parser.add_argument("--seed", type=int, help="the same seed gives the same people (their dice are never the same)")
        parser.add_argument(
            "--url", default="", help="address of a running server; without it the bots walk through the application in this process"
        )

    def handle(self, *args: object, study: str, n: int, workers: int, seed: int | None, url: str, **options: Any) -> None:
        found = Study.objects.filter(slug=study).first()
        if found is None:
            raise CommandError(f"There is no study called {study}.")
        if not found.accepts_bots:
            raise CommandError(f"The study {study} does not accept bots; set “accepts bots” in the admin if it is a rehearsal.")
        if found.status != StudyStatus.RECRUITING or found.protocol_id is None:
            raise CommandError(f"The study {study} is {found.get_status_display().lower()}; bots need one that is recruiting.")
        for name in ("prevalence", "cheaters", "dropout", "decline", "agree_directly", "under_report"):
            if not 0 <= options[name] <= 1:
                option = name.replace("_", "-")
                raise CommandError(f"--{option} must lie between 0 and 1, got {options[name]}.")
        if n < 1 or workers < 1:
            raise CommandError(f"--n and --workers must be at least 1, got {n} and {workers}.")
        seed = secrets.randbits(32) if seed is None else seed
        definition, codes = frozen_protocol(found.protocol_id).definition, _codes_in(options["codes"], n)
        if not codes and all(way.kind != OPEN.name for way in definition.entry.every_way):
            raise CommandError(f"The study {study} has no open link. Bots come by an open link, or by personal codes: --codes FILE.")
        try:
            population = Population.of(
                definition,
                prevalence=options["prevalence"],
                effect=options["effect"],
                cheater_proportion=options["cheaters"],
                behaviour=Behaviour(options["cheater_behaviour"]),
                habits=Habits(
                    declines=options["decline"],
                    drops_out=options["dropout"],
                    agrees_to_direct=options["agree_directly"],
                    under_reports=options["under_report"],
                ),
            )
        except MethodError as error:
            raise CommandError(str(error)) from error
        # Bots' deliberate mistakes are no news, and messages about them would break the progress bar.
        logging.getLogger("django.request").setLevel(logging.ERROR)
        endings, gone = Counter[Ending](), ""
        with click.progressbar(length=n, label="Bots", file=sys.stderr) as bar, _written_to(options["diary"]) as diary:
            try:
                endings = send_bots(
                    found,
                    population=population,
                    n=n,
                    workers=workers,
                    seed=seed,
                    url=url,
                    codes=codes,
                    patience_seconds=options["patience"],
                    progress=lambda: bar.update(1),
                    diary=diary,
                )
            except (httpx.HTTPError, httpx.InvalidURL, UnexpectedPageError) as error:  # after the last attempt
                gone = f"expected {f'a running server at {url}' if url else 'the pages of a journey'}, found: {error}"
        if not connection.in_atomic_block:  # the connection of before may not have survived what the bots have
            connection.close()
        with transaction.atomic():
            # An address may hold a password, and the log is read by others.
            outcome: dict[str, object] = {"stopped": "the server is away"} if gone else {"endings": dict(endings)}
            details = {"n": n, "seed": seed, **outcome}
            record(actor=None, action=actions.BOTS_SENT, subject=found, details=details)
        if gone:
            raise CommandError(gone)
        self.stdout.write("  ".join(f"{ending}: {count}" for ending, count in sorted(endings.items())) + f"  (seed {seed})")


def _codes_in(path: str, n: int) -> list[str]:
    """A code for each bot; none where no file is named."""
    try:
        codes = Path(path).read_text(encoding="utf-8").split() if path else []
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--codes: expected a text file, found: {error}") from error
    if path and len(codes) < n:
        raise CommandError(f"--codes: expected a code for each of {n} bots, found {len(codes)}.")
    return codes


@contextmanager
def _written_to(path: str) -> Iterator[Diary]:
    """A diary in a file, line by line and at once, so that others can read it meanwhile; nowhere, if there is no path."""
    if not path:
        yield lambda _event: None
        return
    one_at_a_time = Lock()
    with open(path, "a", encoding="utf-8") as file:

        def note(event: Mapping[str, object]) -> None:
            with one_at_a_time:
                file.write(json.dumps(event) + "\n")
                file.flush()

        yield note
