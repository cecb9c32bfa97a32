"""When somebody takes their data out, nothing that is stored or sent tells more than the day."""

from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.answers.datasets import assigned_counts
from analysis.models import Release, ReleaseStatus, Run, RunKind, RunStatus
from analysis.services import request_refresh
from audit.models import Entry
from surveys.actions import FORGETTING_BEGUN, FORGOTTEN
from surveys.batches import remembered_withdrawals as withdrawals
from surveys.batches.remembered_withdrawals import folder_of_withdrawals, remember_withdrawal, renew_withdrawals
from surveys.batches.rules import LEAST
from surveys.batches.services import people_change
from surveys.journey.services import withdraw
from surveys.models import Participant, Response, Step, Study
from surveys.protocols import protocol_in_force
from surveys.recruitment.selectors import panel_members
from surveys.retention.selectors import people_left_to_forget
from surveys.retention.services import begin_forgetting, forget_operational_data
from surveys.studies.services import close
from surveys.tokens import hash_of_withdrawal_code, withdrawal_code
from tests.factories import logged_in, recruiting_study, token_of, walk
from tests.finished_people import compute
from tests.integration.test_webhooks import hook_of
from tests.jobs import attempt, catch, claimed
from tests.releases import built_release, closed_study
from webhooks import outbox
from webhooks.models import Delivery, Event
from webhooks.services import emit

pytestmark = pytest.mark.django_db
CODE = "0123-4567-89AB-CDEF"


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    catch(monkeypatch)
    return closed_study()


def take_somebody_out(study: Study) -> None:
    one = Participant.objects.filter(study=study, step=Step.FINISHED, counted=True).first()
    assert one is not None
    Participant.objects.filter(pk=one.pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))
    assert withdraw(study, code=CODE)


def stop_before_the_end(study: Study) -> None:
    """Let some people have stopped at the questions; one of them, whom everybody knows, holds the code."""
    people = list(Participant.objects.filter(study=study, counted=True)[: 3 * LEAST])
    with transaction.atomic(), people_change(study.pk, [one.pk for one in people]):
        Participant.objects.filter(pk__in=[one.pk for one in people]).update(step=Step.QUESTIONS, finished_on=None)
        Response.objects.filter(participant__in=people).delete()
    Participant.objects.filter(pk=people[0].pk).update(withdrawal_hash=hash_of_withdrawal_code(CODE))


def balance_now(study: Study) -> dict[str, Any] | None:
    """The balance in full results, before their bootstrap."""
    request_refresh(study.pk, kind=RunKind.FULL_RESULTS)
    run = Run.objects.get(study=study, kind=RunKind.FULL_RESULTS, status=RunStatus.QUEUED)
    attempt(claimed(run))
    run.refresh_from_db()
    found: dict[str, Any] | None = run.results.get("balance")
    return found


def is_midnight(moment: datetime | None) -> bool:
    """To the second: work that waits again waits from a moment later."""
    midnight = datetime.combine(timezone.now().astimezone(UTC).date() + timedelta(days=1), time(), tzinfo=UTC)
    return moment is not None and abs(moment - midnight) < timedelta(seconds=1)


def test_a_release_that_ends_by_a_withdrawal_writes_no_entry_at_that_moment(study: Study) -> None:
    release, entries = built_release(study), Entry.objects.count()
    take_somebody_out(study)
    assert Release.objects.get(pk=release.pk).status == ReleaseStatus.OUTDATED
    assert Entry.objects.count() == entries


def test_programs_hear_of_results_without_somebody_at_midnight(study: Study) -> None:
    hook = hook_of(study, events=(Event.RESULTS_UPDATED,))
    emit(study.pk, Event.RESULTS_UPDATED)
    told = hook.deliveries.get()
    assert told.due_at is not None
    assert told.due_at - timezone.now() < timedelta(minutes=5), "the end itself is told soon"
    hook.deliveries.all().delete()
    take_somebody_out(study)
    compute(study, RunKind.FIRST_RESULTS)
    delivery = hook.deliveries.get(event=Event.RESULTS_UPDATED)
    assert is_midnight(delivery.due_at)


def test_news_while_a_message_is_on_its_way_waits_until_midnight_too(study: Study) -> None:
    hook = hook_of(study, events=(Event.RESULTS_UPDATED,))
    take_somebody_out(study)
    emit(study.pk, Event.RESULTS_UPDATED)
    Delivery.objects.update(due_at=timezone.now())
    delivery = claimed(hook.deliveries.get())
    Delivery.objects.filter(pk=delivery.pk).update(news=True)
    outbox._delivered(delivery, answered=204)
    assert is_midnight(hook.deliveries.get().due_at)


