"""Neither the place nor the age of a row tells when its person came."""

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import connection, models, transaction
from django.db.models import UUIDField
from django.db.models.expressions import RawSQL
from django.test import Client

from jobs.models import Routine
from jobs.registry import JOBS
from jobs.tasks import attempt, send_now
from surveys.batches import order_of_arrival
from surveys.batches.order_of_arrival import TABLES, forget_order_of_days, forget_recent_order
from surveys.batches.services import ORDER_OF_DAYS, count_next_batch
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
    return list(_aged(model, **wanted).values_list("age", flat=True))


def _aged(model: type[models.Model], **wanted: Any) -> models.QuerySet[Any]:
    age = RawSQL(f"{model._meta.db_table}.xmin::text::bigint", [])
    return model._default_manager.filter(**wanted).annotate(age=age)


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


def test_each_hour_those_who_wait_lie_in_no_order_and_have_ages_that_tell_none(mixed: Study) -> None:
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
            assert follows_the_key(model, column)
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


def follows_the_key(model: type[models.Model], column: str, **wanted: Any) -> bool:
    """Whether the age of each row tells no more than its random key: no row with a larger key was written before."""
    written = dict(_aged(model, **wanted).values_list(column, "age"))
    in_order = [written[key] for key in sorted(written)]
    return in_order == sorted(in_order) and in_order.count(in_order[-1]) > 1


def codes_some_of_them_spent(study: Study) -> None:
    add_entry_codes(study, codes=[f"CODE-{number:04}" for number in range(50)], actor=study.owner)
    for code in EntryCode.objects.all()[:20]:
        EntryCode.objects.filter(pk=code.pk).update(spent=True)


def test_each_night_the_age_of_each_row_of_a_study_follows_from_its_key_alone(postgresql: None, study: Study) -> None:
    codes_some_of_them_spent(study)
    people_one_by_one(study, PEOPLE)
    count_next_batch(study)
    columns = {Participant: "pk", Response: "participant_id", EntryCode: "pk"}
    for model, column in columns.items():
        assert not follows_the_key(model, column), "this test would prove nothing if it were so before"
    assert forget_order_of_days() == []
    for model, column in columns.items():
        assert follows_the_key(model, column), model
    places = as_they_lie(Participant, "pk")
    assert places == sorted(places)
    before = {model: ages(model) for model in TABLES}
    assert forget_order_of_days() == []
    assert {model: ages(model) for model in TABLES} == before, "nobody came, so nothing is written"


def test_a_night_holds_a_few_people_at_once(postgresql: None, study: Study) -> None:
    people_one_by_one(study, PEOPLE)
    forget_order_of_days()
    written_together = Counter(ages(Participant))
    assert len(written_together) == PEOPLE // order_of_arrival.HELD_AT_ONCE
    assert set(written_together.values()) == {order_of_arrival.HELD_AT_ONCE}


@pytest.mark.parametrize("newest", [0, PEOPLE - 1], ids=["first", "last"])
def test_the_next_night_finds_the_one_person_who_came_since(postgresql: None, study: Study, newest: int) -> None:
    """Also the one whose key is the largest, so that their age fits the order of the keys."""
    people_one_by_one(study, PEOPLE)
    forget_order_of_days()
    key = Participant.objects.order_by("pk")[newest].pk
    Participant.objects.filter(pk=key).update(credit="code")
    assert not follows_the_key(Participant, "pk")
    forget_order_of_days()
    assert follows_the_key(Participant, "pk")


def test_an_intruder_in_the_middle_of_a_night_learns_nothing_that_was_not_there_before_it(postgresql: None, study: Study) -> None:
    """A worker is killed after two parts. Rows that are done tell no more than their keys, all others what they told before."""
    other = recruiting_study(slug="another-study", allocation={"planned_participants": PEOPLE})
    add_finished_people(other, 2 * order_of_arrival.HELD_AT_ONCE)
    of_others = ages(Participant, study=other)
    people_one_by_one(study, PEOPLE)
    before = dict(_aged(Participant, study=study).values_list("pk", "age"))
    first = max(before.values())
    noted: list[order_of_arrival.Place] = []

    def killed(place: order_of_arrival.Place) -> None:
        noted.append(place)
        if len(noted) == 2:
            raise SystemExit

    with pytest.raises(SystemExit):
        forget_order_of_days(killed)
    now = dict(_aged(Participant, study=study).values_list("pk", "age"))
    done = sorted(key for key, age in now.items() if age > first)
    assert done == sorted(now)[: noted[-1].done], "parts follow the keys, and nothing else"
    assert [now[key] for key in done] == sorted(now[key] for key in done)
    assert {key: now[key] for key in now.keys() - set(done)} == {key: before[key] for key in before.keys() - set(done)}
    assert follows_the_key(Response, "participant_id", participant__in=done)

    written = {key: now[key] for key in done}
    later: list[order_of_arrival.Place] = []
    forget_order_of_days(later.append, begun=noted[-1])
    assert (later[0].done, later[0].of) == (3 * order_of_arrival.HELD_AT_ONCE, PEOPLE)
    assert follows_the_key(Participant, "pk", study=study)
    after = dict(_aged(Participant).values_list("pk", "age"))
    assert {key: after[key] for key in done} == written, "it goes on, and does not begin again"
    assert ages(Participant, study=other) == of_others, "it goes on in this study alone"


