"""The order of the rows does not tell when each participant came."""

import itertools

import pytest
from django.db import connection

from surveys.models import EntryCode
from surveys.batches.order_of_arrival import TABLES
from tests.factories import recruiting_study

pytestmark = pytest.mark.django_db(transaction=True)


def rows_as_they_lie() -> list[str]:
    place = "ctid" if connection.vendor == "postgresql" else "rowid"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT code_hash FROM {EntryCode._meta.db_table} ORDER BY {place}")
        return [row[0] for row in cursor.fetchall()]


def test_rows_do_not_lie_in_the_order_in_which_they_were_written() -> None:
    study = recruiting_study()
    written = [f"{number:04}" for number in range(200)]
    for code in written:
        EntryCode.objects.create(study=study, code_hash=code)
    assert rows_as_they_lie() == written, "this test would prove nothing if the rows were not in order before"
    assert forget_order_of_arrival() == []
    after = rows_as_they_lie()
    assert sorted(after) == written
    positions = [after.index(code) for code in written]
    neighbours = sum(abs(a - b) == 1 for a, b in itertools.pairwise(positions))
    assert neighbours < 15, "of 199 pairs about 2 are neighbours in a random order"


def test_every_table_with_a_random_key_is_laid_anew() -> None:
    from django.apps import apps
    from django.db.models import UUIDField

    random_keys = {model for model in apps.get_app_config("surveys").get_models() if isinstance(model._meta.pk, UUIDField)}
    assert {model.__name__ for model in random_keys - set(TABLES)} == {"MediaFile"}, "staff's files are no secret"
