"""Studies that are not open, or no longer: the page for newcomers and participants, and that nothing is written."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surveys.allocation.services import change_arm
from surveys.journey import services as participation
from surveys.models import Participant, ShardedCounter, Step, Study, StudyStatus
from surveys.protocols import FrozenProtocol
from surveys.studies import services as studies
from tests.factories import address_of, answer, code_on, everything_stored, heading, participant_of, send, study_in, walk

pytestmark = pytest.mark.django_db

STORED_STEPS = ("background", "video", "quiz", "die", "questions")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (StudyStatus.DRAFT, "This study has not started yet"),
        (StudyStatus.IN_REVIEW, "This study has not started yet"),
        (StudyStatus.APPROVED, "This study has not started yet"),
        (StudyStatus.PAUSED, "This study is taking a break"),
        (StudyStatus.CLOSED, "This study has ended"),
        (StudyStatus.ARCHIVED, "This study has ended"),
    ],
)
def test_newcomers_are_told_why_a_study_is_not_open(client: Client, status: StudyStatus, words: str) -> None:
    study = study_in(status)
    before = everything_stored()
    for response in (client.get(address_of(study)), answer(client, study, "welcome"), answer(client, study, "consent")):
        assert response.status_code == 403
        assert heading(response) == words
    assert everything_stored() == before


@pytest.mark.parametrize("status", [StudyStatus.DRAFT, StudyStatus.IN_REVIEW])
@pytest.mark.parametrize("page", ["journey", "withdraw", "begin_anew"])
def test_nobody_reads_a_word_of_a_study_that_no_officer_has_approved(client: Client, status: StudyStatus, page: str) -> None:
    """Attack: the address of a study follows from its name, and its pages told the title and whom to ask."""
    study = study_in(status, title={"en": "Unread title", "de": "Ungelesener Titel"}, contact="unread@example.org")
    for language in ("en", "de"):
        shown = client.get(reverse(f"surveys:{page}", args=[study.slug]), headers={"accept-language": language}).content.decode()
        assert f'<html lang="{language}">' in shown
        assert not re.search("unread|ungelesen", shown, re.IGNORECASE)
        assert reverse("surveys:privacy", args=[study.slug]) not in shown, "there is no such page yet"


def test_a_study_that_pauses_between_start_and_consent_takes_nobody_in(client: Client, study: Study) -> None:
    answer(client, study, "welcome")
    studies.pause(study, actor=study.owner)
    assert answer(client, study, "consent").status_code == 403
    assert not Participant.objects.exists()


def test_whoever_declines_while_the_study_is_closed_moves_no_number(client: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: numbers are exact after the end, so that one more who declined is the person who sent their page at that moment."""
    answer(client, study, "welcome")
    look = participation.require_open

    def and_then_it_closes(*given: Any, **named: Any) -> FrozenProtocol:
        found = look(*given, **named)
        monkeypatch.setattr(participation, "require_open", look)
        studies.close(study, actor=study.owner)
        return found

    monkeypatch.setattr(participation, "require_open", and_then_it_closes)
    assert heading(send(client, study, "consent", choice="decline")) == "This study has ended"
    assert not ShardedCounter.objects.exists()


@pytest.mark.parametrize("here", STORED_STEPS)
def test_participants_may_finish_while_the_study_pauses(client: Client, study: Study, here: str) -> None:
    walk(client, study, until=here)
    studies.pause(study, actor=study.owner)
    for step in STORED_STEPS[STORED_STEPS.index(here) :]:
        assert answer(client, study, step).status_code == 303
    assert participant_of(client).step == Step.FINISHED


@pytest.mark.parametrize("here", STORED_STEPS)
def test_a_study_that_closes_takes_no_more_answers_even_from_those_who_are_in(client: Client, study: Study, here: str) -> None:
    walk(client, study, until=here)
    studies.close(study, actor=study.owner)
    before = everything_stored()
    for response in (client.get(address_of(study)), answer(client, study, here), send(client, study, here, **{"answer-attention": "7"})):
        assert response.status_code == 403
        assert heading(response) == "This study has ended"
    assert everything_stored() == before


def test_codes_that_were_not_shown_yet_are_shown_after_the_study_has_closed(client: Client, study: Study) -> None:
    walk(client, study, until="questions")
    answer(client, study, "questions")
    studies.close(study, actor=study.owner)
    last = client.get(address_of(study))
    assert [code_on(last, kind).split("-")[0] for kind in ("completion", "withdrawal")] == ["DONE", "SECRET"]


def test_a_full_study_says_so_and_stores_nothing(client: Client, study: Study) -> None:
    for arm in ("slides", "instructor"):
        change_arm(study, arm=arm, actor=study.owner, quota=None, closed=True)
    before = everything_stored()
    response = answer(client, study, "welcome")
    assert response.status_code == 403
    assert heading(response) == "This study is full"
    assert everything_stored() == before


def test_people_for_whom_a_study_fills_up_meanwhile_leave_no_data(client: Client, study: Study) -> None:
    walk(client, study, until="background")
    for arm in ("slides", "instructor"):
        change_arm(study, arm=arm, actor=study.owner, quota=None, closed=True)
    response = answer(client, study, "background")
    assert response.status_code == 403
    assert "Nothing about you was stored." in response.content.decode()
    assert not Participant.objects.exists()
