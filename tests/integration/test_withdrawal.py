"""Taking one's data out."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from audit.models import Entry
from surveys.batches.remembered_withdrawals import remember_withdrawal
from surveys.batches.rules import LEAST
from surveys.counts import exact_counts
from surveys.definition import DIRECT
from surveys.events import counted_people_changed
from surveys.journey import services as participation
from surveys.journey.visitors import COOKIE
from surveys.models import CounterKind, Participant, Response, ShardedCounter, Step, Study, StudyStatus
from surveys.studies import services as studies
from surveys.tokens import hash_of_withdrawal_code
from tests.factories import (
    address_of,
    code_on,
    everything_stored,
    heading,
    page_of,
    participant_of,
    recruiting_study,
    send,
    study_in,
    take_out,
    token_of,
    walk,
)
from tests.finished_people import add_finished_people

pytestmark = pytest.mark.django_db


def page(client: Client, study: Study) -> HttpResponse:
    return client.get(reverse("surveys:withdraw", args=[study.slug]))


def withdraw(client: Client, study: Study, code: str, *, stage: str = "confirm") -> HttpResponse:
    return client.post(reverse("surveys:withdraw", args=[study.slug]), {"code": code, "stage": stage})


def prefilled(response: HttpResponse) -> Any:
    return page_of(response).xpath('//input[@name="code"]/@value')[0]


def test_a_page_that_is_open_when_the_data_are_taken_out_elsewhere_sends_nobody_back(client: Client, study: Study) -> None:
    asked = take_out(client, walk(client, study, until="quiz"))
    withdraw(Client(), study, prefilled(asked))
    sent = send(client, study, "quiz", groups="comparable")
    assert sent.status_code == 403
    assert "If this study ended for you, or if you took your data out, there is nothing left to do." in sent.content.decode()
    assert not Participant.objects.exists()


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


def test_the_question_leads_people_on_the_way_back_to_where_they_are(client: Client, study: Study) -> None:
    def back(asked: HttpResponse) -> Any:
        return page_of(asked).xpath("//main//a[normalize-space()='Go back']/@href")

    asked = take_out(client, walk(client, study, until="quiz"))
    assert heading(client.get(*back(asked))) == "A short quiz"
    assert back(withdraw(Client(), study, prefilled(asked), stage="enter")) == []


@pytest.mark.parametrize("step", ["background", "video", "quiz", "die", "questions"])
def test_one_can_leave_in_the_middle_without_having_seen_the_code(client: Client, study: Study, step: str) -> None:
    asked = take_out(client, walk(client, study, until=step))
    assert "This cannot be undone." in asked.content.decode()
    withdraw(client, study, prefilled(asked))
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
        said = "No data belong to this code." if code else "Enter your code."
        assert f'<a href="#code">{said}' in response.content.decode()
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
    assert participation.withdraw(study, code=code) is None
    assert sum(ShardedCounter.objects.filter(kind=CounterKind.WITHDREW).values_list("count", flat=True)) == 1


@pytest.mark.parametrize("stage", ["enter", "confirm"])
def test_a_page_that_is_loaded_again_says_once_more_that_the_data_are_gone(client: Client, study: Study, stage: str) -> None:
    """“No data belong to this code. Look at it again.” sounded as if they were still there under another code."""
    code = code_on(walk(client, study), "withdrawal")
    withdraw(client, study, code)
    for browser in (client, Client()):
        again = withdraw(browser, study, code, stage=stage)
        assert (again.status_code, heading(again)) == (200, "Your data are gone")
        assert "Receipt" not in again.content.decode()


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
    study, code = study_in(StudyStatus.DRAFT), "AAAA-BBBB-CCCC-DDDD"
    assert page(client, study).status_code == 200
    remember_withdrawal(withdrawal_hash=hash_of_withdrawal_code(code), panel_number="")  # from another study
    assert withdraw(client, study, code).status_code == 422
    assert page(client, Study(slug="nowhere")).status_code == 404


def test_the_page_gives_a_receipt_of_what_went_and_what_could_not(client: Client, study: Study, settings: Any) -> None:
    settings.BACKUP_DAYS = 14
    code = code_on(walk(client, study), "withdrawal")
    Participant.objects.update(counted=True)
    said = " ".join(page_of(withdraw(client, study, code)).xpath("string(//main)").split())
    for part in (
        "your answers to the sensitive questions",
        "what you said about yourself",
        "every stored result in which you were counted",
        "They may hold your data until " + date_format(timezone.localdate() + timedelta(days=14)),
    ):
        assert part in said
    assert "your number at the panel" not in said


CODE = "AAAA-AAAA-AAAA-AAAA"


def counted_group(study: Study, people: int) -> None:
    """People of one group, all counted."""
    add_finished_people(study, people)
    Participant.objects.update(subsample="1", arm="slides", counted=True)


def withdraw_somebody(study: Study, **wanted: bool) -> None:
    """Somebody of these people withdraws."""
    person = Participant.objects.filter(**wanted).order_by("?")[0]
    Participant.objects.filter(pk=person.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)


def shown_people(study: Study) -> set[object]:
    return set(Participant.objects.filter(study=study, counted=True).values_list("pk", flat=True))


@pytest.fixture
def told() -> Iterator[list[int]]:
    """The studies of which listeners were told, inside the transaction, that the counted people are others."""
    heard: list[int] = []

    def hear(sender: object, *, study_id: int, **kwargs: object) -> None:
        assert connection.in_atomic_block
        heard.append(study_id)

    counted_people_changed.connect(hear)
    yield heard
    counted_people_changed.disconnect(hear)


def test_a_withdrawal_after_the_end_changes_the_shown_people_by_at_least_ten(told: list[int]) -> None:
    study = recruiting_study(slug="a-larger-one", allocation={"planned_participants": 120})
    counted_group(study, 120)
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.CLOSED, closed_on="2026-01-01")
    shown = [shown_people(study)]
    for _person in range(4):
        withdraw_somebody(study, counted=True)
        shown.append(shown_people(study))
    for before, after in combinations(shown, 2):
        assert len(before ^ after) >= LEAST
        assert (len(before) - len(after)) % LEAST == 0
    assert told == [study.pk] * 4


def test_while_a_study_runs_the_numbers_are_withheld_until_the_next_batch(study: Study, told: list[int]) -> None:
    counted_group(study, 48)
    withdraw_somebody(study, counted=True)
    study.refresh_from_db()
    assert (told, study.numbers_withheld) == ([study.pk], True)


def test_nobody_is_told_of_the_withdrawal_of_somebody_who_is_in_no_number(study: Study, told: list[int]) -> None:
    counted_group(study, 48)
    Participant.objects.filter(pk=Participant.objects.all()[0].pk).update(counted=False)
    withdraw_somebody(study, counted=False)
    study.refresh_from_db()
    assert (told, study.numbers_withheld) == ([], False)
    assert Participant.objects.filter(counted=True).count() == 47


def test_a_group_that_became_too_small_is_held_back_as_a_whole(study: Study) -> None:
    counted_group(study, 19)
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.CLOSED, closed_on="2026-01-01")
    withdraw_somebody(study, counted=True)
    assert Participant.objects.filter(counted=False).count() == 18


DIRECTLY, UNFINISHED = {"subsample": DIRECT, "agrees_to_direct": True}, {"step": Step.QUESTIONS, "finished_on": None}


@pytest.mark.parametrize(
    ("alike", "other"),
    [
        ({}, {"study": "another"}),
        ({}, {"subsample": "2"}),
        ({}, {"arm": "video"}),
        ({}, {"is_bot": True}),
        ({"background": {"section": "1"}}, {"background": {"section": "2"}}),
        ({}, UNFINISHED),
        (UNFINISHED, {"step": Step.FINISHED, "finished_on": "2026-01-01"}),
        (DIRECTLY, {"agrees_to_direct": False}),
        (DIRECTLY | {"agrees_to_direct": False}, {"agrees_to_direct": True}),
    ],
)
def test_those_who_hide_a_withdrawal_are_of_its_group(alike: dict[str, Any], other: dict[str, Any]) -> None:
    """Others would hide nobody: their group has numbers of its own, and that of the person would be one smaller than before."""
    in_sections = {"unit": "cluster", "sections": 4} if "background" in alike else {}
    study = recruiting_study(allocation={"planned_participants": 48, "block_multiples": [1], **in_sections})
    counted_group(study, 48)
    Participant.objects.update(**{"background": {}, **alike})
    others = Participant.objects.filter(pk__in=list(Participant.objects.values_list("pk", flat=True)[:24]))
    others.update(**({"study": recruiting_study(slug="another")} if "study" in other else other))
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.CLOSED, closed_on="2026-01-01")
    gone = Participant.objects.exclude(pk__in=others)[0]
    Participant.objects.filter(pk=gone.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert participation.withdraw(study, code=CODE)
    hidden = Participant.objects.filter(counted=False)
    assert (hidden.count(), (hidden & others).count()) == (LEAST - 1, 0)
