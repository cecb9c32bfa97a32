"""Credit goes to course platforms in whole batches, in an order drawn by chance, at a moment that no single student decides."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from jobs.models import Routine
from lti.errors import PlatformError
from lti.models import BatchStatus, CreditBatch, Platform
from lti.selectors import credit_numbers
from lti.services import let_credit_go, let_the_last_go, make_batch, send_again, send_the_last
from lti.standard.grades import give_point
from surveys.credit.selectors import Place
from surveys.credit.services import change_credit
from surveys.models import CreditBook, Participant, Study
from tests.course_students import hand_in, launch, queue, study_with_credit, waiting, words
from tests.course_students import platform as platform
from tests.factories import logged_in
from tests.finished_people import add_finished_people
from tests.jobs import attempt, catch, claimed, keys
from tests.lti_platform import CoursePlatform

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("study")]  # before a platform, so that its rows are written again


@pytest.fixture
def study() -> Study:
    return study_with_credit()


def test_credit_goes_ten_at_a_time(platform: CoursePlatform, study: Study) -> None:
    nine = [f"student-{number}" for number in range(9)]
    queue(study, platform, *nine)
    let_credit_go()
    assert not CreditBatch.objects.exists()
    queue(study, platform, *nine, "tenth")
    let_credit_go()
    [batch] = CreditBatch.objects.all()
    assert (batch.people, waiting(study)) == (10, [])
    attempt(claimed(batch))
    assert sorted(platform.scores()) == sorted([*nine, "tenth"])


@pytest.mark.parametrize(("days_since_the_end", "goes"), [(None, False), (0, False), (6, False), (7, True), (30, True)])
def test_fewer_than_ten_go_once_a_week_and_a_week_after_the_end(
    platform: CoursePlatform, study: Study, days_since_the_end: int | None, goes: bool
) -> None:
    """Attack: a student presses alone after the end, and the hour at which the course gets the point tells when."""
    if days_since_the_end is not None:
        day = timezone.localdate() - timedelta(days=days_since_the_end)
        Study.objects.filter(pk=study.pk).update(status="closed", closed_on=day)
    queue(study, platform, "late")
    let_credit_go()
    assert waiting(study) == ["late"], "no hour sends somebody alone"
    let_the_last_go()
    assert waiting(study) == ([] if goes else ["late"])
    assert Routine.EVERY["last_credit"] == timedelta(days=7)


def test_ten_who_went_meanwhile_are_not_sent_as_one(platform: CoursePlatform, study: Study) -> None:
    """Attack: ten wait when a batch begins to be made; before it holds the book another one took them, and one student came."""
    queue(study, platform, "late")
    assert make_batch(study, least=10) is None
    assert waiting(study) == ["late"]


def test_no_shown_number_of_credit_tells_of_one_student(platform: CoursePlatform, study: Study) -> None:
    """Attack: the page is read before and after a batch of one, whose student the course platform names."""
    owner, address = logged_in(study.owner), f"/studies/{study.slug}/credit/"
    shown = set()
    for people in (1, 9, 10, 11, 19):
        CreditBatch.objects.all().delete()
        CreditBatch.objects.create(study=study, people=12, status=BatchStatus.SENT)
        CreditBatch.objects.create(study=study, people=people, places=[{}] * people, status=BatchStatus.FAILED, error="away")
        numbers = owner.get(f"/api/v1{address}").json()
        page = words(owner.get(address))
        assert f"Credits sent, in whole tens: {numbers['sent']}." in page
        assert f"Credit of up to {numbers['given_up']} students could not be sent: away" in page
        shown.add((people, numbers["sent"], numbers["given_up"]))
    assert shown == {(1, 10, 10), (9, 10, 10), (10, 10, 10), (11, 10, 20), (19, 10, 20)}


def test_a_batch_goes_in_an_order_drawn_by_chance(platform: CoursePlatform, study: Study) -> None:
    subs = [f"student-{number:03}" for number in range(40)]
    queue(study, platform, *subs)
    batch = make_batch(study)
    assert batch is not None
    assert sorted(subs) == sorted(place["sub"] for place in batch.places)
    assert subs != [place["sub"] for place in batch.places], "one order in 40! is the same"


def test_credit_waits_for_a_platform_that_is_away(
    platform: CoursePlatform, study: Study, committed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = catch(monkeypatch)
    queue(study, platform, *(f"student-{number}" for number in range(30)))
    with committed():
        batch = make_batch(study)
    assert batch is not None
    platform.is_away = True
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.attempts, len(batch.places)) == (BatchStatus.WAITING, 1, 30)
    assert batch.error == "answered 503, expected 2xx"
    CreditBatch.objects.update(attempts=CreditBatch.MOST_ATTEMPTS - 1, due_at=timezone.now())
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.due_at) == (BatchStatus.FAILED, None)
    platform.is_away = False
    with committed():
        assert send_again(study, actor=study.owner) == 1
    assert keys(sent, "credit_batch") == [str(batch.pk)] * 2, "workers are told at once"
    batch.refresh_from_db()
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.error, batch.places) == (BatchStatus.SENT, "", [])
    assert len(set(platform.scores())) == 30
    # The order in which credit is sent tells nothing, and neither does the time that each student's bears.
    assert len({entry["score"]["timestamp"] for entry in platform.log if "score" in entry}) == 1


def test_a_slow_platform_is_not_given_up_while_it_takes_credit(
    platform: CoursePlatform, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt ends at the time limit, after ten students more."""
    asked = 0

    def slow(place: Place, **values: str) -> None:
        nonlocal asked
        asked += 1
        if asked % 11 == 0:
            raise SoftTimeLimitExceeded
        give_point(place, **values)

    monkeypatch.setattr("lti.sending.give_point", slow)
    queue(study, platform, *(f"student-{number}" for number in range(100)))
    batch = make_batch(study)
    assert batch is not None
    for _attempt in range(10):
        CreditBatch.objects.exclude(due_at=None).update(due_at=timezone.now())
        attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.places) == (BatchStatus.SENT, [])
    assert len(set(platform.scores())) == 100


