"""A study that was closed after the back-up: `manage.py replay` closes it again, and the second end tells nobody beside the first one."""

import json
from collections.abc import Callable
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.utils import timezone

from audit.selectors import entries_about
from jobs.models import Routine
from surveys import actions
from surveys.batches import services as batches
from surveys.batches.order_of_arrival import those_who_hide
from surveys.batches.recount import wrong_counts
from surveys.batches.rules import LEAST
from surveys.batches.services import ENDS_KEPT
from surveys.counts import exact_counts
from surveys.journey.services import withdraw
from surveys.models import Participant, Study, StudyStatus
from surveys.questions.sections import SECTION
from surveys.restores.remembered import keep_ends
from surveys.retention.services import forget_operational_data
from surveys.studies import services as studies
from surveys.tokens import hash_of_withdrawal_code
from tests.back_ups import lost_with_the_back_up
from tests.factories import recruiting_study
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import catch, work_on

pytestmark = pytest.mark.django_db
IN_EIGHT = {"planned_participants": 480, "unit": "cluster", "sections": 8, "block_multiples": [1]}
CODES = ("AAAA-AAAA-AAAA-AAAA", "BBBB-BBBB-BBBB-BBBB", "CCCC-CCCC-CCCC-CCCC")
Shown = dict[tuple[str, str], set[UUID]]


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = str(tmp_path / "media")
    return tmp_path / "media" / ".ended"


@pytest.fixture
def study() -> Study:
    study = recruiting_study(allocation={"planned_participants": 600, "block_multiples": [1]}, die=TELLING_DIE)
    add_finished_people(study, 160)
    add_finished_people(study, 48, seed=5, counted=False)  # the end shows them, since enough of each group wait
    give_codes(dict(zip(CODES, alike(study).values_list("pk", flat=True), strict=False)))
    return study


def alike(study: Study) -> "QuerySet[Participant]":
    """The people of one group who were shown before the end."""
    return Participant.objects.filter(study=study, subsample="1", arm="slides", counted=True).order_by("pk")


def give_codes(people: dict[str, UUID]) -> None:
    """Nobody else has one."""
    for person in Participant.objects.filter(withdrawal_hash__in=map(hash_of_withdrawal_code, CODES)):
        Participant.objects.filter(pk=person.pk).update(withdrawal_hash=hash_of_withdrawal_code(str(person.pk)))
    for code, key in people.items():
        Participant.objects.filter(pk=key).update(withdrawal_hash=hash_of_withdrawal_code(code))


def shown(study: Study) -> Shown:
    """The people in the shown numbers, by subsample and arm."""
    found: Shown = {}
    for key, subsample, arm in Participant.objects.filter(study=study, counted=True).values_list("pk", "subsample", "arm"):
        found.setdefault((subsample, arm), set()).add(key)
    return found


def close(study: Study) -> Shown:
    studies.close(study, actor=study.owner)
    keep_ends()
    return shown(study)


def sizes(look: Shown) -> dict[tuple[str, str], int]:
    return {group: len(people) for group, people in look.items()}


def differences(looks: list[Shown]) -> set[int]:
    """How many people make the difference between any two looks at a group."""
    groups = set().union(*looks)
    return {len(one.get(group, set()) ^ other.get(group, set())) for one, other in combinations(looks, 2) for group in groups}


def tell_nobody(looks: list[Shown], *, newcomers: int = 0) -> bool:
    """`newcomers` may be among those who are held back, and are no difference to the people of before."""
    return all(people == 0 or people >= LEAST - newcomers for people in differences(looks))


def looks_at_the_first_end(study: Study, *leavers: str) -> list[Shown]:
    looks = [close(study)]
    for code in leavers:
        assert withdraw(study, code=code)
        looks.append(shown(study))
    return looks


