"""News of results for open pages: the right to hear of them, their content, their pace, and what happens without Redis."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from django.core.signing import Signer
from django.urls import reverse

from accounts.models import Role
from analysis.models import RunKind
from analysis.news import announcing, tokens
from analysis.news.announcing import announce
from analysis.news.channel import CHANNEL
from analysis.news.tokens import SECONDS, study_and_end, token_for_results
from analysis.news.versions import version_of_results
from config.push import listeners as listeners_module
from config.push import server
from config.push.listeners import Listener, Listeners
from config.push.server import Push
from config.settings.redis_address import redis_address
from surveys.batches.services import show_who_is_on_the_way
from surveys.journey import services as participation
from surveys.models import MemberRole, Participant, Study, StudyMember
from surveys.studies.services import close
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import logged_in, person, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute
from tests.jobs import catch

PLACE = redis_address("redis://127.0.0.1:1/0")


def connect(push: Push, *, token: str, since: str = "", path: str = "/events/") -> "Connection":
    return Connection(push, {"type": "http", "method": "GET", "path": path, "query_string": f"token={token}&since={since}".encode()})


class Connection:
    """One open page, as the application sees it."""

    def __init__(self, push: Push, scope: dict[str, object]) -> None:
        self.sent: list[Any] = []
        self.closing = asyncio.Event()
        self.task = asyncio.create_task(push._answer(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, object]:
        await self.closing.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def said(self) -> str:
        return "".join(one.get("body", b"").decode() for one in self.sent)


@asynccontextmanager
async def hearing() -> AsyncIterator[Push]:
    """A server that hears, without Redis."""
    push = Push()
    push._hears = True
    push.listeners.versions.update(dict.fromkeys(range(1, 9), "old"))
    push._ask_for = _nothing  # type: ignore[method-assign]
    waking = asyncio.create_task(push.listeners.wake())
    try:
        yield push
    finally:
        waking.cancel()
        with suppress(asyncio.CancelledError):
            await waking


async def _nothing(_study: int) -> None:
    return None


def test_a_page_hears_of_a_version_and_of_nothing_else() -> None:
    async def act() -> None:
        async with hearing() as push:
            mine, other = connect(push, token=token_for_results(1), since="old"), connect(push, token=token_for_results(2), since="old")
            await asyncio.sleep(0.05)
            push.listeners.hear(1, "new")
            await asyncio.sleep(0.05)
            assert mine.status == 200
            assert mine.said == "event: pace\ndata: 2\n\nevent: news\ndata: new\n\n"
            assert other.said == "event: pace\ndata: 2\n\n"
            for one in (mine, other):
                one.closing.set()
                await one.task
            assert push.listeners.count == 0

    asyncio.run(act())


def test_a_page_that_opens_late_hears_at_once_of_what_it_missed() -> None:
    async def act() -> None:
        async with hearing() as push:
            first = connect(push, token=token_for_results(1), since="old")
            await asyncio.sleep(0.02)
            push.listeners.hear(1, "new")
            late = connect(push, token=token_for_results(1), since="old")
            await asyncio.sleep(0.2)
            assert first.said.count("event: news") == late.said.count("event: news") == 1
            for one in (first, late):
                one.closing.set()
                await one.task

    asyncio.run(act())


@pytest.mark.parametrize("spoilt", ["", "nonsense", "results.1.99999999999", "other right", "too late"])
def test_without_a_right_nobody_hears_anything(spoilt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    signed = {
        "other right": Signer(salt="analysis.news").sign(f"all.1.{int(time.time()) + 60}"),
        "too late": Signer(salt="analysis.news").sign(f"results.1.{int(time.time()) - 1}"),
    }

    async def act() -> None:
        async with hearing() as push:
            connection = connect(push, token=signed.get(spoilt, spoilt))
            await connection.task
            assert (connection.status, connection.said) == (403, "")

    asyncio.run(act())
    assert study_and_end(token_for_results(7)) is not None
    monkeypatch.setattr(tokens.time, "time", lambda: time.monotonic() + 10 * SECONDS + 4e9)
    assert study_and_end(signed["too late"]) is None


def test_a_connection_ends_with_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "SECONDS", 1)

    async def act() -> None:
        async with hearing() as push:
            connection = connect(push, token=token_for_results(1), since="old")
            await asyncio.wait_for(connection.task, 3)
            assert connection.said.endswith("event: renew\ndata: \n\n")
            push.listeners.hear(1, "new")
            assert "data: new" not in connection.said

    asyncio.run(act())


def test_a_thousand_pages_ask_no_more_often_than_ten_and_hear_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners_module, "EACH_SECOND", 1000)

    async def act() -> None:
        pages = Listeners()
        assert pages.pace == 2
        everybody = [Listener(1, "old") for _ in range(1000)]
        for one in everybody:
            pages.add(one)
        assert 1000 / pages.pace <= 10 / 2 / 2
        waking = asyncio.create_task(pages.wake())
        pages.hear(1, "new")
        pages.hear(1, "newer")
        await asyncio.sleep(0.1)
        assert 0 < sum(one.woken.is_set() for one in everybody) < 200
        for one in everybody:
            pages.remove(one)
        await asyncio.sleep(0.01)
        assert (pages.count, pages.versions) == (0, {})
        waking.cancel()

    asyncio.run(act())


def test_without_redis_connections_end_so_that_pages_ask_for_themselves(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.PUSH = PLACE
    monkeypatch.setattr(server, "BEAT_SECONDS", 0.05)

    async def act() -> None:
        async with hearing() as push:
            connection = connect(push, token=token_for_results(1), since="old")
            await asyncio.sleep(0.02)
            task = asyncio.create_task(push._subscribe())
            await asyncio.wait_for(connection.task, 5)
            assert connection.sent[-1]["more_body"] is False
            assert push.listeners.versions == {}
            refused = connect(push, token=token_for_results(1))
            await refused.task
            assert refused.status == 503
            health = connect(push, token="", path="/healthz")
            await health.task
            assert health.status == 503
            task.cancel()

    asyncio.run(act())


def test_a_thousand_pages_that_open_together_ask_redis_once() -> None:
    """Each had a connection of its own to Redis, which stayed."""
    asked: list[str] = []

    class Silent:
        async def get(self, name: str) -> None:
            asked.append(name)
            await asyncio.sleep(0.01)

    async def act() -> None:
        push = Push()
        push._redis = Silent()
        await asyncio.gather(*(push._ask_for(study) for study in (1, 2) for _page in range(500)))
        await push._ask_for(1)

    asyncio.run(act())
    assert sorted(asked) == sorted(f"{CHANNEL}{study}" for study in (1, 1, 2))


def test_where_push_is_off_the_process_is_well_and_takes_no_page(settings: Any) -> None:
    """Compose and the chart have the process in any case: nginx must find it when it starts."""
    settings.PUSH = None

    async def act() -> None:
        push = Push()
        await asyncio.wait_for(push._subscribe(), 1)
        page, health = connect(push, token=token_for_results(1)), connect(push, token="", path="/healthz")
        await asyncio.gather(page.task, health.task)
        assert (page.status, health.status) == (503, 200)

    asyncio.run(act())


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[tuple[str, str]]:
    """The names and versions that were published."""
    settings.PUSH = PLACE
    found: list[tuple[str, str]] = []

    class Recorder:
        def set(self, *_arguments: object, **_others: object) -> None: ...

        def publish(self, name: str, version: str) -> None:
            found.append((name, version))

    monkeypatch.setattr(announcing, "_redis", Recorder)
    catch(monkeypatch)
    return found


def running() -> Study:
    return recruiting_study(allocation={"planned_participants": 400, "block_multiples": [1]}, die=TELLING_DIE)


@pytest.mark.django_db
def test_a_batch_is_announced_as_the_page_shows_it_and_single_people_never(
    announced: list[tuple[str, str]], django_capture_on_commit_callbacks: Any
) -> None:
    study = running()
    with django_capture_on_commit_callbacks(execute=True):
        add_finished_people(study, 160)
        compute(study, RunKind.FIRST_RESULTS)
    assert announced == [(f"{CHANNEL}{study.pk}", version_of_results(study))]
    page = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug]))
    assert f'data-version="{announced[0][1]}"' in page.content.decode()
    gone = Participant.objects.filter(study=study, counted=True).first()
    assert gone is not None
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code("0123-4567-89AB-CDEF"))
    with django_capture_on_commit_callbacks(execute=True):
        add_finished_people(study, 9, seed=2, counted=False)
        assert not show_who_is_on_the_way(study)
        assert participation.withdraw(study, code="0123-4567-89AB-CDEF")
    assert len(announced) == 1, "the moment of a withdrawal is a person's"
    with django_capture_on_commit_callbacks(execute=True):
        add_finished_people(study, 20, seed=3, counted=False)
        assert show_who_is_on_the_way(study)
    assert len(announced) == 2


@pytest.mark.django_db
def test_after_the_end_a_withdrawal_is_not_announced_either(
    announced: list[tuple[str, str]], django_capture_on_commit_callbacks: Any
) -> None:
    study = running()
    add_finished_people(study, 160)
    close(study, actor=study.owner)
    study.refresh_from_db()
    with django_capture_on_commit_callbacks(execute=True):
        compute(study, RunKind.FIRST_RESULTS)
    assert len(announced) == 1
    gone = Participant.objects.filter(study=study, counted=True).first()
    assert gone is not None
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code("0123-4567-89AB-CDEF"))
    with django_capture_on_commit_callbacks(execute=True):
        assert participation.withdraw(study, code="0123-4567-89AB-CDEF")
        compute(study, RunKind.FIRST_RESULTS)
    assert len(announced) == 1, "results without somebody come at the moment at which they left"


@pytest.mark.django_db
def test_a_reader_who_loses_the_right_gets_no_new_token(announced: list[tuple[str, str]]) -> None:
    study, reader = running(), person(Role.INVESTIGATOR)
    member = StudyMember.objects.create(study=study, user=reader, role=MemberRole.BLINDED_VIEWER)
    client, address = logged_in(reader), reverse("analysis:results", args=[study.slug])
    page = client.get(address)
    unchanged = client.get(address, {"state": page.context["state"]})
    assert unchanged.status_code == 204
    assert study_and_end(unchanged["News-token"]) is not None
    assert unchanged["News-version"] == page.context["news"]["version"] == version_of_results(study), "blinded or not, it is the same"
    member.delete()
    for query in ({}, {"state": page.context["state"]}):
        refused = client.get(address, query)
        assert refused.status_code == 404
        assert "News-token" not in refused


@pytest.mark.django_db
def test_where_nothing_is_pushed_the_page_asks_for_itself_as_before(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    study = running()
    monkeypatch.setattr(announcing, "_announce", lambda _study: pytest.fail("nothing listens"))
    announce(study.pk)
    page = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "data-news" not in page
    assert 'hx-trigger="every 2s, news"' in page


@pytest.mark.django_db
def test_an_absent_redis_fails_no_work(settings: Any, django_capture_on_commit_callbacks: Any) -> None:
    settings.PUSH = PLACE
    study = running()
    with django_capture_on_commit_callbacks(execute=True):
        announce(study.pk)
        announce(0)
