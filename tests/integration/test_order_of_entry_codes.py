"""The table of entry codes does not have the order of the course list."""

import re
from typing import Any

import pytest
from django.db import connection

from surveys.models import EntryCode
from surveys.recruitment.services import add_entry_codes
from tests.factories import recruiting_study


@pytest.mark.django_db
def test_their_order_in_the_table_is_not_that_of_the_course_list() -> None:
    """They are written in the order of their hashes. Where the table has room between older rows, the database may keep them elsewhere."""
    study, written = recruiting_study(entry={"kind": "codes"}), list[str]()

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(f'INSERT INTO "{EntryCode._meta.db_table}"'):
            written.append(repr(params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        add_entry_codes(study, codes=[f"code-{number:04}" for number in range(50)], actor=study.owner)
    hashes = sorted(EntryCode.objects.values_list("code_hash", flat=True))
    assert re.findall("[0-9a-f]{64}", "".join(written)) == hashes
    assert len(hashes) == 50
