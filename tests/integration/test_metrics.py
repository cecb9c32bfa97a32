"""/metrics is for who knows the token; and the attack on it: no number moves by one person, and no two looks are a moment apart."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.cache import cache
from django.db import connection
from django.db.backends.signals import connection_created
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from analysis import services as analysis
from analysis.models import Run, RunStatus
from config.metrics import requests
from config.metrics.requests import BLOCK, Requests
from jobs.registry import JOBS
from surveys.batches import rules
from surveys.batches.rules import LEAST, WAITING_PER_GROUP
from surveys.batches.services import count_next_batch, show_who_is_on_the_way
from surveys.journey import services as participation
from surveys.models import Participant, Step, Study
from surveys.studies.services import close
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import answer, draft_study, logged_in, recruiting_study, walk
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import Sent, catch, work_off
from tests.processes import ROOT
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db
TOKEN = "the secret of a monitoring program"
FIRST = 4 * WAITING_PER_GROUP
MONITORING = ROOT / "deployment" / "monitoring"
Numbers = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Sent]:
    settings.METRICS_TOKEN = TOKEN
    cache.clear()
    yield catch(monkeypatch)
    connection_created.disconnect(dispatch_uid=requests.COUNTS_STATEMENTS)
    connection.execute_wrappers.clear()
    cache.clear()


@pytest.fixture
def study() -> Study:
    return recruiting_study(allocation={"planned_participants": 600, "block_multiples": [1]}, die=TELLING_DIE)


def metrics() -> str:
    found = Client(headers={"authorization": f"Bearer {TOKEN}"}).get("/metrics")
    assert found.status_code == 200, found.content
    return found.content.decode()


def numbers() -> Numbers:
    """All that somebody gets who waits until the page is made anew."""
    cache.clear()
    families = text_string_to_metric_families(metrics())
    return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in families for one in family.samples}


def moved(before: Numbers, now: Numbers) -> dict[str, float]:
    return {
        f"{name} {dict(labels)}": now.get((name, labels), 0.0) - before.get((name, labels), 0.0)
        for name, labels in before.keys() | now.keys()
        if before.get((name, labels)) != now.get((name, labels)) and not name.endswith("_created")
    }


def batch(study: Study) -> None:
    analysis.refresh_when_answers_change(Study, study_id=study.pk)
    while (run := Run.objects.filter(study=study, status=RunStatus.QUEUED).order_by("pk").first()) is not None:
        work_off(run)


def come_and_go(study: Study, committed: Callable[..., Any]) -> Iterator[str]:
    """Everything that one person may do, a person for each."""
    client = Client()
    client.get(f"/studies/{study.slug}/about/")
    yield "looks at the public page"
    for step in ("welcome", "consent", "background", "video", "quiz", "die"):
        with committed():
            answer(client, study, step)
        yield f"passes {step}"
    with committed():
        answer(client, study, "questions")
    yield "finishes"
    with committed():
        answer(client := Client(), study, "welcome")
        answer(client, study, "consent", agree="no")
    yield "declines"
    gone = Participant.objects.filter(study=study, counted=False).first()
    for person, what in ((gone, "withdraws unseen"), (None, "withdraws from the shown numbers")):
        person = person or Participant.objects.filter(study=study, counted=True, step=Step.FINISHED).first()
        if person is not None:
            code = "0123-4567-89AB-CDEF"
            Participant.objects.filter(pk=person.pk).update(withdrawal_hash=hash_of_withdrawal_code(code))
            with committed():
                assert participation.withdraw(study, code=code)
            study.refresh_from_db()
            yield what


def test_nothing_that_one_person_does_moves_a_number(study: Study, committed: Callable[..., Any]) -> None:
    add_finished_people(study, FIRST, counted=False)
    batch(study)
    show_who_is_on_the_way(study)
    before = numbers()
    assert before["candor_people", (("step", "finished"), ("study", study.slug))] == 4 * LEAST
    done = []
    for what in come_and_go(study, committed):
        assert moved(before, numbers()) == {}, what
        done.append(what)
    assert done[-1] == "withdraws from the shown numbers"
    assert len(done) >= 11


def test_the_attack_sees_a_person_where_numbers_are_exact(study: Study, monkeypatch: pytest.MonkeyPatch, committed: Any) -> None:
    add_finished_people(study, FIRST, counted=False)
    batch(study)
    monkeypatch.setattr(rules, "LEAST", 1)
    seen = []
    before = numbers()
    for what in come_and_go(study, committed):
        seen += [what] if moved(before, now := numbers()) else []
        before = now
    assert "withdraws from the shown numbers" in seen


def test_the_attack_sees_a_visit_where_requests_are_counted_one_by_one(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests.OF_VISITORS, "_block", 1)
    before = numbers()
    Client().get(f"/s/{study.slug}/")
    assert moved(before, numbers())


def test_people_move_by_whole_tens_and_requests_by_whole_blocks(study: Study) -> None:
    before = numbers()
    add_finished_people(study, FIRST, counted=False)
    assert count_next_batch(study)
    walk(Client(), study)
    steps = {change for what, change in moved(before, numbers()).items() if what.startswith("candor_people")}
    assert steps
    assert all(change % LEAST == 0 for change in steps)


def test_requests_of_participants_are_counted_block_by_block(study: Study) -> None:
    requests.OF_VISITORS._waiting.clear()
    before, client = numbers(), Client()
    for _ in range(BLOCK - 1):
        client.get(f"/s/{study.slug}/")
    assert moved(before, numbers()) == {}
    client.get(f"/s/{study.slug}/")
    counted = {what: change for what, change in moved(before, numbers()).items() if "_count" in what}
    assert counted == {
        "candor_visitor_request_seconds_count {'kind': 'journey', 'status': '2xx'}": BLOCK,
        "candor_visitor_statements_count {'kind': 'journey'}": BLOCK,
    }


def test_two_looks_at_what_follows_participants_are_five_minutes_apart(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_for: list[float] = []
    get_or_set = cache.get_or_set

    def keep(key: str, make: Callable[[], bytes], seconds: float) -> object:
        kept_for.append(seconds)
        return get_or_set(key, make, seconds)

    monkeypatch.setattr(cache, "get_or_set", keep)
    first = metrics()
    add_finished_people(study, FIRST, counted=False)
    batch(study)
    again = metrics()
    assert [line for line in again.splitlines() if "candor_people" in line] == [
        line for line in first.splitlines() if "candor_people" in line
    ]
    assert kept_for == [300, 300]


def test_staff_are_counted_at_once(study: Study) -> None:
    before, client = numbers(), logged_in(study.owner)
    client.get("/studies/")
    client.get("/api/v1/studies/")
    counted = {what for what in moved(before, numbers()) if "_count" in what}
    assert counted == {
        "candor_staff_request_seconds_count {'kind': 'api', 'status': '2xx'}",
        "candor_staff_request_seconds_count {'kind': 'pages', 'status': '2xx'}",
        "candor_staff_statements_count {'kind': 'api'}",
        "candor_staff_statements_count {'kind': 'pages'}",
    }


def test_labels_name_public_studies_and_nothing_else(study: Study) -> None:
    draft, ended = draft_study(slug="a-draft-that-nobody-knows"), recruiting_study(slug="one-that-is-over")
    close(ended, actor=ended.owner)
    walk(client := Client(), study)
    logged_in(study.owner).get("/studies/")
    found = numbers()
    names = {name for _metric, labels in found for name, _value in labels}
    assert names == {"study", "step", "queue", "kind", "status", "part", "version", "le"}
    assert {value for _metric, labels in found for name, value in labels if name == "study"} == {study.slug}
    written = metrics()
    person = Participant.objects.get(study=study)
    secrets = [draft.slug, ended.slug, study.owner.username, str(person.pk), *(one.value for one in client.cookies.values())]
    assert not [one for one in secrets if one in written]
    assert person.arm not in {value for _metric, labels in found for _name, value in labels}


def test_the_page_is_not_there_without_a_token_in_the_settings(settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    assert Client(headers={"authorization": "Bearer "}).get("/metrics").status_code == 404


@pytest.mark.parametrize("sent_token", ["", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x"])
def test_the_page_asks_for_the_token(sent_token: str) -> None:
    refused = Client(headers={"authorization": sent_token}).get("/metrics")
    assert (refused.status_code, refused["WWW-Authenticate"], refused["Cache-Control"]) == (401, "Bearer", "no-store")
    assert "candor_" not in refused.content.decode()


def test_a_short_token_stops_the_start() -> None:
    environment = {**os.environ, "METRICS_TOKEN": "short", "DJANGO_SETTINGS_MODULE": "config.settings.development"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "platform")])
    started = subprocess.run([sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert started.returncode != 0
    assert "Expected a METRICS_TOKEN of at least 20 characters, found 5." in started.stderr


IN_A_PROCESS = """
import django, sys
django.setup()
from config.metrics import requests
for _ in range(int(sys.argv[1])):
    requests.OF_VISITORS.add("journey", 200, 0.01, 2)
    requests.OF_STAFF.add("api", 200, 0.01, 2)
