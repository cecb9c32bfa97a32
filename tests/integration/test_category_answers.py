"""Answers to sensitive questions with more than two answers: stored at once with the others, final, and gone with their person."""

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from surveys.journey import services as participation
from surveys.models import CategoryResponse, Participant, Response, Step, Study
from tests.categories import with_frequency
from tests.factories import QUESTIONS, participant_of, recruiting_study, token_of, walk

pytestmark = pytest.mark.django_db
REPORTED = dict.fromkeys(QUESTIONS, True)


@pytest.fixture
def study() -> Study:
    return recruiting_study(questions=with_frequency())


@pytest.fixture
def token(client: Client, study: Study) -> str:
    walk(client, study, until="questions")
    return token_of(client)


def test_they_are_stored_with_the_others_and_are_final(client: Client, token: str) -> None:
    participation.record_responses(token, reported=REPORTED, chosen={"copying": 2})
    assert participant_of(client).step == Step.FINISHED
    assert list(CategoryResponse.objects.values_list("participant", "question", "category")) == [(participant_of(client).pk, "copying", 2)]
    assert Response.objects.count() == len(QUESTIONS)
    with pytest.raises(participation.AlreadyDoneError):
        participation.record_responses(token, reported=REPORTED, chosen={"copying": 0})
    with pytest.raises(IntegrityError), transaction.atomic():
        CategoryResponse.objects.create(participant=participant_of(client), question="copying", category=0)


@pytest.mark.parametrize(
    ("reported", "chosen", "sentence"),
    [
        (REPORTED, {}, "Expected answers to attention, comprehension, copying, judgement, retention, got answers to attention"),
        ({}, {"copying": 0}, "got answers to copying"),
        (REPORTED | {"copying": True}, {}, "Expected answers to"),
        (REPORTED, {"copying": 0, "attention": 0}, "Expected answers to"),
        (REPORTED, {"copying": 3}, "Expected a category from 0 to 2 as the answer to copying, got 3"),
    ],
)
def test_a_set_that_is_not_whole_stores_nothing(token: str, reported: dict[str, bool], chosen: dict[str, int], sentence: str) -> None:
    with pytest.raises(participation.JourneyError, match=sentence):
        participation.record_responses(token, reported=reported, chosen=chosen)
    assert not Response.objects.exists()
    assert not CategoryResponse.objects.exists()


def test_they_go_with_a_withdrawal(study: Study, token: str) -> None:
    participation.record_responses(token, reported=REPORTED, chosen={"copying": 1})
    Response.objects.all().delete()
    receipt = participation.withdraw(study, code=participation.withdrawal_code(token))
    assert receipt is not None
    assert receipt.answers
    assert not CategoryResponse.objects.exists()
    assert not Participant.objects.exists()
