"""What a journey may cost, counted and never timed: the statements of each request."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import address_of, answer, recruiting_study

pytestmark = pytest.mark.django_db

# Of the page, and of the form that is sent from it. The begin and the end of a transaction count, too, and what follows its commit.
STATEMENTS = {
    "welcome": (1, 2),
    "consent": (1, 5),
    "background": (1, 8),
    "video": (1, 2),
    "quiz": (1, 2),
    "die": (1, 5),
    "questions": (1, 6),
}


def test_each_request_of_a_journey_keeps_to_its_statements(client: Client, django_capture_on_commit_callbacks: Any) -> None:
    def statements(act: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as asked, django_capture_on_commit_callbacks(execute=True):
            act()
        return len(asked)

    study, found = recruiting_study(), {}
    for step in STATEMENTS:
        page = statements(lambda: client.get(address_of(study)))
        found[step] = page, statements(lambda: answer(client, study, step))  # noqa: B023
    assert found == STATEMENTS
    assert statements(lambda: client.get(address_of(study))) == 1