found = {one.name: one.value for family in requests.collected() for one in family.samples}
print(found.get("candor_visitor_statements_count"), found.get("candor_visitor_statements_sum"), found["candor_staff_statements_count"])
"""


def test_several_processes_add_their_numbers_up(tmp_path: Path) -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.production", "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    environment |= {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "platform")]), "METRICS_TOKEN": TOKEN, "SECRET_KEY": "x" * 50}
    environment |= {"ALLOWED_HOSTS": "candor.example.org", "MEDIA_ROOT": str(tmp_path / "media")}
    environment |= {"DATABASE_URL": "postgresql://nobody@localhost:1/none", "REDIS_URL": "redis://localhost:1/0"}
    counted = [
        subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS, str(n)], env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for n in (BLOCK, BLOCK - 1, 2 * BLOCK + 1)
    ]
    assert counted == [
        [f"{BLOCK}.0", f"{2 * BLOCK}.0", f"{BLOCK}.0"],
        [f"{BLOCK}.0", f"{2 * BLOCK}.0", f"{2 * BLOCK - 1}.0"],
        [f"{3 * BLOCK}.0", f"{6 * BLOCK}.0", f"{4 * BLOCK}.0"],
    ]


def test_a_block_is_counted_once_by_threads_at_once() -> None:
    counted = Requests("candor_visitor_of_a_test", "a test", block=7)

    def add() -> None:
        for _ in range(700):
            counted.add("journey", 200, 0.01, 1)

    at_once(*[add] * 4)
    [family] = counted.statements.collect()
    assert {one.value for one in family.samples if one.name.endswith("_count")} == {2800.0}
    requests.REGISTRY.unregister(counted.statements)
    requests.REGISTRY.unregister(counted.seconds)


def test_work_of_every_kind_is_there() -> None:
    found = numbers()
    for name in ("candor_jobs_waiting", "candor_jobs_running", "candor_jobs_failed", "candor_jobs_oldest_seconds"):
        assert {dict(labels)["kind"] for metric, labels in found if metric == name} == set(JOBS)


def expressions() -> Iterator[str]:
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    yield from (target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ()))
    for group in yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


def test_dashboard_and_alerts_ask_for_numbers_that_are_there(study: Study) -> None:
    client = Client()
    for _ in range(BLOCK):
        client.get(f"/s/{study.slug}/")
    logged_in(study.owner).get("/studies/")
    names = {name for name, _labels in numbers()}
    asked = {name for expression in expressions() for name in re.findall(r"candor_\w+", expression)}
    assert asked <= names
    gauges = {name for name in names if not name.endswith(("_bucket", "_count", "_sum", "_created"))}
    assert gauges - {"candor_info"} <= asked, "every gauge is on the dashboard or in an alert"
    document = (ROOT / "docs" / "operations.md").read_text()
    assert not [name for name in gauges if name not in document]


def test_each_alert_says_what_to_do() -> None:
    document = (ROOT / "docs" / "operations.md").read_text()
    rules_there = [rule for group in yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
    assert rules_there
    for rule in rules_there:
        assert {"alert", "expr", "for", "labels", "annotations"} <= rule.keys()
        assert rule["annotations"]["summary"]
        assert f"`{rule['alert']}`" in document


def test_counting_costs_a_request_at_most_twenty_calls(study: Study, settings: Any) -> None:
    """Calls of functions, as in `test_cost_of_a_journey`, whose 15 requests take 35,000 or more. Without a token there is nothing."""

    def calls() -> int:
        client, found = Client(), 0
        for _ in range(5):
            client.get(f"/s/{study.slug}/")

        def tally(_frame: object, event: str, _argument: object) -> None:
            nonlocal found
            found += event in ("call", "c_call")

        sys.setprofile(tally)
        try:
            client.get(f"/s/{study.slug}/")
        finally:
            sys.setprofile(None)
        return found

    requests.OF_VISITORS._waiting.clear()  # no block is complete on the way
    with_token = min(calls() for _ in range(4))
    settings.METRICS_TOKEN = ""
    assert with_token - min(calls() for _ in range(4)) <= 20
