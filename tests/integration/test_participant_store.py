"""The statements that are put together once write and read, field by field, what the ORM does, on both databases."""

import uuid
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, connections, models, transaction
from django.db.backends.sqlite3.base import DatabaseWrapper as SQLite

from surveys.journey import participant_store
from surveys.journey.participant_store import (
    PARTICIPANT_FIELDS,
    STUDY_FIELDS,
    Change,
    Count,
    insert,
    insert_while,
    move,
    move_to_line,
    read_participant,
    read_study,
    write,
)
from surveys.models import CategoryResponse, CounterKind, DirectAnswer, Participant, Response, ShardedCounter, Step, Study
from tests.factories import recruiting_study

EMBEDDED = "embedded"
pytestmark = pytest.mark.django_db


@pytest.fixture(params=["postgresql", "sqlite"])
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The alias of a database of this kind with every table: that of the tests, or one of SQLite in memory beside it."""
    if connection.vendor == request.param:
        yield "default"
    elif connection.vendor == "sqlite":
        pytest.fail("needs PostgreSQL: run `make test` or `python -m tests.services pytest …`")
    else:
        settings = connections.configure_settings({"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})["default"]
        embedded = SQLite(settings, EMBEDDED)
        embedded.ensure_connection()  # before it is known: Django's tests refuse to open another known one
        connections.databases[EMBEDDED], connections[EMBEDDED] = settings, embedded
        with embedded.schema_editor() as editor:
            for model in apps.get_models():
                editor.create_model(model)
        monkeypatch.setattr(participant_store, "_database", lambda: embedded)
        yield EMBEDDED
        embedded.connection.close()  # `embedded.close()` keeps one in memory
        del connections[EMBEDDED], connections.databases[EMBEDDED]


@pytest.fixture
def study(database: str) -> Study:
    found = recruiting_study()
    if database != "default":
        with transaction.atomic(using=database):
            for one in (found.owner, found, *found.protocols.all()):
                one.save(using=database, force_insert=True)
    return Study.objects.using(database).get(pk=found.pk)


def participant_of(study: Study, **fields: Any) -> Participant:
    """Somebody who finished, with something in every field."""
    given = {
        "token_hash": uuid.uuid4().hex,
        "withdrawal_hash": uuid.uuid4().hex,
        "language": "de",
        "is_bot": True,
        "step": Step.FINISHED,
        "agrees_to_direct": False,
        "subsample": "1",
        "arm": "slides",
        "background": {"größe": [1, 2.5, None], "“quoted”": "it's 100 %", "nested": {"b": True}},
        "watched_tenths": 7,
        "quiz": {"quiz-groups": "alike"},
        "consented_on": date(2026, 2, 28),
        "finished_on": date(2026, 3, 1),
    }
    return Participant(study=study, protocol=study.protocol, **{**given, **fields})


def stored(row: models.Model, *, database: str) -> dict[str, Any]:
    """The table's content, as the database's driver returns it."""
    columns = [field.column for field in row._meta.concrete_fields]
    key = row._meta.pk.get_db_prep_value(row.pk, connections[database])
    with connections[database].cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM {row._meta.db_table} WHERE id = %s", [key])
        found = cursor.fetchone()
    assert found is not None
    return dict(zip(columns, found, strict=True))


def each_kind_of_row(study: Study) -> Iterator[models.Model]:
    for fields in ({}, {"agrees_to_direct": True, "is_bot": False}, {"agrees_to_direct": None, "consented_on": None, "finished_on": None}):
        yield participant_of(study, **fields)
    yield participant_of(study, step=Step.BACKGROUND, subsample="", arm="", background={}, quiz={}, watched_tenths=0, finished_on=None)
    person = participant_of(study)
    person.save(using=study._state.db, force_insert=True)
    for yes in (True, False):
        yield Response(participant=person, question=f"attention-{yes}", reported_yes=yes)
        yield DirectAnswer(participant=person, question=f"attention-{yes}", yes=yes)
    yield CategoryResponse(participant=person, question="copying", category=5)


def test_a_row_is_inserted_as_the_orm_inserts_it(study: Study, database: str) -> None:
    for row in each_kind_of_row(study):
        row.save(using=database, force_insert=True)
        by_the_orm = stored(row, database=database)
        type(row)._base_manager.using(database).filter(pk=row.pk).delete()
        insert([row])
        assert stored(row, database=database) == by_the_orm


def test_several_rows_are_inserted_at_once(study: Study, database: str) -> None:
    people = [participant_of(study, watched_tenths=tenths) for tenths in range(3)]
    insert(people)
    found = Participant.objects.using(database).in_bulk([person.pk for person in people])
    assert [found[person.pk].watched_tenths for person in people] == [0, 1, 2]
    assert {one.background == people[0].background for one in found.values()} == {True}


def test_a_row_that_is_there_already_is_refused_as_by_the_orm(study: Study, database: str) -> None:
    person = participant_of(study)
    insert([person])
    for again in (participant_of(study, token_hash=person.token_hash), participant_of(study, watched_tenths=11)):
        with pytest.raises(IntegrityError), transaction.atomic(using=database):
            insert([again])
    assert Participant.objects.using(database).count() == 1


BEFORE = {"step": Step.BACKGROUND, "subsample": "", "arm": "", "agrees_to_direct": None, "finished_on": None}
WRITTEN = [name for name in (field.attname for field in Participant._meta.concrete_fields) if name != "id"]


@pytest.mark.parametrize(
    "names",
    [
        ("step", "background", "subsample", "arm"),
        ("step", "agrees_to_direct", "subsample", "arm"),
        ("step", "finished_on", "subsample", "arm", "quiz"),
        ("watched_tenths",),
        ("language", "is_bot", "consented_on"),
        tuple(WRITTEN),
    ],
    ids=" ".join,
)
def test_fields_are_updated_as_the_orm_updates_them_and_no_others(study: Study, database: str, names: tuple[str, ...]) -> None:
    kept = participant_of(study)
    rows = []
    for by_the_orm in (True, False):
        person = participant_of(study, **BEFORE, is_bot=False, language="en", background={}, quiz={}, watched_tenths=0, consented_on=None)
        after = participant_of(study, step=Step.FINISHED if "finished_on" in names else Step.VIDEO)
        person.id, person.token_hash, person.withdrawal_hash = kept.id, "t", "w"
        Participant.objects.using(database).all().delete()
        person.save(using=database, force_insert=True)
        other = participant_of(study)
        other.save(using=database, force_insert=True)
        untouched = stored(other, database=database)
        changes = {name: getattr(after if name not in ("token_hash", "withdrawal_hash") else kept, name) for name in names}
        if by_the_orm:
            for name, value in changes.items():
                setattr(person, name, value)
            person.save(using=database, update_fields=[person._meta.get_field(name.removesuffix("_id")).name for name in names])
        else:
            write(person, Change(fields=changes))
        rows.append(stored(person, database=database))
        assert stored(other, database=database) == untouched
    assert rows[0] == rows[1]


def test_a_row_that_is_there_already_is_left_alone_if_asked(study: Study, database: str) -> None:
    person = participant_of(study, watched_tenths=3)
    assert insert([person], unless_there=True)
    assert not insert([participant_of(study, token_hash=person.token_hash)], unless_there=True)
    assert not insert([participant_of(study, withdrawal_hash=person.withdrawal_hash)], unless_there=True)
    assert Participant.objects.using(database).get() == person


@pytest.mark.parametrize(
    ("stored", "status", "goes_on"),
    [
        ({}, "recruiting", True),
        ({}, "paused", True),
        ({}, "closed", False),
        ({}, "archived", False),
        ({"step": Step.DIE}, "recruiting", False),
        ({"step": Step.FINISHED, "finished_on": date(2026, 3, 1)}, "recruiting", False),
        ({"page": 1}, "recruiting", False),
        ({"counted": True}, "recruiting", False),
    ],
)
def test_a_participant_moves_only_from_where_they_were_read(
    study: Study, database: str, stored: dict[str, Any], status: str, goes_on: bool
) -> None:
    person, other = (participant_of(study, step=Step.QUIZ, finished_on=None, quiz={}) for _ in range(2))
    insert([person, other])
    rows = Participant.objects.using(database)
    rows.filter(pk=person.pk).update(**stored)
    Study.objects.using(database).filter(pk=study.pk).update(status=status)
    before = rows.values().get(pk=person.pk)
    assert move(person, Change(fields={"step": Step.DIE, "quiz": {"asked": "right"}})) is goes_on
    assert rows.values().get(pk=person.pk) == (before | {"step": "die", "quiz": {"asked": "right"}} if goes_on else before)
    assert rows.get(pk=other.pk).step == Step.QUIZ


@pytest.mark.parametrize(("step", "goes_on"), [(Step.DIE, True), (Step.QUIZ, False)])
def test_all_that_a_step_writes_is_written_with_the_move_or_not_at_all(study: Study, database: str, step: str, goes_on: bool) -> None:
    person = participant_of(study, step=Step.DIE, finished_on=None)
    insert([person])
    Participant.objects.using(database).filter(pk=person.pk).update(step=step)
    rows = [
        Response(participant=person, question="one", reported_yes=True),
        Response(participant=person, question="two", reported_yes=False),
        CategoryResponse(participant=person, question="three", category=4),
        DirectAnswer(participant=person, question="four", yes=None, category=2),
        DirectAnswer(participant=person, question="five", yes=True, category=None),
    ]
    change = Change(fields={"step": Step.QUESTIONS}, rows=rows, counts=Count(study.pk, CounterKind.COMPREHENSION_PASSED, 3))
    assert move(person, change) is (goes_on and connections[database].vendor == "postgresql")
    if goes_on and connections[database].vendor == "sqlite":
        assert Participant.objects.using(database).get().step == Step.DIE, "nothing is written"
        write(person, change)
    found = [one for model in (Response, CategoryResponse, DirectAnswer) for one in model._base_manager.using(database).all()]
    assert sorted(one.question for one in found) == (["five", "four", "one", "three", "two"] if goes_on else [])
    for one in found:
        asked = next(row for row in rows if row.question == one.question)
        assert all(getattr(one, field.attname) == getattr(asked, field.attname) for field in one._meta.concrete_fields)
    counted = ShardedCounter.objects.using(database).values_list("kind", "version", "count")
    assert list(counted) == ([("comprehension_passed", 3, 1)] if goes_on else [])


@pytest.mark.parametrize(
    ("changed", "is_stored"),
    [
        ({}, True),
        ({"status": "paused"}, False),
        ({"status": "closed"}, False),
        ({"approved_until": date(2020, 1, 1)}, False),
    ],
)
def test_somebody_new_is_stored_only_while_the_study_stands_as_it_was_read(
    study: Study, database: str, changed: dict[str, Any], is_stored: bool
) -> None:
    read, person = read_study(study.slug), participant_of(study)
    assert read is not None
    Study.objects.using(database).filter(pk=study.pk).update(**changed)
    assert insert_while(person, read) is is_stored
    assert not insert_while(participant_of(study, token_hash=person.token_hash), read)
    assert list(Participant.objects.using(database)) == [person] * is_stored
    if is_stored:
        by_statement = stored(person, database=database)
        Participant.objects.using(database).all().delete()
        person.save(using=database, force_insert=True)
        assert by_statement == stored(person, database=database)


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize(
    ("changed", "lines", "goes_on"),
    [({}, True, True), ({"step": Step.DIRECT_CONSENT}, True, False), ({"counted": True}, True, False), ({}, False, False)],
)
def test_a_line_and_the_move_to_it_are_one(changed: dict[str, Any], lines: bool, goes_on: bool) -> None:
    study = recruiting_study()
    person = participant_of(study, step=Step.BACKGROUND, subsample="", arm="", finished_on=None)
    insert([person])
    Participant.objects.filter(pk=person.pk).update(**changed)
    free = study.allocation_slots.filter(status="free").order_by("position")
    if not lines:
        free.update(status="closed")
    before, following = free.count(), free.first()
    line = move_to_line(person, {"step": Step.VIDEO, "background": {"year": 2}}, stratum="")
    now = Participant.objects.get(pk=person.pk)
    if goes_on:
        assert following is not None
        assert line == (following.subsample, following.arm) == (now.subsample, now.arm)
        assert (now.step, now.background, free.count()) == (Step.VIDEO, {"year": 2}, before - 1)
        assert study.allocation_slots.get(pk=following.pk).status == "taken"
    else:
        assert line is None
        assert (now.subsample, now.background == person.background, free.count()) == ("", True, before)


@pytest.mark.parametrize("lock", [False, True])
def test_a_participant_is_read_as_the_orm_reads_them(study: Study, database: str, lock: bool) -> None:
    for person in (participant_of(study), participant_of(study, **BEFORE)):
        person.save(using=database, force_insert=True)
        expected = Participant.objects.using(database).select_related("study").get(pk=person.pk)
        with transaction.atomic(using=database):
            for slug in (None, study.slug):
                found = read_participant(person.token_hash, slug=slug, lock=lock)
                assert found is not None
                assert_same_fields(found, expected, PARTICIPANT_FIELDS)
                assert_same_fields(found.study, expected.study, STUDY_FIELDS)
            assert read_participant(person.token_hash, slug="another", lock=lock) is None
    assert read_participant("nobody") is None


@pytest.mark.parametrize("hold", [False, True])
def test_a_study_is_read_as_the_orm_reads_it(study: Study, database: str, hold: bool) -> None:
    Study.objects.using(database).filter(pk=study.pk).update(approved_until=date(2027, 1, 31), accepts_bots=True)
    with transaction.atomic(using=database):
        found = read_study(study.slug, hold=hold)
        assert found is not None
        assert_same_fields(found, Study.objects.using(database).get(pk=study.pk), STUDY_FIELDS)
        assert read_study("another", hold=hold) is None


def assert_same_fields(found: models.Model, expected: models.Model, names: tuple[str, ...]) -> None:
    """The same values of the same types; what was not asked for is deferred."""
    for name in names:
        value, wanted = getattr(found, name), getattr(expected, name)
        assert (name, type(value), value) == (name, type(wanted), wanted)
    loaded = {field.attname for field in found._meta.concrete_fields} - found.get_deferred_fields()
    assert loaded - {"token_hash"} == set(names)
    assert found._state.db == expected._state.db
    assert not found._state.adding
