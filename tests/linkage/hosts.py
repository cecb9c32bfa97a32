"""The same people on the pages of two hosts, and what an intruder reads beside the database: every log, Redis, and what `push` said.

The intruder also saw each person finish: the moment, how long every log was then, and how much had been said.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from django.test import Client

from surveys.journey.services import Visit
from surveys.models import Study
from surveys.tokens import withdrawal_code
from tests.factories import ANSWERS, STEPS, answer, token_of
from tests.linkage.attack import Copy, Row
from tests.linkage.copies import copy_of_postgresql
from tests.linkage.journeys import Walk, trace_of
from tests.two_hosts import Hosts, Observer, browser

LAST_PAGE = {**ANSWERS["questions"], "answer-copying": "2", "answer-probation": "1"}
WORDS = re.compile(r"[\w-]{6,}")


@dataclass(kw_only=True)
class Intruder:
    """Somebody with the disks and the memory of both hosts, who saw everybody finish."""

    hosts: Hosts
    observer: Observer
    seen: dict[str, dict[str, object]] = field(default_factory=dict)

    def somebody(self, study: Study, name: str, *, codes: bool) -> Walk:
        """Somebody with this code, or this number at the panel, each page of whom the next host shows."""
        entry = {"code": name} if codes else {"way": "prolific", "PROLIFIC_PID": name}
        return OnPages(study=study, trace=trace_of(study, name, codes=codes), entry=entry, intruder=self)

    def sees(self, person: Walk) -> None:
        """This person sends the last page now."""
        lengths = {f"{place}.line": len(lines) for place, lines in self.hosts.logs().items()}
        heard = {"push.number": len(self.observer.said), "push.tenth": int(10 * time.time())}
        self.seen[person.trace] = lengths | heard

    def copy(self) -> Copy:
        """The database, with what else the intruder has."""
        copy = copy_of_postgresql()
        people = {trace: {**row, **self.seen.get(trace, {})} for trace, row in copy.people.items()}
        return replace(copy, people=people, others={**copy.others, **self.places()})

    def places(self) -> Mapping[str, list[Row]]:
        """Each place as a table, whose rows have their number and their words."""
        texts = {**self.hosts.logs(), **{f"Redis, {key}": values for key, values in self.hosts.in_redis().items()}}
        places: dict[str, list[Row]] = {
            name: [{"line": number, **_words(f"{name} {line}")} for number, line in enumerate(lines)] for name, lines in texts.items()
        }
        news = [{"number": number, "tenth": int(10 * at), "version": said} for number, (said, at) in enumerate(self.observer.said)]
        return {name: rows for name, rows in {**places, "push": news}.items() if rows}


def _words(line: str) -> dict[str, str]:
    return {f"word {number}": word for number, word in enumerate(dict.fromkeys(WORDS.findall(line)))}


@dataclass(kw_only=True, eq=False)
class OnPages(Walk):
    """One person with a browser."""

    ORDER: ClassVar[tuple[str, ...]] = STEPS[:-1]
    visit: Visit = field(init=False, repr=False)
    entry: Mapping[str, str]
    intruder: Intruder
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = browser(self.intruder.hosts)

    @property
    def token(self) -> str:
        return token_of(self.client)

    def go_on(self) -> bool:
        step = self.ORDER[self.step]
        if step == self.ORDER[-1]:
            self.intruder.sees(self)
        sent = {"welcome": self.entry, "questions": LAST_PAGE}.get(step, {})
        response = answer(self.client, self.study, step, **sent)
        assert response.status_code == 303, f"{step}: {response.status_code} {response.content.decode()[-1500:]}"
        self.step += 1
        return self.step < len(self.ORDER)

    def leave(self) -> None:
        code = withdrawal_code(self.token)
        for stage in ("enter", "confirm"):
            assert self.client.post(f"/s/{self.study.slug}/withdraw/", {"code": code, "stage": stage}).status_code == 200
