"""Rehearsals that are stopped or deleted while their bots walk."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction

from surveys.bots import rehearsal
from surveys.bots.walker import Ending, UnexpectedPageError
from surveys.models import BotRunStatus, Participant, Response, Step
from surveys.rehearsal.services import delete_rehearsal, stop_rehearsal
from tests.factories import draft_study
from tests.finished_people import add_finished_people
from tests.integration.test_rehearsal import page_text, start
from tests.integration.test_short_locks import until_somebody_waits
from tests.jobs import catch, work_on

pytestmark = pytest.mark.usefixtures("transactional_db")


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> None:
    catch(monkeypatch)


def test_endings_of_bots_that_were_on_their_way_when_they_were_stopped_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    study = draft_study()
    crowd = start(study, bots=30)

    def stopped(*args: Any, **options: Any) -> Counter[Ending]:
        assert stop_rehearsal(study, actor=study.owner)
        return Counter({Ending.TURNED_AWAY: 25})

    monkeypatch.setattr(rehearsal, "send_bots", stopped)
    work_on(crowd)
    crowd.refresh_from_db()
    assert (crowd.status, crowd.endings, crowd.due_at) == (BotRunStatus.STOPPED, {"turned away": 25}, None)
    assert "Stopped after 25 of 30 bots." in page_text(study)


def test_bots_whose_rehearsal_is_deleted_meet_no_bug(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    study = draft_study()
    crowd = start(study)

    def deleted(*args: Any, **options: Any) -> Any:
        assert delete_rehearsal(study, actor=study.owner)
        raise UnexpectedPageError("POST /s/: status 500")

    monkeypatch.setattr(rehearsal, "send_bots", deleted)
    with caplog.at_level("INFO"):
        work_on(crowd)
    assert caplog.messages == []


@pytest.mark.usefixtures("postgresql")
def test_a_rehearsal_is_deleted_while_a_bot_is_just_sending_its_answers() -> None:
    study = draft_study()
    sandbox = start(study).study
    add_finished_people(sandbox, 1, unfinished=1.0, counted=False)
    bot, held = Participant.objects.get(), threading.Event()

    def send_answers() -> None:
        try:
            with transaction.atomic():
                Participant.objects.filter(pk=bot.pk).update(step=Step.QUESTIONS)
                Response.objects.create(participant=bot, question="attention", reported_yes=True)
                held.set()
                until_somebody_waits()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=1) as pool:
        sent = pool.submit(send_answers)
        assert held.wait(10)
        assert delete_rehearsal(study, actor=study.owner)
        sent.result()
    assert not Participant.objects.exists()
