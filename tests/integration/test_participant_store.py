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
from surveys.journey.participant_store import PARTICIPANT_FIELDS, STUDY_FIELDS, insert, move, read_participant, read_study, update
from surveys.models import CategoryResponse, DirectAnswer, Participant, Response, Step, Study
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
        monkeypatch.setattr(participant_store, "connection", embedded)
        yield EMBEDDED
        embedded.close()
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
            update(person, changes)
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
    assert move(person, {"step": Step.DIE, "quiz": {"asked": "right"}}) is goes_on
    assert rows.values().get(pk=person.pk) == (before | {"step": "die", "quiz": {"asked": "right"}} if goes_on else before)
    assert rows.get(pk=other.pk).step == Step.QUIZ


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
