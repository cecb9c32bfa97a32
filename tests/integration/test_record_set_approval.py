"""An officer approves a package of many students: what takes long holds nobody, and what is approved is what was checked."""

from typing import Any

import pytest

from accounts.models import Role
from analysis.data_sets.errors import DataSetError
from analysis.models import DataSet, RecordPackage
from analysis.record_sets import services
from audit.models import Entry
from tests.factories import logged_in, person
from tests.record_sets import page, record_set, requested, step, words

pytestmark = pytest.mark.django_db


def approved_while(monkeypatch: pytest.MonkeyPatch, happens: Any) -> None:
    """Approve a package; `happens` is called in the place of the checker."""
    made = record_set()
    package = requested(made)
    made.refresh_from_db()
    monkeypatch.setattr(services, "faults_in", lambda files: happens())
    officer = person(Role.IRB_OFFICER)
    services.publish(made, sha256=package.package_sha256, delete_on=str(made.delete_on), actor=officer)


def test_nothing_is_written_before_the_checker_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker takes seconds, and a transaction with an entry of the log holds its end: everybody else's next entry waits for it."""
    seen: list[tuple[str, str]] = []

    def look() -> list[str]:
        last = Entry.objects.latest("pk")
        seen.append((DataSet.objects.get().status, last.action))
        return []

    approved_while(monkeypatch, look)
    assert seen == [("waiting", "data_set.submitted")]
    assert DataSet.objects.get().status == "approved"


def test_a_package_that_was_built_again_while_it_was_checked_is_not_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    def build_again() -> list[str]:
        RecordPackage.objects.update(package_sha256="0" * 64)
        return []

    with pytest.raises(DataSetError, match="built again meanwhile"):
        approved_while(monkeypatch, build_again)
    assert DataSet.objects.get().status == "waiting"


def test_a_search_that_goes_on_while_an_officer_is_asked_can_be_stopped() -> None:
    made = record_set()
    owner = logged_in(made.owner)
    step(owner, made, "start")
    requested(made)
    waiting = owner.get(page(made))
    assert "3. What is possible" in words(waiting)
    assert 'value="stop"' in waiting.content.decode()
    assert 'value="start"' not in waiting.content.decode()
    assert 'value="stop"' not in logged_in(person(Role.IRB_OFFICER)).get(page(made)).content.decode()
    step(owner, made, "stop")
    assert "What is possible" not in words(owner.get(page(made)))
