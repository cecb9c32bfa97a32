"""The tables whose old versions of rows are overwritten: PostgreSQL keeps a deleted row in its file until somebody asks it to forget."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analysis.models import Run, RunKind, RunStatus, Source
from analysis.services import request_refresh
from surveys.batches import order_of_arrival
from surveys.batches.order_of_arrival import forget_order_of_days, forget_recent_order, vacuum, vacuum_after_changes
from surveys.batches.services import count_next_batch
from surveys.journey import services as participation
from surveys.models import Study
from surveys.retention.services import forget_operational_data
from tests.factories import recruiting_study, token_of, walk
from tests.finished_people import add_finished_people
from tests.jobs import attempt, catch, claimed
from tests.ledgers import make_snapshot, study_with_budget
from tests.releases import built_release, withdraw_one

pytestmark = pytest.mark.django_db(transaction=True)
WITH_PEOPLE = {"analysis_run", "analysis_chunk", "analysis_snapshot", "analysis_asking", "analysis_release"}
"""Tables beside those of participants that hold what somebody answered, until they leave."""


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study whose people stand in a run under way, in a snapshot and in the rows of a release."""
    catch(monkeypatch)
    study = study_with_budget()
    make_snapshot(Source.objects.get(study=study))
    request_refresh(study.pk, kind=RunKind.FULL_RESULTS)
    attempt(claimed(Run.objects.get(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.QUEUED)))
    built_release(study, background="left_out")
    return study


@contextmanager
def changed_tables() -> Iterator[set[str]]:
    """The tables of which rows are written again or deleted."""
    found: set[str] = set()
    with CaptureQueriesContext(connection) as sent:
        yield found
    found |= {one[1] for query in sent.captured_queries if (one := re.match(r'(?:UPDATE|DELETE FROM) "(\w+)"', query["sql"]))}


def overwritten_tables() -> set[str]:
    with CaptureQueriesContext(connection) as sent:
        vacuum()
    return {name for query in sent.captured_queries if query["sql"].startswith("VACUUM") for name in re.findall(r'"(\w+)"', query["sql"])}


def test_old_versions_of_all_copies_of_somebody_who_withdraws_are_overwritten(postgresql: None, study: Study) -> None:
    """Attack: the receipt says that everything is gone, and the file of the table of runs still holds the answers."""
    with changed_tables() as changed:
        withdraw_one(study)
    assert changed >= WITH_PEOPLE
    assert overwritten_tables() >= WITH_PEOPLE


def test_old_versions_of_them_are_overwritten_once_operational_data_are_deleted(postgresql: None, study: Study) -> None:
    with changed_tables() as changed:
        forget_operational_data(study)
    assert {"analysis_run", "analysis_snapshot"} <= changed
    assert overwritten_tables() >= WITH_PEOPLE


def test_old_versions_of_rows_are_overwritten_after_each_batch_and_each_withdrawal(
    postgresql: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, client = recruiting_study(allocation={"planned_participants": 200}), Client()
    done: list[None] = []
    walk(client, study, until="quiz")
    add_finished_people(study, 199, counted=False)
    cache.clear()
    monkeypatch.setattr(order_of_arrival, "vacuum", lambda: done.append(None))
    vacuum_after_changes()
    count_next_batch(study)
    vacuum_after_changes()
    vacuum_after_changes()
    participation.withdraw(study, code=participation.withdrawal_code(token_of(client)))
    vacuum_after_changes()
    assert len(done) == 3, "at first, after the batch, after the withdrawal"
    forget_recent_order()
    assert len(done) == 4, "after the hour"
    forget_order_of_days()
    assert len(done) == 6, "before and after the night"