def test_it_shows_the_very_people_of_before_where_the_back_up_lost_nobody(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    """As long as nobody who left had hidden another one of them, in whatever order they are withdrawn again."""
    with lost_with_the_back_up():
        *_others, first, second = those_who_hide(study, alike(study), 40)
    give_codes({CODES[0]: first, CODES[1]: second})
    with lost_with_the_back_up():
        looks = looks_at_the_first_end(study, *CODES[:2])
    call_command("replay")
    assert "1 studies were closed again, with 2 withdrawals." in capsys.readouterr().out
    assert shown(study) == looks[-1]
    assert tell_nobody(looks)
    call_command("replay")
    assert "0 studies were closed again, with 0 withdrawals." in capsys.readouterr().out
    assert shown(study) == looks[-1]


@pytest.mark.parametrize("leavers", [0, 1, 2])
@pytest.mark.parametrize("lost", [1, 3])
def test_people_whom_the_back_up_lost_are_no_difference(study: Study, leavers: int, lost: int) -> None:
    there = {one.pk: (one.subsample, one.arm) for one in Participant.objects.filter(study=study)}
    with lost_with_the_back_up():
        add_finished_people(study, lost, seed=2, counted=False)
        groups = {(one.subsample, one.arm) for one in Participant.objects.filter(study=study).exclude(pk__in=there)}
        looks = looks_at_the_first_end(study, *CODES[:leavers])
    call_command("replay")
    looks.append(shown(study))
    assert tell_nobody(looks)
    assert wrong_counts(study) == {}
    for group in groups:
        left = leavers if group == ("1", "slides") else 0
        assert len([one for one in there.values() if one == group]) - len(looks[-1][group]) == LEAST * (left + 1)


def test_nor_are_they_where_somebody_who_left_was_hidden_by_another_one(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the crash each of two hid itself among nine. Done again in another order, the first one hides the second."""
    with lost_with_the_back_up():
        second, *_others, first = those_who_hide(study, alike(study), 40)
    give_codes({CODES[0]: first, CODES[1]: second})
    for leavers in (CODES[:2], CODES[1::-1]):
        with lost_with_the_back_up():
            add_finished_people(study, 1, seed=2, counted=False)
            looks = looks_at_the_first_end(study, *leavers)
        with lost_with_the_back_up():
            call_command("replay")
            assert tell_nobody([*looks, shown(study)])


def test_nor_is_somebody_who_came_since_the_restore(study: Study) -> None:
    with lost_with_the_back_up():
        looks = looks_at_the_first_end(study, CODES[0])
    add_finished_people(study, 1, seed=3, counted=False)
    call_command("replay")
    assert tell_nobody([*looks, shown(study)], newcomers=1)


def test_nor_is_somebody_in_the_place_of_another(study: Study) -> None:
    """As many people in each group as at the first end, and others."""
    with lost_with_the_back_up():
        add_finished_people(study, 1, seed=2, counted=False)
        looks = [close(study)]
    add_finished_people(study, 1, seed=3, counted=False)
    with lost_with_the_back_up():
        second = close(study)
        assert (sizes(second), differences([*looks, second])) == (sizes(looks[0]), {0, 2}), "which is what would tell"
    call_command("replay")
    assert tell_nobody([*looks, shown(study)], newcomers=1)


def test_nor_is_somebody_who_left_before_the_end(study: Study) -> None:
    with lost_with_the_back_up():
        assert withdraw(study, code=CODES[0])
        looks = [close(study)]
        assert withdraw(study, code=CODES[1])
        looks.append(shown(study))
    call_command("replay")
    assert tell_nobody([*looks, shown(study)])


def test_nor_are_the_few_whom_the_first_end_left_out(study: Study) -> None:
    """A withdrawal from a group of which fewer than `LEAST` wait leaves these out; the back-up from before it shows them."""
    Participant.objects.filter(study=study, counted=False).delete()
    few = list(alike(study).values_list("pk", flat=True))[-9:]
    Participant.objects.filter(pk__in=few).update(counted=False)
    with lost_with_the_back_up():
        looks = [close(study)]
    Participant.objects.filter(pk__in=few).update(counted=True)
    everybody = Participant.objects.filter(study=study, subsample="1", arm="slides").count()
    call_command("replay")
    assert tell_nobody([*looks, shown(study)])
    assert everybody - alike(study).count() == LEAST + 9


def test_nor_is_anybody_who_withdraws_afterwards(study: Study) -> None:
    with lost_with_the_back_up():
        add_finished_people(study, 2, seed=2, counted=False)
        looks = looks_at_the_first_end(study, CODES[0])
    call_command("replay")
    looks.append(shown(study))
    for code in CODES[1:]:
        assert withdraw(Study.objects.get(pk=study.pk), code=code)
        looks.append(shown(study))
    assert tell_nobody(looks)


@pytest.mark.parametrize("leavers", [0, 1])
def test_nor_is_anybody_of_whom_one_back_up_knows_and_another_does_not(study: Study, folder: Path, leavers: int) -> None:
    """Two restores one after the other: each end differs from all before."""
    with lost_with_the_back_up():
        add_finished_people(study, 40, seed=2, counted=False)
        looks = [close(study)]
    with lost_with_the_back_up():
        call_command("replay")
        looks.append(shown(study))
        for code in CODES[:leavers]:
            assert withdraw(Study.objects.get(pk=study.pk), code=code)
            looks.append(shown(study))
    for newcomers in (1, 2):
        with lost_with_the_back_up():
            add_finished_people(study, newcomers, seed=3, counted=False)
            call_command("replay")
            looks.append(shown(study))
    assert tell_nobody(looks, newcomers=2)
    assert len(list(folder.iterdir())) == 4, "so that a copy of an older folder over this one loses none"


def test_people_of_one_section_are_hidden_in_it() -> None:
    study = recruiting_study(allocation=IN_EIGHT, die=TELLING_DIE)
    add_finished_people(study, 320)
    add_finished_people(study, 80, seed=5, counted=False)
    there = [one.pk for one in Participant.objects.filter(study=study)]
    with lost_with_the_back_up():
        add_finished_people(study, 1, seed=2, counted=False)
        lost = Participant.objects.filter(study=study, counted=False).exclude(pk__in=there).get()
        before = close(study)
    call_command("replay")
    gone = before[lost.subsample, lost.arm] - shown(study)[lost.subsample, lost.arm] - {lost.pk}
    others = Participant.objects.filter(pk__in=gone)
    assert len(gone) >= LEAST
    assert {one.background[SECTION] for one in others} == {lost.background[SECTION]}


def test_a_worker_is_not_left_to_count_many_people(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the withdrawals are hidden nothing is shown."""
    monkeypatch.setattr(batches, "FEW", 0)
    add_finished_people(study, 100, seed=4, counted=False)
    with lost_with_the_back_up():
        batches.count_everyone(studies.close(study, actor=study.owner))
        keep_ends()
        assert withdraw(study, code=CODES[0])
        looks = [shown(study)]
    call_command("replay")
    assert not Study.objects.get(pk=study.pk).numbers_withheld
    assert [shown(study)] == looks


def test_the_study_ends_on_its_day_and_the_log_names_nobody(study: Study, folder: Path) -> None:
    with lost_with_the_back_up():
        close(study)
    (path,) = folder.iterdir()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"day": "2026-01-31"}))
    call_command("replay")
    closed = Study.objects.get(pk=study.pk)
    assert (closed.status, closed.closed_on) == (StudyStatus.CLOSED, date(2026, 1, 31))
    entry = entries_about(study).filter(action=actions.CLOSED).get()
    assert entry.actor_name == ""