def test_the_deletion_does_not_count_who_left_after_the_end(study: Study) -> None:
    """Attack: the end shows how many people finished. The log told how many rows were left to delete, one for each who left fewer."""
    before = Participant.objects.filter(study=study, step=Step.FINISHED).count()
    take_somebody_out(study)
    begin_forgetting(study)
    study.refresh_from_db()
    assert people_left_to_forget(study) == before - LEAST
    Participant.objects.filter(study=study, counted=True).update(consented_on=None)
    assert people_left_to_forget(study) == LEAST, "the others are left, however many they are"
    forget_operational_data(study)
    assert people_left_to_forget(study) == 0
    told = {key: value for entry in Entry.objects.filter(action__in=(FORGETTING_BEGUN, FORGOTTEN)) for key, value in entry.details.items()}
    assert told["finished_participants"] == told["participants_left_with_reported_answers"] == before - LEAST


def test_the_log_of_the_deletion_does_not_count_panel_members_who_left(client: Client) -> None:
    """Attack: everybody came from one panel, so the numbers that were left to delete, beside those who agreed, counted who had left."""
    study = recruiting_study(entry={"kind": "prolific"})
    walk(client, study, answers={"welcome": {"PROLIFIC_PID": "5f1c0000000000000000000a"}})
    code = withdrawal_code(token_of(client))
    study = close(study, actor=study.owner)
    assert panel_members(study) == 1
    assert withdraw(study, code=code)
    assert panel_members(study) == 1, "the hash of the number stays, so that nobody takes part twice, and is deleted with the others"


def test_the_deletion_does_not_tell_the_group_of_somebody_unfinished_who_left(study: Study) -> None:
    """Attack: results show how many people of each group gave no answer. Once all who had not finished were counted as gone, also those who
    had been held back to hide a withdrawal, one number of all was smaller than at the end: that of the group of the person who left.
    """
    definition = protocol_in_force(study).definition
    stop_before_the_end(study)
    at_the_end = assigned_counts(study, definition).sum()
    assert withdraw(study, code=CODE)
    assert assigned_counts(study, definition).sum() == at_the_end - LEAST
    forget_operational_data(study)
    assert assigned_counts(study, definition).sum() == at_the_end - LEAST


def test_means_of_background_answers_are_not_told_again_after_a_withdrawal(study: Study) -> None:
    """Attack: ten who had not finished are left out, from all arms together. Means and sizes of an arm from which one of them is missing,
    beside those of before, give this person's background answers to the letter.
    """
    stop_before_the_end(study)
    assert balance_now(study) is not None
    assert withdraw(study, code=CODE)
    assert balance_now(study) is None
    Run.objects.filter(study=study, kind=RunKind.FULL_RESULTS).update(status=RunStatus.DONE, due_at=None, holder=None, data=None)
    page = logged_in(study.owner).get(reverse("analysis:results", args=[study.slug])).content.decode()
    assert "Two means would tell what one person answered" in page


def test_half_a_file_of_a_killed_process_does_not_keep_the_second_of_a_withdrawal(settings: Any, tmp_path: Path) -> None:
    """It was made in the moment of the withdrawal, and no night wrote it again."""
    settings.MEDIA_ROOT = tmp_path
    folder = folder_of_withdrawals()
    folder.mkdir()
    half, whole = folder / ".0123456789abcdef", folder / ("a" * 64)
    half.write_text("b" * 64)
    whole.write_text("b" * 64)
    renew_withdrawals()
    assert half.exists(), "another process may just be writing it"
    with pytest.MonkeyPatch.context() as later:
        later.setattr(withdrawals, "A_WRITE", -timedelta(hours=1))
        renew_withdrawals()
    assert [file.name for file in folder.iterdir()] == [whole.name]


@pytest.mark.parametrize("listing", ["iterdir", "glob"])
def test_a_file_that_another_process_finishes_meanwhile_is_no_error(settings: Any, tmp_path: Path, listing: str) -> None:
    """Somebody else withdraws in the same moment: half a file that was listed has its whole name by now."""
    settings.MEDIA_ROOT = tmp_path
    remember_withdrawal(withdrawal_hash="a" * 64, panel_number="")
    listed = getattr(Path, listing)
    with pytest.MonkeyPatch.context() as meanwhile:
        meanwhile.setattr(Path, listing, lambda path, *of: iter([path / ".0123456789abcdef", *listed(path, *of)]))
        if listing == "iterdir":
            remember_withdrawal(withdrawal_hash="b" * 64, panel_number="")
        renew_withdrawals()
    assert (folder_of_withdrawals() / ("a" * 64)).exists()
