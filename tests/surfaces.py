"""All that anybody can get of an installation at once: each address as everybody, in the browser and by a program; the administration;
and what leaves by itself. Looking leaves no trace, so that two looks with nothing between them are the same.
"""

import difflib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from itertools import product
from pathlib import Path
from types import MappingProxyType
from unittest.mock import patch

from django.apps import apps
from django.contrib import admin
from django.core import mail
from django.core.cache import cache
from django.core.management.color import no_style
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from accounts.login import middleware
from accounts.models import TokenScope, User
from accounts.services import issue_token
from analysis.sources.unpacked import UNPACKED
from audit.models import Entry
from config.metrics.page import Families, of_participants
from jobs.models import Routine
from tests.audits.test_permissions import client_of, own_routes
from tests.audits.who_may_enter import ARGUMENTS, VISITORS
from webhooks.models import Delivery

Seen = dict[tuple[str, str], str]
READERS = tuple(one for one in VISITORS if one not in ("editor", "viewer"))
"""Editors and viewers see what the owner sees, or less."""
SENDERS = ("nobody",)
"""They also send an empty form to each address: what a refusal says is seen, too. Staff would make things."""
PROGRAMS = ("owner", "officer", "administrator")
ONES_OWN = ("account", "mfa", "log_out")
"""Pages of one's own account, with secrets that are drawn anew each time."""
FIGURES = (
    "participants",
    "enrolment",
    "balance",
    "forest-attention",
    "running-attention",
    "subgroups-attention-gender",
    "categories-copying",
    "shares-probation",
)
TABLES = ("participants", "enrolment", "balance", "estimates", "running", "subgroups", "categories")
SEVERAL = {"figure": FIGURES, "table": TABLES}
"""Parameters of addresses that are asked for with each of these values."""
WHOLES = {"slug", "data_set"}
"""Parameters that name a study or a data set."""
MAY_MOVE = (
    re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|csrf-token" content="[^"]*"'),
    re.compile(r'name="seed" value="[^"]*"'),  # of codes that would be made
    re.compile(r'data-token="[^"]*"'),  # of news, with its end
    re.compile(r"state=[0-9a-f]{16}"),
    re.compile(r"Next numbers after \d+ more (people|person)\."),
    re.compile(r'<progress id="batch-progress".*?</progress>'),
    re.compile(r'"until_next":\s*\d+'),
    re.compile(r"<td>(?:for|in) (?:less than a minute|\d+\s(?:minute|hour)s?(?:, \d+\sminutes?)?)</td>"),  # the clocks of all work
)
ALSO_MOVES = (
    re.compile(r"Content-Length: \d+"),  # of all this
    # The clock moves these, or the look itself.
    re.compile(r"Expires: .*|\b[0-9a-f]{32}\b|\b[0-9a-f]{64}\b"),
    re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?|\b\d\d:\d\d(?::\d\d\.\d+)? UTC|\b\d+(?::\d\d)? [ap]\.m\."),
)


@contextmanager
def nothing_stays() -> Iterator[None]:
    """A savepoint to go back to."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def taken_back(files: Path) -> Iterator[None]:
    """A world with these files beside its database, which numbers its rows from the same beginning as others. Nothing of it stays."""
    UNPACKED.forget_all()
    with override_settings(MEDIA_ROOT=str(files)), nothing_stays():
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
                cursor.execute(statement)
        yield


class Surfaces:
    """Remembers who looks, and looks: at these studies or data sets, by the parameter of addresses that names them.

    Programs also send a document to each address of a data set: that of `documents`, or an empty one.
    """

    def __init__(
        self,
        people: Mapping[str, User],
        *,
        readers: Sequence[str] = READERS,
        programs: Sequence[str] = PROGRAMS,
        documents: Mapping[str, object] = MappingProxyType({}),
        **wholes: Sequence[str],
    ) -> None:
        Client().get(reverse("lti:keys"))  # the first look would make them
        Routine.objects.update(due_at=timezone.now() + timedelta(days=1))  # a look takes longer than some of them wait
        self.wholes, self.documents = wholes, documents
        self.browsers = {reader: client_of(reader, dict(people)) for reader in readers}
        tokens = {one: issue_token(user=people[one], name="look", scope=TokenScope.WRITE, days=1) for one in programs if one in readers}
        self.programs = {reader: Client(headers={"Authorization": f"Bearer {token}"}) for reader, token in tokens.items()}
        self.addresses = dict(self._addresses())
        self.of_data_sets = {name for name, parameters in own_routes().items() if "data_set" in parameters}

    def _addresses(self) -> Iterator[tuple[str, str]]:
        """Every address of the installation; one that is added joins by itself."""
        for name, parameters in own_routes().items():
            if name.startswith(ONES_OWN) or WHOLES & set(parameters) - set(self.wholes):
                continue
            several = {**SEVERAL, **self.wholes}
            for values in product(*(several.get(one, (ARGUMENTS.get(one),)) for one in parameters)):
                chosen = dict(zip(parameters, values, strict=True))
                named = [value for one, value in chosen.items() if len(several.get(one, ())) > 1]
                yield " ".join([name, *named]), reverse(name, kwargs=chosen)

    def look(self, *readers: str) -> Seen:
        """All that everybody sees, or that these readers see."""
        chosen = readers or tuple(self.browsers)
        with patch.object(middleware, "NOTED_EVERY_SECONDS", middleware.IDLE_SECONDS):  # a slow look is no new visit
            return {**dict(self._in_browsers(chosen)), **dict(self._by_programs(chosen)), **dict(self._by_itself())}

    def _in_browsers(self, readers: Sequence[str]) -> Iterator[tuple[tuple[str, str], str]]:
        for reader in readers:
            client = self.browsers[reader]
            cookies = deepcopy(client.cookies)
            for name, address in self.addresses.items():
                for method in ("GET", "POST") if reader in SENDERS else ("GET",):
                    client.cookies = deepcopy(cookies)
                    yield (reader, f"{method} {name}"), _answer(client, method, address)
            client.cookies = cookies
        if "administrator" in readers:
            administrator = self.browsers["administrator"]
            for model in admin.site._registry:
                name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
                yield ("administrator", name), _answer(administrator, "GET", reverse(name))

    def _by_programs(self, readers: Sequence[str]) -> Iterator[tuple[tuple[str, str], str]]:
        for reader in self.programs.keys() & {*readers}:
            client = self.programs[reader]
            for name, address in self.addresses.items():
                if not address.startswith("/api/"):
                    continue
                yield (f"a program of {reader}", name), _answer(client, "GET", address)
                if (route := name.partition(" ")[0]) in self.of_data_sets:
                    yield (f"a program of {reader}", f"POST {name}"), _answer(client, "POST", address, self.documents.get(route, {}))

    def _by_itself(self) -> Iterator[tuple[tuple[str, str], str]]:
        """Messages to programs and people, numbers for monitoring, and the log as an officer has it."""
        yield ("monitoring", "metrics"), Families(of_participants()).written().decode()
        yield ("people", "mail"), "\n".join(f"{one.to} {one.subject} {one.body}" for one in mail.outbox)
        yield (
            ("programs", "webhooks"),
            "\n".join(map(str, Delivery.objects.order_by("pk").values_list("event", "status", "due_at", "news"))),
        )
        yield ("officers", "log"), "\n".join(map(str, Entry.objects.order_by("sequence").values_list("action", "details")))


def _answer(client: Client, method: str, address: str, document: object = None) -> str:
    """Status, headers, names of cookies and body; all that the request wrote is taken back."""
    cache.clear()  # of who edits now, and of who was slowed down: with a slow machine fewer are
    sent = {} if document is None else {"data": json.dumps(document), "content_type": "application/json"}
    with nothing_stays():
        response = client.generic(method, address, **sent)
        body = b"".join(response.streaming_content) if response.streaming else response.content
    return f"{response.status_code}\n{_head_of(response)}\n{_constant(body)}"


def _head_of(response: HttpResponse) -> str:
    names = sorted(name for name in response.cookies if name not in ("sessionid", "csrftoken"))
    return _constant("\n".join([*sorted(f"{name}: {value}" for name, value in response.headers.items()), *names]).encode())


def _constant(body: bytes) -> str:
    if body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "\n".join(f"{name}: {_constant(archive.read(name))}" for name in archive.namelist())
    text = body.decode("utf-8", "replace")
    for moving in (*MAY_MOVE, *ALSO_MOVES):
        text = moving.sub("", text)
    return text


def moved(before: Seen, after: Seen) -> list[str]:
    """The places that are not the same, each with the lines that differ."""
    assert before.keys() == after.keys()
    places = sorted(moved_places(before, after))
    return [f"{name} as {reader}: {_lines(before[reader, name], after[reader, name])}" for reader, name in places]


def moved_places(before: Seen, after: Seen) -> set[tuple[str, str]]:
    """The readers and places of the later look that are not the same."""
    return {place for place, seen in after.items() if before[place] != seen}


def _lines(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return " | ".join(line[:300] for line in lines if not line.startswith(("---", "+++", "@@")))[:1000]