def test_a_study_that_was_not_closed_goes_on(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    beside = recruiting_study(slug="beside")
    with lost_with_the_back_up():
        close(study)
    call_command("replay")
    assert "1 studies were closed again" in capsys.readouterr().out
    beside.refresh_from_db()
    assert (beside.status, beside.closed_on) == (StudyStatus.RECRUITING, None)


def test_the_folder_of_another_host_serves(study: Study, folder: Path, tmp_path: Path) -> None:
    with lost_with_the_back_up():
        looks = looks_at_the_first_end(study, CODES[0])
    elsewhere = folder.parent.rename(tmp_path / "another-host")
    call_command("replay", "--folder", str(elsewhere))
    assert [shown(study)] == looks[-1:]


@pytest.mark.parametrize("wrong", ["", "[]", '{"day": "2026-01-31"}', '{"day": "31", "groups": {}}', "\N{LATIN SMALL LETTER E WITH ACUTE}"])
def test_a_file_that_cannot_be_read_is_named(study: Study, folder: Path, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with lost_with_the_back_up():
        close(study)
    (path,) = folder.iterdir()
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(Exception, match="Not everything was done again"):
        call_command("replay")
    assert f"Expected how a study ended in {path.name}" in capsys.readouterr().err
    assert Study.objects.get(pk=study.pk).status == StudyStatus.RECRUITING


def test_nobody_leaves_before_a_file_is_put_right(study: Study, folder: Path) -> None:
    """Nobody hides people in the second end who were withdrawn while the study ran."""
    with lost_with_the_back_up():
        looks = looks_at_the_first_end(study, CODES[0])
    (path,) = folder.iterdir()
    written = path.read_text()
    path.write_text("")
    with pytest.raises(CommandError, match="Not everything was done again"):
        call_command("replay")
    path.write_text(written)
    call_command("replay")
    assert tell_nobody([*looks, shown(study)])


def test_a_worker_closes_it_again_where_nobody_ran_the_command(study: Study) -> None:
    with lost_with_the_back_up():
        looks = looks_at_the_first_end(study, CODES[0])
    work_on(Routine.objects.create(name=ENDS_KEPT, due_at=timezone.now()))
    assert Study.objects.get(pk=study.pk).status == StudyStatus.CLOSED
    assert shown(study) == looks[-1]


def test_a_worker_writes_it_down_at_once(study: Study, committed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    sent = catch(monkeypatch)
    with committed():
        studies.close(study, actor=study.owner)
    assert ENDS_KEPT in {one["key"] for one in sent}


def test_an_end_is_written_once_and_by_the_next_hour_where_the_disk_was_full(
    study: Study, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studies.close(study, actor=study.owner)
    assert not folder.exists()
    keep_ends()
    (path,) = folder.iterdir()
    written = path.read_bytes()
    assert withdraw(study, code=CODES[0])
    keep_ends()
    assert (path.read_bytes(), len(list(folder.iterdir()))) == (written, 1)


def test_an_end_is_remembered_once_its_numbers_are_shown_and_not_after_its_people_are_forgotten(
    study: Study, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, people are missing who will be shown; afterwards everybody is. Fingerprints of fewer people would be those of no end."""
    monkeypatch.setattr(batches, "FEW", 0)
    studies.close(study, actor=study.owner)
    keep_ends()
    assert not folder.exists()
    batches.count_everyone(study)
    keep_ends()
    (path,) = folder.iterdir()
    path.unlink()
    forget_operational_data(Study.objects.get(pk=study.pk))
    keep_ends()
    assert not list(folder.iterdir())


def test_the_file_tells_no_key_of_a_group_of_one(folder: Path) -> None:
    study = recruiting_study(allocation={"planned_participants": 600, "block_multiples": [1]})
    add_finished_people(study, 1, seed=2)
    close(study)
    (path,) = folder.iterdir()
    written = path.read_text()
    key = Participant.objects.get(study=study).pk
    assert str(key) not in written
    assert key.hex not in written
    assert exact_counts(study).finished == 1
