"""`manage.py replay`: one command after a restore does again all that files beside the database tell."""

from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Role
from analysis.ledger import services as ledger
from analysis.publications.remembered import keep_publications
from jobs import tasks
from jobs.models import Routine
from surveys.batches.order_of_arrival import those_who_hide
from surveys.batches.remembered_withdrawals import remember_withdrawal
from surveys.batches.rules import LEAST
from surveys.batches.selectors import batch_progress
from surveys.batches.services import ENDS_KEPT, count_next_batch
from surveys.journey.services import withdraw
from surveys.lifecycle.selectors import hash_of_first_list
from surveys.models import Participant, Study
from surveys.retention.services import forget_operational_data
from surveys.tokens import hash_of_withdrawal_code
from tests.back_ups import lost_with_the_back_up
from tests.factories import person, recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import catch, keys, work_on
from tests.ledgers import asked_and_answered, budget_of, open_source
from tests.releases import CODE, closed_study, published_release

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path / "media")
    return tmp_path / "media"


def much_since_the_back_up() -> Study:
    """A study that was asked about, frozen, released and deleted after the back-up; somebody had withdrawn before the release."""
    source = open_source()
    one = Participant.objects.filter(study=source.study, counted=True).first()
    assert one is not None
    Participant.objects.filter(pk=one.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    with lost_with_the_back_up():
        remember_withdrawal(withdrawal_hash=hash_of_withdrawal_code(CODE), panel_number="")
        asked_and_answered(source, rho=0.001)
        ledger.freeze(source, reason="People asked.", actor=person(Role.IRB_OFFICER))
        published_release(source.study, background="left_out")
        keep_publications()
        forget_operational_data(source.study)
    assert source.study is not None
    return source.study


NONE_RUNS = "0 running studies show no other numbers until enough new people have come."
ALL_OF_IT = [
    "0 studies were closed again, with 0 withdrawals.",
    "1 withdrawals are remembered, 1 were done again.",
    "The data of 1 studies were marked as public again.",
    "The operational data of 1 studies and the rows of 0 data sets were deleted again.",
    "1 charges were made again, 1 budgets were frozen or lowered again.",
    NONE_RUNS,
]
NOTHING = [
    "0 studies were closed again, with 0 withdrawals.",
    "1 withdrawals are remembered, 0 were done again.",
    "The data of 0 studies were marked as public again.",
    "The operational data of 0 studies and the rows of 0 data sets were deleted again.",
    "0 charges were made again, 0 budgets were frozen or lowered again.",
    NONE_RUNS,
]


def test_one_command_does_all_again_in_the_order_in_which_nothing_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    study = much_since_the_back_up()
    call_command("replay")
    assert capsys.readouterr().out.splitlines() == ALL_OF_IT
    call_command("replay")
    assert capsys.readouterr().out.splitlines() == NOTHING
    assert not Participant.objects.filter(withdrawal_hash=hash_of_withdrawal_code(CODE)).exists()
    assert Study.objects.get(pk=study.pk).data_published
    assert budget_of(study.source).frozen_because == "People asked."


def test_the_command_takes_what_another_host_remembers(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    much_since_the_back_up()
    elsewhere = folder.rename(tmp_path / "from-another-host")
    with pytest.raises(CommandError, match=r"expected a folder with \.ended, \.withdrawals, \.published, \.forgotten, \.charges"):
        call_command("replay", "--folder", str(tmp_path / "nowhere"))
    call_command("replay", "--folder", str(elsewhere))
    assert capsys.readouterr().out.splitlines() == ALL_OF_IT


def test_a_file_that_cannot_be_read_holds_nothing_else_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = much_since_the_back_up()
    (folder / ".charges" / f"study-{hash_of_first_list(study)}" / ("a" * 32)).write_text("?")
    with pytest.raises(CommandError, match="Not everything was done again"):
        call_command("replay")
    written = capsys.readouterr()
    assert written.out.splitlines() == [*ALL_OF_IT[:4], NONE_RUNS]
    assert ".charges: Expected a remembered charge or budget in" in written.err
    assert Study.objects.get(pk=study.pk).data_published


@pytest.mark.parametrize("far_is_first", [True, False])
def test_withdrawals_are_hidden_among_the_same_people_as_before_the_crash(far_is_first: bool) -> None:
    """The attack: rows of before and after. With others held back beside them, only those who left would be missing in both."""
    study = closed_study(people=160)
    group = Participant.objects.filter(study=study, counted=True, subsample="1", arm="slides")
    with lost_with_the_back_up():
        near, *others = those_who_hide(study, group, 20)
    # The one is among those who hide the other, and is withdrawn again before or after them.
    far = min(others[9:]) if far_is_first else max(others[9:])
    leavers = {"AAAA-AAAA-AAAA-AAAA": far, CODE: near}
    for code, key in leavers.items():
        Participant.objects.filter(pk=key).update(withdrawal_hash=hash_of_withdrawal_code(code))
    for order in (list(leavers), list(reversed(leavers))):
        looks = [set(group.values_list("pk", flat=True))]
        with lost_with_the_back_up():
            for code in order:
                assert withdraw(study, code=code)
                looks.append(set(group.values_list("pk", flat=True)))
        with lost_with_the_back_up():
            call_command("replay")
            looks.append(set(group.values_list("pk", flat=True)))
        assert {len(one ^ other) for one, other in combinations(looks, 2)} <= {0, LEAST, 2 * LEAST}


def missing(study: Study) -> int:
    return batch_progress(study).until_next or 0


def test_people_who_waited_in_the_back_up_are_not_shown_again_with_one_newcomer(capsys: pytest.CaptureFixture[str]) -> None:
    study = recruiting_study(allocation={"planned_participants": 600, "block_multiples": [1]}, die=TELLING_DIE)
    add_finished_people(study, missing(study) - 1, seed=1, counted=False)
    with lost_with_the_back_up():
        add_finished_people(study, 1, seed=2, counted=False)
        assert count_next_batch(study), "with the last one, whom the back-up has not, numbers were shown"
    call_command("replay")
    assert "1 running studies show no other numbers until enough new people have come." in capsys.readouterr().out
    assert missing(study) >= LEAST
    add_finished_people(study, missing(study) - 1, seed=3, counted=False)
    assert not count_next_batch(study)
    add_finished_people(study, 1, seed=4, counted=False)
    assert count_next_batch(study)


def test_a_worker_that_starts_makes_up_for_a_replay_that_nobody_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    study = recruiting_study(allocation={"planned_participants": 600, "block_multiples": [1]}, die=TELLING_DIE)
    add_finished_people(study, missing(study), seed=1, counted=False)
    assert count_next_batch(study)
    one = Participant.objects.filter(study=study).first()
    assert one is not None
    Participant.objects.filter(pk=one.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    add_finished_people(study, missing(study) - 1, seed=2, counted=False)
    work = Routine.objects.create(name=ENDS_KEPT, due_at=timezone.now() + timedelta(hours=1))
    sent = catch(monkeypatch)
    with lost_with_the_back_up():
        assert withdraw(study, code=CODE)
    tasks.sweep(at_start=True)
    assert keys(sent, ENDS_KEPT) == [ENDS_KEPT]
    work_on(work)
    assert not Participant.objects.filter(pk=one.pk).exists()
    assert missing(study) >= LEAST, "those who wait may have been shown with others whom the back-up has lost"


def test_an_hour_without_a_restore_puts_no_batch_off() -> None:
    study = recruiting_study(allocation={"planned_participants": 600, "block_multiples": [1]}, die=TELLING_DIE)
    add_finished_people(study, missing(study) - 1, seed=1, counted=False)
    remember_withdrawal(withdrawal_hash=hash_of_withdrawal_code(CODE), panel_number="")
    work_on(Routine.objects.create(name=ENDS_KEPT, due_at=timezone.now()))
    assert missing(study) == 1
