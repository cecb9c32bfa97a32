"""Writes `0.2.0.json.gz`: a database as release 0.2.0 left it, in the middle of everything, with a row in every one of its tables.

    git archive v0.2.0 | tar --extract --directory /tmp/0.2.0
    cd /tmp/0.2.0 && python …/tests/upgrade/write_0_2_0.py …/tests/upgrade/0.2.0.json.gz

It runs on the code of 0.2.0 and not on today's; the environment of today has all that it imports.
"""

import base64
import gzip
import json
import os
import sys
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "platform")]
folder = TemporaryDirectory()
os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings.test", "DATABASE_URL": f"sqlite:///{folder.name}/db.sqlite3"}

import django  # noqa: E402

django.setup()

from django.apps import apps  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.serializers.json import DjangoJSONEncoder  # noqa: E402
from django.db.models.fields.files import FieldFile  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

settings.MEDIA_ROOT = f"{folder.name}/media"
setup_test_environment()
call_command("migrate", verbosity=0)

from accounts.models import Role, TokenScope  # noqa: E402
from accounts.services import issue_token  # noqa: E402
from analysis import services as analysis  # noqa: E402
from analysis.models import Run, RunKind  # noqa: E402
from analysis.runs import runner  # noqa: E402
from jobs import tasks  # noqa: E402
from surveys.access import Seat  # noqa: E402
from surveys.models import AllocationSlot, MemberRole  # noqa: E402
from surveys.protocols import protocol_view_for  # noqa: E402
from surveys.recruitment.services import add_entry_codes  # noqa: E402
from surveys.rehearsal.services import Planted, rehearse  # noqa: E402
from surveys.retention import services as retention  # noqa: E402
from surveys.review import services as review  # noqa: E402
from surveys.sharing.services import accept_invitation, invite  # noqa: E402
from surveys.studies import services as studies  # noqa: E402
from tests.factories import code_on, definition, document, draft_study, follow, person, recruiting_study, walk  # noqa: E402
from tests.finished_people import TELLING_DIE, add_finished_people  # noqa: E402
from tests.jobs import attempt, claimed, held, work_off  # noqa: E402
from tests.releases import closed_study, published_release, requested_release, started_release  # noqa: E402
from webhooks.models import Event  # noqa: E402
from webhooks.services import add_webhook, emit  # noqa: E402

tasks.work.apply_async = lambda *arguments, **options: None
small = {"planned_participants": 24, "block_multiples": [1]}
told: dict[str, Any] = {}
"""The secrets that people of 0.2.0 hold in their hands."""

officer = person(Role.IRB_OFFICER, username="officer")
person(Role.ADMINISTRATOR, username="root")
ada, ben = person(Role.INVESTIGATOR, username="ada"), person(Role.ANALYST, username="ben")
told["token"] = issue_token(user=ada, name="scripts", scope=TokenScope.READ, days=300)

# A study in the middle of its life: people at each step, codes spent and not, results by the methods of then, work half done.
codes = recruiting_study(
    owner=ada, slug="codes", entry={"kind": "codes"}, die=TELLING_DIE, allocation={"planned_participants": 96, "block_multiples": [1]}
)
add_entry_codes(codes, codes=[f"CODE-{number:04}" for number in range(20)], actor=ada)
add_finished_people(codes, 60, unfinished=0.1)
told["cookies"] = {}
for number, step in enumerate(("background", "video", "quiz", "die", "questions", "finished")):
    client = Client()
    page = walk(client, codes, until=step, answers={"welcome": {"language": "de" if step == "quiz" else "en", "code": f"CODE-{number:04}"}})
    told["cookies"][step] = {name: cookie.value for name, cookie in client.cookies.items()}
told["withdrawal_code"] = code_on(page, "withdrawal")
client = Client()
walk(client, codes, until="consent", answers={"welcome": {"language": "en", "code": "CODE-0019"}})
client.post("/s/codes/", {"step": "consent", "choice": "decline"})
for kind in RunKind:
    runner.queue_run(codes.pk, kind=kind)
    work_off(Run.objects.get(study=codes, kind=kind, status="queued"))
