"""Neither the place nor the age of a row tells when its person came."""

import threading
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models, transaction
from django.db.models import UUIDField
from django.test import Client

from surveys.batches import order_of_arrival
from surveys.batches.order_of_arrival import TABLES, forget_order_of_days, forget_recent_order
from surveys.batches.services import count_next_batch
from surveys.journey import services as participation
from surveys.journey.participant_store import read_participant
from surveys.models import CategoryResponse, EntryCode, Participant, Response, Step, Study
from surveys.recruitment.services import add_entry_codes
from surveys.studies import services as studies
from tests.categories import with_frequency
from tests.factories import answer, participant_of, recruiting_study, token_of, walk
from tests.finished_people import add_finished_people
from tests.simultaneous import at_once

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = 200


def as_they_lie(model: type[models.Model], column: str, **wanted: Any) -> list[Any]:
    """One column of the rows in the order in which they lie in the table's file."""
    place = f"{model._meta.db_table}.{'ctid' if connection.vendor == 'postgresql' else 'rowid'}"
    return list(model._default_manager.filter(**wanted).extra(order_by=[place]).values_list(column, flat=True))


def ages(model: type[models.Model], **wanted: Any) -> list[int]:
    """The numbers of the transactions that wrote the rows."""
    return list(
        model._default_manager.filter(**wanted)
        .extra(select={"age": f"{model._meta.db_table}.xmin::text::bigint"})
        .values_list("age", flat=True)
    )


def in_order_of(written: list[Any], after: list[Any]) -> float:
    """The share of neighbours that still stand in the order in which they were written; one half by chance."""
    place = {key: number for number, key in enumerate(after)}
    return sum(place[one] < place[next_one] for one, next_one in pairwise(written)) / (len(written) - 1)


def people_one_by_one(study: Study, n: int) -> list[Any]:
    """People who came and finished one after the other, each in transactions of their own; their keys in that order."""
    add_finished_people(study, n, counted=False)
    keys = list(Participant.objects.filter(study=study).values_list("pk", flat=True))
    Participant.objects.filter(study=study, step=Step.FINISHED).update(step=Step.QUESTIONS, finished_on=None)
    for key in keys:
        with transaction.atomic():
            Participant.objects.filter(pk=key).update(step=Step.FINISHED, finished_on="2026-01-01")
            for model in (Response, CategoryResponse):
                for response in model._default_manager.filter(participant=key):
                    response.save()
    return keys


@pytest.fixture
def study() -> Study:
    return recruiting_study(allocation={"planned_participants": PEOPLE})


@pytest.fixture
def mixed() -> Study:
    """A study with yes/no questions and one with categories."""
    return recruiting_study(allocation={"planned_participants": PEOPLE}, questions=with_frequency())


def test_each_hour_those_who_wait_lie_in_no_order_and_have_one_age(mixed: Study) -> None:
    keys = people_one_by_one(mixed, PEOPLE)
    if connection.vendor == "postgresql":
        assert in_order_of(keys, as_they_lie(Participant, "pk")) > 0.75, "this test would prove nothing if they were not in order before"
        assert len(set(ages(Participant))) > PEOPLE / 2
    assert forget_recent_order() == []
    for model, column in ((Participant, "pk"), (Response, "participant_id"), (CategoryResponse, "participant_id")):
        places = list(dict.fromkeys(as_they_lie(model, column)))
        assert sorted(places) == sorted(keys)
        assert 0.3 < in_order_of(keys, places) < 0.7
        if connection.vendor == "postgresql":
            assert len(set(ages(model))) == 1
    assert Response.objects.count() == 4 * PEOPLE


def test_a_batch_is_sealed_in_one_transaction_and_in_no_order(postgresql: None, mixed: Study) -> None:
    keys = people_one_by_one(mixed, PEOPLE)
    assert count_next_batch(mixed)
    sealed = set(Participant.objects.filter(counted=True).values_list("pk", flat=True))
    assert len(sealed) >= 100
    answers = [age for model in (Response, CategoryResponse) for age in ages(model, participant__counted=True)]
    assert len({*ages(Participant, counted=True), *answers}) == 1
    places = as_they_lie(Participant, "pk", counted=True)
    assert 0.3 < in_order_of([key for key in keys if key in sealed], places) < 0.7
    assert Response.objects.count() == 4 * PEOPLE


