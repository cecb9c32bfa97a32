"""A back-up that is restored gives out nothing again that was spent after it was made."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from accounts.models import Role
from analysis.ledger import answering, remembered, services
from analysis.ledger.accounts import account_of, spent
from analysis.ledger.errors import LedgerError
from analysis.ledger.page import ledger_of
from analysis.ledger.selectors import asked_before
from analysis.ledger.units import UNITS, Units
from analysis.models import Asking, Charge, Source
from audit.models import Entry
from surveys.lifecycle.selectors import hash_of_first_list
from surveys.models import Study
from tests.back_ups import files_of, lost_with_the_back_up
from tests.data_sets import approved
from tests.factories import logged_in, person
from tests.jobs import work_on
from tests.ledgers import Solved, analyst_of, asked_and_answered, budget_of, open_source, register, solved

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path)
    return tmp_path / remembered.FOLDER


def test_a_budget_that_was_spent_after_the_back_up_cannot_be_spent_again() -> None:
    source = open_source()
    most = budget_of(source).rho_units / UNITS
    with lost_with_the_back_up():
        assert asked_and_answered(source, rho=most).state == "answered"
    assert spent(budget_of(source)) == Units(), "this is what the back-up knows"
    for price in ({"rho": most}, {"rho": 1e-9}):
        with pytest.raises(LedgerError, match=r"The rest is ρ = 0"):
            services.ask(source, solved(**price), actor=source.study.owner)
    assert account_of(budget_of(source)).rho_left == 0


def test_a_restored_ledger_shows_what_was_asked_and_that_the_answer_is_lost() -> None:
    source = open_source()
    asked_and_answered(source, rho=0.001)
    with lost_with_the_back_up():
        asked_and_answered(source, rho=0.002)
        asked_and_answered(source, epsilon=0.01)
        before = account_of(budget_of(source))
    assert remembered.charge_again(source) == 2
    assert account_of(budget_of(source)) == before
    first, second, third = ledger_of(source).lines
    assert [line.asked.state for line in (first, second, third)] == ["answered", "drawn", "drawn"]
    assert (second.asked.price.rho, third.cost) == (2 * UNITS // 1000, "ε = 0.01")
    owner = source.study.owner.get_username()
    assert second.asked.reason == (
        f"{owner} asked this as no. 2 after the back-up was made that this database comes from. The answer is not in it."
    )
    [entry] = Entry.objects.filter(action="ledger.charged_again")
    assert (entry.actor_id, entry.details, entry.subject_id) == (None, {"charges": 2}, str(source.study_id))


def test_twice_does_no_harm_and_the_ledger_goes_on() -> None:
    source = open_source()
    with lost_with_the_back_up():
        asked_and_answered(source, rho=0.001)
    assert [remembered.charge_again(source) for _ in range(3)] == [1, 0, 0]
    again = asked_and_answered(source, rho=0.001)
    assert (again.charge.number, again.state) == (2, "answered"), "the first answer is lost; another one has its price"
    assert spent(budget_of(source)).rho == 2 * UNITS // 1000
    with lost_with_the_back_up():
        asked_and_answered(source, rho=0.004)
    assert remembered.charge_again(source) == 1
    assert spent(budget_of(source)).rho == 6 * UNITS // 1000


def test_noise_is_not_drawn_again_for_a_charge_that_the_back_up_knows_as_reserved(monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    with lost_with_the_back_up():
        work_on(asked.charge.asking)
    monkeypatch.setattr(Solved, "release", never)
    work_on(Asking.objects.get())
    [drawn] = asked_before(budget_of(source))
    assert (drawn.state, drawn.answer, "The charge is spent" in drawn.reason) == ("drawn", None, True)
    assert spent(budget_of(source)).rho == UNITS // 1000


def test_a_charge_that_was_cancelled_before_anybody_looked_at_the_files_is_spent_all_the_same() -> None:
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    with lost_with_the_back_up():
        work_on(asked.charge.asking)
    Asking.end(Asking.objects.all(), **Asking.FAILED, error="An administrator cancelled it.")
    assert spent(budget_of(source)) == Units(), "it counts as returned"
    assert [remembered.charge_again(source) for _ in range(3)] == [1, 0, 0]
    returned, drawn = asked_before(budget_of(source))
    assert (returned.state, drawn.state, drawn.charge.number) == ("returned", "drawn", 2)
    assert drawn.reason.startswith("No. 1 was returned here, but it had been answered after the back-up was made")
    assert spent(budget_of(source)).rho == UNITS // 1000


def never(*arguments: object) -> None:
    raise AssertionError("noise was drawn twice for one charge")


def test_a_worker_that_is_killed_between_the_file_and_the_commit_spends_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other order could give noise that nothing remembers."""
    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    remembered.remember(asked.charge)
    monkeypatch.setattr(Solved, "release", never)
    work_on(asked.charge.asking)
    [drawn] = asked_before(budget_of(source))
    assert (drawn.charge.pk, drawn.state) == (asked.charge.pk, "drawn")
    assert spent(budget_of(source)).rho == UNITS // 1000


