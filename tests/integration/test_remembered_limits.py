"""A back-up that is restored unfreezes no budget, and makes none larger."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Role
from analysis.ledger import answering, remembered, services
from analysis.ledger.accounts import account_of
from analysis.ledger.errors import LedgerError
from analysis.models import Budget, Source
from audit.models import Entry
from tests.back_ups import files_of, lost_with_the_back_up
from tests.factories import person
from tests.ledgers import budget_of, open_source, solved

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path)
    return tmp_path / remembered.FOLDER


def freeze(source: Source) -> None:
    services.freeze(source, reason="Two of them are one.", actor=person(Role.IRB_OFFICER))


def ask(source: Source) -> Any:
    return services.ask(source, solved(rho=0.001), actor=source.study.owner)


def test_a_budget_that_was_frozen_after_the_back_up_cannot_be_spent() -> None:
    source = open_source()
    with lost_with_the_back_up():
        freeze(source)
    assert budget_of(source).frozen_on is None, "this is what the back-up knows"
    with pytest.raises(LedgerError, match="froze this budget: Two of them are one"):
        ask(source)
    budget = budget_of(source)
    assert (budget.frozen_on is not None, budget.frozen_because) == (True, "Two of them are one.")
    [entry] = Entry.objects.filter(action="ledger.limited_again")
    assert (entry.actor_id, entry.details["frozen"], entry.subject_id) == (None, True, str(source.study_id))


def test_an_officer_can_unfreeze_it_and_it_stays_so() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    with lost_with_the_back_up():
        freeze(source)
    with pytest.raises(LedgerError, match="frozen already"):
        freeze(source)
    services.unfreeze(source, actor=officer)
    answering.keep_ledgers_whole()
    assert ask(source).state == "reserved"


def test_what_was_unfrozen_after_the_back_up_waits_for_an_officer() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    freeze(source)
    with lost_with_the_back_up():
        services.unfreeze(source, actor=officer)
    assert remembered.limit_again(source) is False
    assert budget_of(source).frozen_on is not None
    services.unfreeze(source, actor=officer)
    assert ask(source).state == "reserved"


def test_only_the_last_change_counts() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    with lost_with_the_back_up():
        freeze(source)
        services.unfreeze(source, actor=officer)
    assert remembered.limit_again(source) is False
    assert ask(source).state == "reserved"


def test_a_budget_that_was_lowered_after_the_back_up_is_as_small_again() -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    with lost_with_the_back_up():
        services.lower(source, epsilon=0.5, delta=1e-7, actor=officer)
        smaller = account_of(budget_of(source))
    assert [remembered.limit_again(source) for _ in range(3)] == [True, False, False]
    assert account_of(budget_of(source)) == smaller
    with pytest.raises(LedgerError, match=r"Expected a budget of at most ε = 0\.5"):
        services.lower(source, epsilon=0.6, delta=1e-7, actor=officer)


def test_what_the_ledger_knows_is_not_done_again_and_an_older_folder_over_a_newer_one_loses_nothing(folder: Path) -> None:
    source, officer = open_source(), person(Role.IRB_OFFICER)
    freeze(source)
    [older] = files_of(folder)
    before = older.read_bytes()
    with lost_with_the_back_up():
        services.lower(source, epsilon=0.5, delta=1e-7, actor=officer)
        services.unfreeze(source, actor=officer)
    older.write_bytes(before)  # the folder of the back-up's day is copied over that of now
    assert remembered.limit_again(source) is True
    assert (budget_of(source).epsilon, budget_of(source).changes) == (0.5, 3)


def test_nothing_is_frozen_that_cannot_be_remembered(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    source = open_source()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LedgerError, match=r"could not be remembered beside the database \(No space left on device\)"):
        freeze(source)
    assert (budget_of(source).frozen_on, files_of(folder)) == (None, [])


def test_nothing_is_spent_while_a_file_cannot_be_read(folder: Path) -> None:
    source = open_source()
    with lost_with_the_back_up():
        freeze(source)
    [file] = files_of(folder)
    file.write_text("{}")
    with pytest.raises(LedgerError, match="Expected a remembered charge or budget in"):
        ask(source)


def test_a_file_goes_when_every_back_up_knows_its_change_and_never_before(settings: Any, folder: Path) -> None:
    source = open_source()
    with lost_with_the_back_up():
        freeze(source)
    [file] = files_of(folder)
    long_ago = file.stat().st_mtime - (settings.BACKUP_DAYS + 2) * 24 * 3600
    os.utime(file, (long_ago, long_ago))
    remembered.forget_known(source)
    assert files_of(folder) == [file]
    answering.keep_ledgers_whole()
    assert files_of(folder) == [], "it was frozen again first"
    assert Budget.objects.get().frozen_on is not None