def test_a_removed_platform_keeps_nobody_else_from_their_credit(platform: CoursePlatform, study: Study) -> None:
    queue(study, platform, "ada", "bob")
    book = CreditBook.objects.get()
    book.waiting[0] |= {"platform": 0, "issuer": "https://removed.example.org"}
    book.save()
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert (batch.status, batch.error, [place["sub"] for place in batch.places]) == (
        BatchStatus.WAITING,
        "the platform was removed",
        ["ada"],
    )
    assert platform.scores() == ["bob"]


def test_a_platform_that_is_registered_anew_takes_credit_from_before(platform: CoursePlatform, study: Study) -> None:
    queue(study, platform, "ada")
    Platform.objects.get().delete()
    platform.registered()
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    assert platform.scores() == ["ada"]


@pytest.mark.parametrize("added_anew", [True, False])
def test_credit_of_a_deleted_activity_goes_to_the_one_that_a_teacher_added_anew(
    platform: CoursePlatform, study: Study, added_anew: bool
) -> None:
    client = Client()
    launch(client, platform, study, sub="ada")
    hand_in(client, study, action="without")
    platform.deleted.add("/items/course-1/scores")
    others = {"old": "another study", **({"new": study.slug} if added_anew else {})}
    for name, resource in others.items():
        address = f"{platform.address}/items/{name}"
        platform.line_items[address] = {"id": address, "resourceId": resource, "resourceLinkId": name}
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    batch.refresh_from_db()
    found = [entry["item"] for entry in platform.log if "score" in entry]
    assert (found, batch.error) == ((["/items/new/scores"], "") if added_anew else ([], "answered 404, expected 2xx"))


def test_the_time_of_a_score_is_that_of_the_batch(platform: CoursePlatform, study: Study) -> None:
    queue(study, platform, "ada")
    before = time.time()
    batch = make_batch(study)
    assert batch is not None
    attempt(claimed(batch))
    [score] = [entry["score"] for entry in platform.log if "score" in entry]
    assert before - 1 <= datetime.fromisoformat(score["timestamp"]).timestamp() <= time.time() + 1


def test_students_whose_credit_no_platform_takes_are_forgotten_in_the_end(platform: CoursePlatform, study: Study) -> None:
    queue(study, platform, "ada")
    batch = make_batch(study)
    assert batch is not None
    CreditBatch.objects.update(status=BatchStatus.FAILED, due_at=None, ended_on=timezone.localdate() - timedelta(days=89))
    let_credit_go()
    assert CreditBatch.objects.get().places
    CreditBatch.objects.update(ended_on=timezone.localdate() - timedelta(days=91))
    let_credit_go()
    assert CreditBatch.objects.get().places == []
    assert send_again(study, actor=study.owner) == 0, "nobody is left to whom it could be sent, so nothing counts as sent"


def test_nothing_is_sent_again_where_nothing_was_given_up(platform: CoursePlatform, study: Study) -> None:
    owner = logged_in(study.owner)
    said = words(owner.post(f"/studies/{study.slug}/credit/", {"action": "again"}, follow=True))
    assert "There was nothing to send again." in said
    assert "The credit is being sent again." not in said
    assert owner.post(f"/api/v1/studies/{study.slug}/credit/send-again/").status_code == 200
    assert not Entry.objects.filter(action="credit.sent_again").exists()


def test_each_study_sends_and_promises_its_own_credit_alone(platform: CoursePlatform, study: Study) -> None:
    other = study_with_credit(slug="another")
    add_finished_people(other, 1)
    queue(other, platform, "ada")
    change_credit(study, is_on=False, for_everybody=True, actor=study.owner)
    assert Participant.objects.get().credit == "", "only the first study was turned off"
    assert [credit_numbers(one)["for_everybody"] for one in (study, other)] == [True, True]
    change_credit(study, is_on=False, for_everybody=False, actor=study.owner)
    assert [credit_numbers(one)["for_everybody"] for one in (study, other)] == [False, True]
    queue(study, platform)
    send_the_last(None, study_id=study.pk)
    assert waiting(other) == ["ada"]
    send_the_last(None, study_id=other.pk)
    assert waiting(other) == []
    for status, shown in ((BatchStatus.SENT, "sent"), (BatchStatus.FAILED, "given_up")):
        CreditBatch.objects.update(status=status, due_at=None, people=10)
        assert [credit_numbers(one)[shown] for one in (study, other)] == [0, 10]
    assert [send_again(one, actor=one.owner) for one in (study, other)] == [0, 1]
    assert Entry.objects.get(action="credit.sent_again").subject_id == str(other.pk)


def test_a_student_whom_the_time_limit_meets_is_counted_once(
    platform: CoursePlatform, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit may come at any moment, such as just after the platform refused a student."""

    class LateError(PlatformError):
        def __str__(self) -> str:
            raise SoftTimeLimitExceeded

    def refuse(*asked: object, **values: object) -> None:
        raise LateError

    queue(study, platform, "ada", "bob")
    batch = make_batch(study)
    assert batch is not None
    monkeypatch.setattr("lti.sending.give_point", refuse)
    attempt(claimed(batch))
    batch.refresh_from_db()
    assert sorted(place["sub"] for place in batch.places) == ["ada", "bob"]
    assert (batch.status, batch.error) == (BatchStatus.WAITING, "it took too long")
