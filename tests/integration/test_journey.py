"""The whole way of a participant by Django's client: every step, in both languages, and every refusal."""

import pytest
from django.test import Client

from surveys.models import Participant, Response
from tests.factories import participant_of, recruiting_study, walk

pytestmark = pytest.mark.django_db


def test_a_student_goes_from_the_first_page_to_the_codes(client: Client) -> None:
    study = recruiting_study()
    last = walk(client, study)
    assert "Completion code" in last.content.decode()
    person = participant_of(client)
    assert Participant.objects.count() == 1
    assert Response.objects.filter(participant=person, reported_yes=True).count() == 4