def test_no_noise_is_drawn_where_the_disk_is_full(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    source = open_source()
    asked = services.ask(source, solved(rho=0.001), actor=source.study.owner)
    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(Solved, "release", never)
    work_on(asked.charge.asking)
    [returned] = asked_before(budget_of(source))
    assert (returned.state, "(No space left on device)" in returned.reason) == ("returned", True)
    assert (spent(budget_of(source)), files_of(folder)) == (Units(), [])
    monkeypatch.undo()
    assert asked_and_answered(source, rho=0.001).state == "answered"


def test_somebody_who_has_no_account_yet_is_named() -> None:
    source, newcomer = open_source(), "a-newcomer"
    with lost_with_the_back_up():
        analyst = analyst_of(source, person(Role.ANALYST))
        type(analyst).objects.filter(pk=analyst.pk).update(username=newcomer)
        analyst.refresh_from_db()
        asked = services.ask(source, solved(rho=0.001), actor=analyst)
        work_on(asked.charge.asking)
    assert remembered.charge_again(source) == 1
    [again] = asked_before(budget_of(source))
    assert (again.charge.asked_by, newcomer in again.reason) == (source.study.owner, True)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b'{"number": "many"}'])
def test_nothing_is_spent_while_a_file_cannot_be_read(folder: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    source = open_source()
    asked_and_answered(source, rho=0.001)
    broken = folder / f"study-{hash_of_first_list(source.study)}" / ("a" * 32)
    broken.write_bytes(content)
    with pytest.raises(LedgerError, match=r"Expected a remembered charge or budget in .*found something else"):
        services.ask(source, solved(rho=0.002), actor=source.study.owner)
    with pytest.raises(CommandError, match="Not everything was done again"):
        call_command("replay")
    answering.keep_ledgers_whole()
    assert "Expected a remembered charge" in caplog.text
    assert Charge.objects.count() == 1
    broken.unlink()
    assert services.ask(source, solved(rho=0.002), actor=source.study.owner).charge.number == 2


def test_a_new_study_with_the_address_of_a_lost_one_is_charged_nothing(folder: Path) -> None:
    def called_spring() -> Source:
        source = open_source()
        Study.objects.filter(pk=source.study_id).update(slug="spring")
        return Source.objects.get(pk=source.pk)

    with lost_with_the_back_up():
        lost = called_spring()
        asked_and_answered(lost, rho=0.001)
        services.freeze(lost, reason="Two of them are one.", actor=person(Role.IRB_OFFICER))
    source = called_spring()
    assert remembered.make_whole(source) == remembered.Again(0, 0)
    assert (asked_and_answered(source, rho=0.002).charge.number, len(list(folder.iterdir()))) == (1, 2)


def test_other_files_and_other_folders_are_nobodys(folder: Path) -> None:
    source = open_source()
    asked_and_answered(source, rho=0.001)
    for name in ("Thumbs.db", "." + "a" * 16, "A" * 32):
        (folder / f"study-{hash_of_first_list(source.study)}" / name).write_bytes(b"?")
    (folder / "study-of-another-time").mkdir()
    assert remembered.charge_again(source) == 0


def test_a_file_goes_when_every_back_up_knows_its_charge_and_never_before(settings: Any, folder: Path) -> None:
    source = open_source()
    asked_and_answered(source, rho=0.001)
    with lost_with_the_back_up():
        asked_and_answered(source, rho=0.002)
    long_ago = files_of(folder)[0].stat().st_mtime - (settings.BACKUP_DAYS + 2) * 24 * 3600
    for file in files_of(folder):
        os.utime(file, (long_ago, long_ago))
    remembered.forget_known(source)
    [unknown] = files_of(folder)
    answering.keep_ledgers_whole()
    assert Charge.objects.filter(memory=unknown.name).exists()
    assert files_of(folder) == [], "it was charged again first"
    assert spent(budget_of(source)).rho == 3 * UNITS // 1000


def test_a_study_that_the_back_up_knows_as_running_is_charged_once_it_has_a_table() -> None:
    from tests.ledgers import make_snapshot, study_with_budget

    source = Source.objects.get(study=study_with_budget())
    with lost_with_the_back_up():
        make_snapshot(source)
        asked_and_answered(source, rho=0.001)
    assert remembered.charge_again(source) == 0, "nobody can ask yet"
    make_snapshot(source)
    services.ask(source, solved(rho=0.002), actor=source.study.owner)
    assert [(one.charge.number, one.price.rho) for one in asked_before(budget_of(source))] == [
        (1, UNITS // 1000),
        (2, 2 * UNITS // 1000),
    ]


def test_the_ledger_of_a_data_set_is_charged_again_and_its_page_tells_why() -> None:
    register()
    source = approved()
    with lost_with_the_back_up():
        asked_and_answered(source, item="quiz.q1", rho=0.001)
    assert remembered.charge_again(source) == 1
    owner = source.whole.owner
    page = logged_in(owner).get(reverse("analysis:data_set_ledger", args=[source.whole.slug])).content.decode()
    assert f"{owner.get_username()} asked this as no. 1 after the back-up was made" in page
    assert "Nothing was asked yet." not in page


def test_a_data_set_that_is_lost_leaves_its_budget_to_no_other() -> None:
    register()
    with lost_with_the_back_up():
        asked_and_answered(approved(), item="quiz.q1", rho=0.001)
    another = approved()
    assert another.whole.slug.endswith("-2")
    assert (remembered.charge_again(another), spent(budget_of(another))) == (0, Units())
