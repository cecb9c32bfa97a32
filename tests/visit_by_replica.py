"""Pages of a production site that has a copy of its database, whose progress this program stops: `python -m tests.visit_by_replica`."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import django
import psycopg

django.setup()

from django.db import OperationalError, connections  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402
from django.urls import reverse  # noqa: E402

from accounts.models import Role  # noqa: E402
from analysis.models import Release, RunKind  # noqa: E402
from analysis.selectors import latest_results  # noqa: E402
from config.replica import freshness  # noqa: E402
from surveys.journey.services import withdraw  # noqa: E402
from surveys.models import Study  # noqa: E402
from tests.factories import code_on, logged_in, person, recruiting_study, walk  # noqa: E402
from tests.finished_people import add_finished_people, compute, count_everybody  # noqa: E402

REPLICA = os.environ["CANDOR_REPLICA_URL"]
COMMITTED: list[str] = []


def control(function: str) -> None:
    with psycopg.connect(REPLICA, autocommit=True) as administrator:
        administrator.execute(f"SELECT {function}()".encode())


@contextmanager
def read_there() -> Iterator[list[str]]:
    """The statements that ask the copy for rows of a table."""
    asked: list[str] = []

    def note(execute: Callable[..., object], sql: str, *rest: object) -> object:
        if ' FROM "' in sql:
            asked.append(sql)
        return execute(sql, *rest)

    with connections["replica"].execute_wrapper(note):
        yield asked


def shown(client: Client, study: Study) -> int | None:
    """How many people are in the numbers of the results page."""
    response = client.get(reverse("analysis:results", args=[study.slug]), secure=True)
    assert response.status_code == 200
    found: int | None = response.context["run"]["n"]
    return found


def catch_up() -> None:
    freshness._rests_until = 0.0
    deadline = time.monotonic() + 20
    while not freshness.is_fresh():
        assert time.monotonic() < deadline, "the copy does not catch up"


def visit() -> None:
    study = recruiting_study(allocation={"planned_participants": 60})
    code = code_on(walk(Client(), study), "withdrawal")
    add_finished_people(study, 48)
    count_everybody(study)
    compute(study, RunKind.FIRST_RESULTS)
    owner = study.owner
    reader = logged_in(owner)

    catch_up()
    with read_there() as asked:
        assert shown(reader, study) == 49
        assert any("analysis_run" in sql for sql in asked)
        tables = ("accounts_", "session", "studymember", "invitation", "budget", "charge", "surveys_study", "ledger")
        assert not [sql for sql in asked for table in tables if f'FROM "{table}' in sql or f'FROM "surveys_{table}' in sql], asked
        asked.clear()
        assert Client().get(reverse("analysis:public_releases"), secure=True).status_code == 200
        assert any(Release._meta.db_table in sql for sql in asked)
        asked.clear()
        assert reader.get(reverse("surveys:studies"), secure=True).status_code == 200
        assert asked == [], "only pages of results and public data read there"

    control("pg_wal_replay_pause")
    assert withdraw(study, code=code) is not None
    with read_there() as asked:
        assert shown(reader, study) is None, "who has withdrawn is in no number"
        assert asked == []
    # The same without the comparison: the copy still has the numbers of before. Their page does not show them, because it asks the primary
    # server about the study, as it does about roles.
    freshness.reads_from_replica.set(True)
    stale = latest_results(study)
    freshness.reads_from_replica.set(False)
    assert stale is not None, "a check that cannot fail proves nothing"
    assert (stale.n, latest_results(study)) == (49, None)
    with patch("config.replica.middleware.is_fresh", lambda: True):
        assert shown(reader, study) is None
        owner.is_active = False
        owner.save()
        assert reader.get(reverse("analysis:results", args=[study.slug]), secure=True).status_code != 200
        owner.is_active = True
        owner.save()
        stranger = logged_in(person(Role.INVESTIGATOR))
        assert stranger.get(reverse("analysis:results", args=[study.slug]), secure=True).status_code == 404
    control("pg_wal_replay_resume")
    catch_up()
    with read_there() as asked:
        assert shown(reader, study) is None
        assert any("analysis_run" in sql for sql in asked)

    # A copy that fails in the middle of a page.
    def fail(*arguments: object) -> object:
        raise OperationalError("canceling statement due to conflict with recovery")

    failing = connections["replica"].execute_wrapper(fail)
    with patch("config.replica.middleware.is_fresh", lambda: True), failing:
        assert shown(reader, study) is None
    with read_there() as asked:
        assert shown(reader, study) is None
        assert asked == [], "it rests"
    print("read there, and never behind")


if __name__ == "__main__":
    setup_test_environment()
    visit()
