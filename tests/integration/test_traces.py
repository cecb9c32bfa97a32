"""Traces show what staff's pages and some work cost; and the attack on them: no span follows a participant, no byte names anybody."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from celery.signals import task_postrun, task_prerun, worker_process_shutdown
from django.db import connection
from django.db.backends.signals import connection_created
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from analysis import services as analysis
from analysis.models import Run, RunKind, RunStatus
from config.traces import middleware, safe, spans, work
from jobs import tasks
from jobs.models import Routine
from surveys.batches.rules import WAITING_PER_GROUP
from surveys.batches.services import show_who_is_on_the_way
from surveys.classroom.services import open_room
from surveys.journey import services as participation
from surveys.models import Participant, Step, Study
from surveys.tokens import hash_of_withdrawal_code
from tests.audits.test_permissions import own_routes
from tests.audits.who_may_enter import ARGUMENTS
from tests.collector import Collector, attributes_of, collector
from tests.factories import address_of, answer, logged_in, person, recruiting_study, token_of, walk
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import Sent, catch

pytestmark = pytest.mark.django_db
CANARY = "canary7d41"
FROM_OUTSIDE = f"00-{'ab' * 16}-{'cd' * 8}-01"
CODE = "0123-4567-89AB-CDEF"
Committed = Callable[..., Any]


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Sent:
    settings.TRACES = True
    return catch(monkeypatch)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """Traces are on, and come here."""
    with collector() as collected:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collected.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer of-the-collector")
        work.start_tracing()
        yield collected
        spans.provider().shutdown()
    spans._provider.cache_clear()
    spans.tracer.cache_clear()
    task_prerun.disconnect(work.begin_work)
    task_postrun.disconnect(work.end_work)
    worker_process_shutdown.disconnect(work.send_the_rest)
    connection_created.disconnect(dispatch_uid=spans.TIMED)
    connection.execute_wrappers.clear()


@pytest.fixture
def study() -> Study:
    title = {"en": f"A {CANARY} study", "de": f"Eine Studie {CANARY}"}
    return recruiting_study(title=title, allocation={"planned_participants": 600, "block_multiples": [1]}, die=TELLING_DIE)


def names(found: Collector) -> list[str]:
    work.send_the_rest()
    return found.names()


def test_first_traces_that_begin_at_once_are_all_sent(found: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of one process share what sends: a second sender would never be asked for the rest."""
    begin_together, make = Barrier(4), spans.Resource.create
    monkeypatch.setattr(spans.Resource, "create", lambda attributes: (time.sleep(0.2), make(attributes))[1])

    def trace(number: int) -> None:
        begin_together.wait()
        spans.begin_work_of(f"number {number}")
        assert spans.NOW.trace is not None
        spans.NOW.trace.end(failed=False)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(trace, range(4)))
    assert sorted(names(found)) == [f"work number {number}" for number in range(4)]


def deliver(kind: str, key: object) -> None:
    """A message comes to a worker."""
    tasks.work.apply(args=(kind, str(key)))


def routine(kind: str) -> None:
    tasks.send_now(kind)
    deliver(kind, kind)


def journeys(study: Study, committed: Committed, *, people: int) -> None:
    """People come in every way, and go in every way."""
    for _number in range(people):
        client = Client(headers={"user-agent": CANARY, "traceparent": FROM_OUTSIDE})
        client.get(f"/s/{study.slug}/about/?came-from={CANARY}")
        client.get("/join/", {"code": CANARY})
        client.post("/join/", {"code": CANARY})
        with committed():
            walk(client, study, until="questions")
        client.get(f"/s/{study.slug}/resume/{CANARY}/")
        client.get(f"/s/{study.slug}/privacy/")
        client.post(f"/s/{study.slug}/progress/", {"share": "0.5"})
        with committed():
            answer(client, study, "questions")
        client.get(address_of(study))
        client.get(f"/credit/{study.slug}/")
        for path in (f"/studies/{study.slug}/", f"/studies/{study.slug}/build/{CANARY}/add/", f"/api/v1/studies/{study.slug}/"):
            client.get(path)  # of staff, and mistyped
    with committed():
        answer(leaving := Client(), study, "welcome")
        answer(leaving, study, "consent", agree="no")
        leaving.post(f"/s/{study.slug}/withdraw/", {"code": CODE})
    for path in (f"/in-class/{open_room('read').code}/", "/in-class/", "/lti/login/", "/lti/launch/", "/open-studies/", "/data/", "/"):
        leaving.get(path, {"login_hint": CANARY})
        leaving.post(path, {"answer": "yes"})


