"""Indexes of the tables that participants write: each row costs as many as there are."""

import pytest
from django.db import connection

from surveys.models import AllocationSlot, CategoryResponse, DirectAnswer, EntryCode, PanelMember, Response, ShardedCounter

pytestmark = pytest.mark.django_db
INDEXES = """
    SELECT indrelid::regclass::text, indexrelid::regclass::text, indkey::int[], indisunique, indpred IS NOT NULL
    FROM pg_index WHERE indrelid::regclass::text = ANY(%s)
"""


@pytest.mark.usefixtures("postgresql")
def test_no_row_of_a_participant_is_written_into_an_index_that_another_one_replaces() -> None:
    written = (Response, CategoryResponse, DirectAnswer, AllocationSlot, ShardedCounter, EntryCode, PanelMember)
    with connection.cursor() as cursor:
        cursor.execute(INDEXES, [[model._meta.db_table for model in written]])
        indexes = cursor.fetchall()
    assert {table for table, *_others in indexes} == {model._meta.db_table for model in written}
    beginnings = [
        (name, longer)
        for table, name, columns, is_unique, is_partial in indexes
        for other, longer, more, _unique, partial in indexes
        if table == other and name != longer and more[: len(columns)] == columns and not (is_unique or is_partial or partial)
    ]
    assert beginnings == []


@pytest.mark.usefixtures("postgresql")
def test_the_hashes_of_a_participant_have_one_index_each() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'surveys_participant' AND indexdef LIKE '%_hash%'")
        assert sorted(name for name, _definition in cursor.fetchall()) == ["token_hash_is_unique", "withdrawal_hash_is_unique"]
