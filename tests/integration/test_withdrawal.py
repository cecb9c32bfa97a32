"""Taking one's data out."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from audit.models import Entry
from surveys.counts import exact_counts
from surveys.journey import services as participation
from surveys.journey.visitors import COOKIE
from surveys.models import CounterKind, Participant, Response, ShardedCounter, Study, StudyStatus
from surveys.studies import services as studies
from tests.factories import (
    address_of,
    code_on,
    everything_stored,
    heading,
    page_of,
    participant_of,
    recruiting_study,
    study_in,
    token_of,
    walk,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return recruiting_study()


def page(client: Client, study: Study) -> HttpResponse:
    return client.get(reverse("surveys:withdraw", args=[study.slug]))


def withdraw(client: Client, study: Study, code: str, *, stage: str = "confirm") -> HttpResponse:
    return client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": stage})


def prefilled(response: HttpResponse) -> Any:
    return page_of(response).xpath('//input[@name="code"]/@value')[0]


def test_everything_goes_but_the_counts_and_the_line_of_the_list(client: Client, study: Study) -> None:
    before = everything_stored()
    code = code_on(walk(client, study), "withdrawal")
    response = withdraw(client, study, code)
    assert (response.status_code, heading(response)) == (200, "Your data are gone")
    after = everything_stored()
    assert {label for label in after if after[label] != before[label]} == {"surveys.ShardedCounter", "surveys.AllocationSlot"}
    assert not Participant.objects.exists()
    assert not Response.objects.exists()
    counts = exact_counts(study)
    assert (counts.consented, counts.assigned, counts.finished, counts.withdrew) == (1, 1, 0, 1)


def test_others_keep_their_data(client: Client, study: Study) -> None:
    other = Client()
    walk(other, study)
    withdraw(client, study, code_on(walk(client, study), "withdrawal"))
    assert Participant.objects.get() == participant_of(other)
    assert Response.objects.count() == 4


def test_it_is_asked_once_more_before_anything_goes(client: Client, study: Study) -> None:
    code = code_on(walk(client, study), "withdrawal")
    before = everything_stored()
    response = withdraw(client, study, code, stage="enter")
    assert "This cannot be undone." in response.content.decode()
    assert prefilled(response) == code
    assert everything_stored() == before


@pytest.mark.parametrize("step", ["background", "video", "quiz", "die", "questions"])
def test_one_can_leave_in_the_middle_without_having_seen_the_code(client: Client, study: Study, step: str) -> None:
    walk(client, study, until=step)
    withdraw(client, study, prefilled(page(client, study)))
    assert not Participant.objects.exists()
    assert heading(client.get(address_of(study))) == "Your data were taken out"


def test_the_code_works_in_any_browser_and_however_it_is_typed(client: Client, study: Study) -> None:
    code = code_on(walk(client, study), "withdrawal")
    assert heading(withdraw(Client(), study, f" {code.lower().replace('-', ' ')} ")) == "Your data are gone"


def test_typing_somebody_elses_code_does_not_cost_ones_own_place(client: Client, study: Study) -> None:
    friend = Client()
    code = code_on(walk(friend, study), "withdrawal")
    walk(client, study, until="quiz")
    assert heading(withdraw(client, study, code)) == "Your data are gone"
    assert heading(client.get(address_of(study))) == "A short quiz"


@pytest.mark.parametrize("code", ["", "AAAA-BBBB-CCCC-DDDD", "x" * 500, "\x00"])
def test_an_unknown_code_is_refused_in_words(client: Client, study: Study, code: str) -> None:
    walk(Client(), study)
    before = everything_stored()
    for stage in ("enter", "confirm", "done", "published"):
        response = withdraw(client, study, code, stage=stage)
        assert response.status_code == 422
        assert '<a href="#code">No data belong to this code.' in response.content.decode()
    assert everything_stored() == before


def test_a_code_of_another_study_is_unknown(client: Client, study: Study) -> None:
    other = recruiting_study(slug="another-study")
    code = code_on(walk(client, study), "withdrawal")
    assert withdraw(client, other, code).status_code == 422
    assert Participant.objects.count() == 1


def test_a_second_click_takes_nothing_out_twice(client: Client, study: Study) -> None:
    code = code_on(walk(client, study), "withdrawal")
    withdraw(client, study, code)
    withdraw(client, study, code)
    assert exact_counts(study).withdrew == 1
    assert participation.withdraw(study, code=code) is False
    assert sum(ShardedCounter.objects.filter(kind=CounterKind.WITHDREW).values_list("count", flat=True)) == 1


@pytest.mark.parametrize("status", [StudyStatus.PAUSED, StudyStatus.CLOSED, StudyStatus.ARCHIVED])
def test_it_works_as_long_as_the_data_are_not_published(client: Client, study: Study, status: StudyStatus) -> None:
    code = code_on(walk(client, study), "withdrawal")
    if status == StudyStatus.PAUSED:
        studies.pause(study, actor=study.owner)
    else:
        studies.close(study, actor=study.owner)
    if status == StudyStatus.ARCHIVED:
        studies.archive(study, actor=study.owner)
    assert heading(withdraw(client, study, code)) == "Your data are gone"


def test_published_data_cannot_be_called_back(client: Client, study: Study) -> None:
    code = code_on(walk(client, study), "withdrawal")
    Study.objects.update(data_published=True)
    before = everything_stored()
    for response in (page(client, study), withdraw(client, study, code)):
        assert heading(response) == "It is too late to take your data out"
    with pytest.raises(participation.JourneyError):
        participation.withdraw(study, code=code)
    assert everything_stored() == before


def test_nobody_is_told_who_left(client: Client, study: Study) -> None:
    entries = Entry.objects.count()
    withdraw(client, study, code_on(walk(client, study), "withdrawal"))
    assert Entry.objects.count() == entries
    assert token_of(client) not in client.cookies[COOKIE].value


def test_a_study_that_has_not_started_knows_no_codes(client: Client) -> None:
    study = study_in(StudyStatus.DRAFT)
    assert page(client, study).status_code == 200
    assert withdraw(client, study, "AAAA-BBBB-CCCC-DDDD").status_code == 422
    assert page(client, Study(slug="nowhere")).status_code == 404