def work_of_finishers(study: Study, committed: Committed, sent: Sent) -> None:
    """A batch is full, and somebody in it withdraws."""
    add_finished_people(study, 4 * WAITING_PER_GROUP, counted=False)
    analysis.refresh_when_answers_change(Study, study_id=study.pk)
    show_who_is_on_the_way(study)
    for run in Run.objects.filter(study=study, status=RunStatus.QUEUED, kind=RunKind.FIRST_RESULTS):
        deliver(run.kind, run.pk)
    withdraw(study, committed)
    for message in list(sent):
        if message["kind"] != RunKind.FULL_RESULTS:  # it takes long
            deliver(message["kind"], message["key"])
    for kind in Routine.EVERY:
        if kind not in safe.JOBS:
            routine(kind)


def withdraw(study: Study, committed: Committed) -> None:
    one = Participant.objects.filter(study=study, counted=True, step=Step.FINISHED).earliest("pk")
    Participant.objects.filter(pk=one.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    with committed():
        assert participation.withdraw(Study.objects.get(pk=study.pk), code=CODE)


def test_pages_of_staff_and_their_programs_are_traced(study: Study, found: Collector) -> None:
    client = logged_in(study.owner)
    client.get("/studies/")
    client.get(f"/studies/{study.slug}/people/?next={CANARY}")
    client.post(f"/api/v1/studies/{study.slug}/duplicate/")
    assert names(found) == ["GET /studies/", "GET /studies/<slug:slug>/people/", "POST /api/v1/studies/<slug:slug>/duplicate/"]
    [page, *_others] = [span for span in found.spans() if not span.parent_span_id]
    told = attributes_of(page)
    statements = [span for span in found.spans() if span.parent_span_id == page.span_id]
    assert told.keys() == {"http.request.method", "http.route", "http.response.status_code", "candor.statements"}
    assert (told["http.request.method"], told["http.route"], told["http.response.status_code"]) == ("GET", "/studies/", 200)
    assert told["candor.statements"] == len(statements) > 2
    assert {"SELECT surveys_study", "SELECT surveys_protocol"} & {span.name for span in statements}
    assert all(attributes_of(span).keys() <= {"db.operation.name", "db.collection.name"} for span in statements)
    assert {span.trace_id for span in statements} == {page.trace_id}
    assert found.headers[0]["path"] == "/v1/traces"
    assert found.headers[0]["authorization"] == "Bearer of-the-collector"


def test_work_is_traced(found: Collector) -> None:
    routine("kept_answers")
    routine("log_head")
    assert names(found) == ["work kept_answers", "work log_head"]
    assert {attributes_of(span)["candor.kind"] for span in found.spans() if not span.parent_span_id} == {"kept_answers", "log_head"}
    assert "UPDATE jobs_routine" in {span.name for span in found.spans()}


def test_a_trace_has_so_many_statements_and_counts_the_others(found: Collector, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "MOST_STATEMENTS", 3)
    logged_in(study.owner).get("/studies/")
    [page] = [span for span in (names(found), found.spans())[1] if not span.parent_span_id]
    assert len(found.spans()) == 1 + 3
    assert int(attributes_of(page)["candor.statements"]) > 3


def test_nothing_that_participants_do_leaves_a_span(study: Study, found: Collector, committed: Committed, sent: Sent) -> None:
    journeys(study, committed, people=12)
    work_of_finishers(study, committed, sent)
    assert names(found) == []
    assert found.bodies == []
    assert Participant.objects.filter(study=study, counted=True).exists()


OPENED = {"surveys:journey": "/s/", "surveys:withdraw": "/s/", "surveys:resume": "/s/", "surveys:join": "/join/", "lti:login": "/lti/"}


@pytest.mark.parametrize("opened", OPENED)
def test_the_attack_sees_an_address_of_participants(
    study: Study, found: Collector, committed: Committed, monkeypatch: pytest.MonkeyPatch, opened: str
) -> None:
    monkeypatch.setattr(middleware, "ADDRESSES", {opened})
    monkeypatch.setattr(middleware, "comes_as_staff", lambda _request: True)
    journeys(study, committed, people=1)
    assert {f"/{name.split('/')[1]}/" for name in names(found)} == {OPENED[opened]}


def test_the_attack_sees_somebody_who_mistypes_an_address_of_staff(
    study: Study, found: Collector, committed: Committed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "comes_as_staff", lambda _request: True)
    journeys(study, committed, people=1)
    assert set(names(found)) == {"GET /studies/<slug:slug>/build/<slug:part>/add/", "GET /api/v1/studies/<slug:slug>/"}


@pytest.mark.parametrize("opened", ["first_results", "complete_batches", "shown_numbers", "order_of_arrival"])
def test_the_attack_sees_work_that_follows_finishers(
    study: Study, found: Collector, committed: Committed, sent: Sent, monkeypatch: pytest.MonkeyPatch, opened: str
) -> None:
    monkeypatch.setattr(work, "JOBS", {opened})
    work_of_finishers(study, committed, sent)
    assert set(names(found)) == {f"work {opened}"}


def test_bots_inside_of_traced_work_leave_no_span_of_their_pages(study: Study, found: Collector) -> None:
    spans.begin_work_of("rehearsal")
    walk(Client(), study)
    assert spans.NOW.trace is not None
    work.end_work(state="SUCCESS")
    assert names(found) == ["work rehearsal"]
    assert not [span for span in found.spans() if "surveys_response" in span.name]


def plant(study: Study) -> set[str]:
    """Pages of staff are asked for in every way in which something could slip into a trace; returns what must not."""
    owner = person(Role.INVESTIGATOR, username=f"name-{CANARY}")
    owner.email = f"mail-{CANARY}@example.org"
    owner.save()
    Study.objects.filter(pk=study.pk).update(owner=owner)
    walk(participant := Client(), study, until="questions")
    client = logged_in(owner)
    agent = {"user-agent": CANARY, "referer": f"http://testserver/{CANARY}", "baggage": f"user={CANARY}", "traceparent": FROM_OUTSIDE}
    paths = (
        "/studies/",
        f"/studies/{study.slug}/",
        f"/studies/{study.slug}/people/",
        f"/invitations/{CANARY}/",
        f"/api/v1/studies/{CANARY}/",
    )
    for path in paths:
        client.get(path, {"q": CANARY, "next": CANARY}, headers=agent)
        client.post(path, {"email": owner.email, "name": CANARY}, headers=agent)
        client.generic(CANARY.upper(), path, headers=agent)
    client.get(f"/studies/{CANARY}/build/arms/{CANARY}/{CANARY}/")
    Client(headers={"authorization": f"Bearer {CANARY}"}).get("/api/v1/studies/")
    session = client.cookies["sessionid"].value
    return {CANARY, CANARY.upper(), owner.username, owner.email, study.slug, study.title, session, token_of(participant)}


def leaks(found: Collector, planted: set[str]) -> set[str]:
    work.send_the_rest()
    return {one for one in planted if any(one.encode() in body for body in found.bodies)}


def test_no_byte_that_is_sent_names_anybody(study: Study, found: Collector) -> None:
    planted = plant(study)
    assert len(names(found)) >= 14
    assert leaks(found, planted) == set()
    assert {span.trace_id for span in found.spans()}.isdisjoint({bytes.fromhex("ab" * 16)}), "nobody from outside joins two traces"


def test_the_attack_sees_an_address_as_it_was_typed(study: Study, found: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    def typed(self: Any, request: HttpRequest, *_arguments: object) -> None:
        self.spans.begin_request(method=request.method or "", route=request.get_full_path())

    monkeypatch.setattr(middleware.TracesMiddleware, "process_view", typed)
    assert {CANARY, CANARY.upper(), study.slug} <= leaks(found, plant(study))


def test_an_error_is_told_without_its_message(study: Study, found: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr("surveys.studies.views.Listing", fail)
    client = logged_in(study.owner)
    client.raise_request_exception = False
    assert client.get("/studies/").status_code == 500
    monkeypatch.setattr("jobs.registry.Job.rows", fail)
    [page] = [span for span in (names(found), found.spans())[1] if not span.parent_span_id]
    assert page.status.code == page.status.STATUS_CODE_ERROR
    assert (page.status.message, list(page.events)) == ("", [])
    assert leaks(found, {CANARY, "ValueError"}) == set()


def pages_of(study: Study) -> list[str]:
    """The traced addresses of this study."""
    parameters = own_routes()
    given = {**ARGUMENTS, "slug": study.slug, "username": study.owner.username}
    names = [name for name in sorted(safe.ADDRESSES) if "slug" in parameters[name]]
    return [reverse(name, kwargs={each: given[each] for each in parameters[name]}) for name in names]


def look_while_people_come(study: Study, found: Collector, committed: Committed, *, pages: list[str]) -> int:
    """The number of pages whose traces say the same after each step of somebody else."""
    client = logged_in(study.owner)
    shown = [page for page in pages if client.get(page).status_code == 200]

    def looks() -> dict[str, list[str]]:
        """All that the trace of each page says besides its times."""
        work.send_the_rest()
        del found.bodies[:]
        for page in shown:
            client.get(page)
        roots = [span for span in (names(found), found.spans())[1] if not span.parent_span_id]
        inside: dict[bytes, list[str]] = {root.trace_id: [] for root in roots}
        for span in found.spans():
            inside[span.trace_id].append(f"{span.name} {attributes_of(span)}")
        return dict(zip(shown, inside.values(), strict=True))

    def same(what: str) -> None:
        now = looks()
        assert [page for page in shown if now[page] != before[page]] == [], what

    add_finished_people(study, 4 * WAITING_PER_GROUP, counted=False)
    looks()  # what is kept from one page to the next, is
    before = looks()
    newcomer = Client()
    with committed():
        walk(newcomer, study, until="questions")
    same("somebody came")
    with committed():
        answer(newcomer, study, "questions")
    same("somebody finished")
    analysis.refresh_when_answers_change(Study, study_id=study.pk)
    for run in Run.objects.filter(study=study, status=RunStatus.QUEUED):
        deliver(run.kind, run.pk)
    show_who_is_on_the_way(study)
    assert Participant.objects.filter(study=study, counted=True).exists()
    same("a batch was counted")
    withdraw(study, committed)
    same("somebody withdrew")
    return len(shown)


def test_pages_are_the_same_whoever_came_meanwhile(study: Study, found: Collector, committed: Committed) -> None:
    """Somebody who looks at a page every second must not learn from its statements when a person came, or a batch, or who withdrew."""
    assert look_while_people_come(study, found, committed, pages=["/studies/", "/api/v1/studies/", *pages_of(study)]) >= 50


def test_the_attack_sees_a_page_with_the_numbers_of_a_study(
    study: Study, found: Collector, committed: Committed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "ADDRESSES", {"surveys:study"})
    with pytest.raises(AssertionError, match="a batch was counted"):
        look_while_people_come(study, found, committed, pages=[f"/studies/{study.slug}/"])