def test_somebody_who_comes_while_a_killed_night_waits_is_hidden_by_its_end(postgresql: None, study: Study) -> None:
    people_one_by_one(study, PEOPLE)
    noted: list[order_of_arrival.Place] = []
    forget_order_of_days(noted.append)
    key = Participant.objects.order_by("pk")[10].pk
    Participant.objects.filter(pk=key).update(credit="code")
    forget_order_of_days(begun=noted[1])
    assert follows_the_key(Participant, "pk")


def test_a_killed_night_goes_on_where_it_was(postgresql: None, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a worker does it: its place is kept with the work, shown to those who look after the server, and deleted with the end."""
    people_one_by_one(study, PEOPLE)
    lay = order_of_arrival.lay_anew

    def busy_after_the_first_part(keys: Any) -> None:
        if Routine.objects.get(pk=ORDER_OF_DAYS).place:
            raise SystemExit
        lay(keys)

    send_now(ORDER_OF_DAYS)
    monkeypatch.setattr(order_of_arrival, "lay_anew", busy_after_the_first_part)
    night = Routine.claim(ORDER_OF_DAYS)
    assert night is not None
    with pytest.raises(SystemExit):
        JOBS[ORDER_OF_DAYS].do(night)
    night.refresh_from_db()
    assert night.progress == f"{order_of_arrival.HELD_AT_ONCE} of {PEOPLE}"
    first = [str(key) for key in Participant.objects.order_by("pk").values_list("pk", flat=True)[: order_of_arrival.HELD_AT_ONCE]]
    assert night.place["after"] == first[-1]
    monkeypatch.setattr(order_of_arrival, "lay_anew", lay)
    written = ages(Participant, pk__in=first)
    assert night.take_over()
    again = Routine.claim(ORDER_OF_DAYS)
    assert again is not None
    attempt(JOBS[ORDER_OF_DAYS], again)
    assert follows_the_key(Participant, "pk")
    assert ages(Participant, pk__in=first) == written
    assert Routine.objects.get(pk=ORDER_OF_DAYS).place == {}


def test_somebody_who_leaves_waits_for_a_part_of_the_night_alone(postgresql: None, study: Study) -> None:
    """The night stops between two parts for as long as it takes: nobody is held then."""
    clients = [Client() for _ in range(2)]
    for client in clients:
        walk(client, study)
    people_one_by_one(study, 2 * order_of_arrival.HELD_AT_ONCE)
    between, gone = threading.Event(), threading.Event()

    def night() -> None:
        def wait(place: order_of_arrival.Place) -> None:
            between.set()
            assert gone.wait(10)

        forget_order_of_days(wait)

    def leave() -> None:
        assert between.wait(10)
        for client in clients:
            assert participation.withdraw(study, code=participation.withdrawal_code(token_of(client))) is not None
        gone.set()

    at_once(night, leave)
    assert follows_the_key(Participant, "pk")


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


def test_too_busy_rows_wait_for_the_next_time(postgresql: None, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_of_arrival, "PATIENCE", "50ms")
    add_finished_people(study, 4, counted=False)
    night = order_of_arrival.Place(table=Participant._meta.db_table, study=study.pk, after=str(UUID(int=0)), done=0, of=4)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE surveys_response IN SHARE ROW EXCLUSIVE MODE")
            held.set()
            assert done.wait(20)

    def rewrite() -> list[str]:
        assert held.wait(10)
        try:
            return forget_recent_order() + forget_order_of_days(begun=night)
        finally:
            done.set()

    assert at_once(hold, partial(rewrite))[1] == ["people who wait", "surveys_participant"]