attempt(claimed(runner.queue_run(codes.pk, kind=RunKind.FULL_RESULTS)))
runner.queue_run(codes.pk, kind=RunKind.FIRST_RESULTS)
invitation, _link = invite(codes, addressee="ben", role=MemberRole.VIEWER, actor=ada)
accept_invitation(invitation, user=ben)
invite(codes, addressee="new@university.example", role=MemberRole.EDITOR, actor=ada)
review.comment(codes, actor=officer, section="consent", text="Shorter, please.")
analysis.blind(codes, on=True, actor=ada)
add_webhook(codes, address="https://news.example.org/candor", events=list(Event), site="https://candor.example.org", actor=ada)
emit(codes.pk, Event.RESULTS_UPDATED)

# A panel of people, some of whom are asked without a die.
panel = recruiting_study(
    owner=ada,
    slug="panel",
    entry={"kind": "prolific"},
    die=TELLING_DIE,
    allocation=small,
    direct_group={"share": 0.5, "consent": "May we ask?"},
)
AllocationSlot.objects.filter(study=panel, position__lte=3).update(subsample="direct")
for number in range(6):
    page = follow(Client(), panel, answers={"welcome": {"panel_identifier": f"number-{number}"}})
walk(Client(), panel, until="background", answers={"welcome": {"panel_identifier": "number-9"}})
told["panel_withdrawal_code"] = code_on(page, "withdrawal")

# Studies at the end: one published, one whose release waits for the officer, one whose data were forgotten.
published = published_release(closed_study(people=48, owner=ada, slug="published"), officer=officer)
requested_release(closed_study(people=48, owner=ada, slug="requested"))
started_release(closed_study(people=24, owner=ada, slug="started", allocation=small))
forgotten = recruiting_study(owner=ada, slug="forgotten", die=TELLING_DIE, allocation=small)
add_finished_people(forgotten, 20)
walk(Client(), forgotten, until="questions")
retention.forget_operational_data(studies.close(forgotten, actor=ada), actor=ada)

# Drafts: one in whose translations something was changed in one language alone, with bots on their way; one in review.
draft = draft_study(owner=ada, slug="draft")
changed = definition(slug="draft", consent={"en": "Changed in English alone.", "de": document()["consent"]["de"]})
studies.change_definition(draft, definition=changed, actor=ada)
planted = Planted(bots=2, prevalence=0.4, effect=0.2, cheater_proportion=0.1, behaviour="random", drops_out=0.0)
rehearse(draft, protocol=protocol_view_for(Seat(ada, draft)), planted=planted, actor=ada)
waiting = draft_study(owner=ada, slug="waiting")
studies.submit_for_review(waiting, actor=ada)

# Work in the middle of which the old worker was stopped.
tasks.sweep()
Run.objects.filter(kind=RunKind.FIRST_RESULTS, status="queued").update(**held(silent_for=60), status="running")


def plain(value: object) -> object:
    """The value of a column as JSON can hold it."""
    match value:
        case bytes() | memoryview():
            return base64.b64encode(bytes(value)).decode()
        case FieldFile():
            return value.name
        case datetime():
            return value.isoformat()  # to the microsecond, which the log's hashes cover
        case _:
            return value


rows = {
    model._meta.label: [
        {field.attname: plain(getattr(row, field.attname)) for field in model._meta.concrete_fields}
        for row in model._default_manager.order_by("pk")
    ]
    for application in ("accounts", "audit", "jobs", "surveys", "webhooks", "analysis")
    for model in apps.get_app_config(application).get_models()
}
empty = [label for label, found in rows.items() if not found]
assert not empty, f"tables without a row: {empty}"
written = json.dumps({"written_on": date.today(), "told": told, "rows": rows}, cls=DjangoJSONEncoder, ensure_ascii=False)
Path(sys.argv[1]).write_bytes(gzip.compress(written.encode(), mtime=0))