def test_each_night_the_rows_of_a_study_get_one_age_once(postgresql: None, study: Study) -> None:
    add_entry_codes(study, codes=[f"CODE-{number:04}" for number in range(50)], actor=study.owner)
    for code in EntryCode.objects.all()[:20]:
        EntryCode.objects.filter(pk=code.pk).update(spent=True)
    people_one_by_one(study, PEOPLE)
    count_next_batch(study)
    assert forget_order_of_days() == []
    for model in (Participant, Response, EntryCode):
        assert len(set(ages(model))) == 1, model
    before = {model: ages(model) for model in TABLES}
    assert forget_order_of_days() == []
    assert {model: ages(model) for model in TABLES} == before, "nobody came, so nothing is written"


def test_people_on_their_way_go_on_while_their_rows_are_written_again(postgresql: None, study: Study) -> None:
    clients = [Client() for _ in range(6)]
    for client in clients:
        walk(client, study, until="quiz")
    stop = threading.Event()

    def reshuffle() -> list[int]:
        while not stop.is_set():
            forget_recent_order()
        return []

    def go_on() -> list[int]:
        try:
            return [walk_on(client, study) for client in clients]
        finally:
            stop.set()

    _nothing, statuses = at_once(reshuffle, go_on)
    assert statuses == [303] * len(clients)
    assert Participant.objects.filter(step=Step.FINISHED).count() == len(clients)
    assert Response.objects.count() == 4 * len(clients)


def walk_on(client: Client, study: Study) -> int:
    return max(answer(client, study, step).status_code for step in ("quiz", "die", "questions"))


@pytest.mark.parametrize("act", ["step", "withdrawal"])
def test_somebody_who_waits_for_a_rewrite_finds_their_row_again(postgresql: None, study: Study, act: str) -> None:
    client = Client()
    walk(client, study, until="quiz")
    person, token = participant_of(client), token_of(client)
    rewritten, go_on = threading.Event(), threading.Event()

    def rewrite() -> None:
        with transaction.atomic():
            order_of_arrival.lay_anew(list(Participant.objects.select_for_update().values_list("pk", flat=True)))
            rewritten.set()
            go_on.wait(10)

    def wait_for_it() -> Any:
        assert rewritten.wait(10)
        threading.Timer(0.5, go_on.set).start()
        if act == "withdrawal":
            return participation.withdraw(study, code=participation.withdrawal_code(token))
        with transaction.atomic():
            return read_participant(person.token_hash, lock=True)

    acts: list[Callable[[], Any]] = [rewrite, wait_for_it]
    assert at_once(*acts)[1] is not None


def test_a_batch_takes_nobody_who_is_just_withdrawing_and_waits_for_nobody(postgresql: None, study: Study) -> None:
    people_one_by_one(study, PEOPLE)
    leaving = Participant.objects.all()[0].pk
    held, sealed = threading.Event(), threading.Event()

    def withdraw() -> None:
        with transaction.atomic():
            Participant.objects.select_for_update().get(pk=leaving)
            held.set()
            assert sealed.wait(20)
            Participant.objects.get(pk=leaving).delete()

    def seal() -> None:
        assert held.wait(10)
        assert count_next_batch(study)
        sealed.set()

    at_once(withdraw, seal)
    assert Participant.objects.filter(counted=True).count() >= 100
    assert not Response.objects.filter(participant=leaving).exists()


def test_closing_waits_for_people_who_send_a_page_and_counts_them(postgresql: None, study: Study) -> None:
    add_finished_people(study, 40, counted=False)
    person = Participant.objects.all()[0].pk
    held = threading.Event()

    def step() -> None:
        with transaction.atomic():
            Participant.objects.select_for_update().get(pk=person)
            held.set()
            threading.Event().wait(0.5)
            participation.count(participation.Count(study.pk, participation.CounterKind.DECLINED, 1))  # needs the study at the end

    def close() -> None:
        assert held.wait(10)
        studies.close(study, actor=study.owner)

    at_once(step, close)
    assert not Participant.objects.filter(counted=False).exists()


def test_every_table_with_a_random_key_is_laid_anew() -> None:
    random_keys = {model for model in apps.get_app_config("surveys").get_models() if isinstance(model._meta.pk, UUIDField)}
    assert {model.__name__ for model in random_keys - set(TABLES)} == {"MediaFile"}, "staff's files are no secret"


def test_too_busy_rows_wait_for_the_next_time(postgresql: None, study: Study) -> None:
    add_finished_people(study, 4, counted=False)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE surveys_response IN SHARE ROW EXCLUSIVE MODE")
            held.set()
            assert done.wait(20)

    def rewrite() -> list[str]:
        assert held.wait(10)
        try:
            return forget_recent_order()
        finally:
            done.set()

    assert at_once(hold, partial(rewrite))[1] == ["people who wait"]
