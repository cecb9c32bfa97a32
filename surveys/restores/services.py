"""Does again what a back-up that was restored has lost: ends of studies, and withdrawals."""

from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from surveys.batches.numbers import show_others_than_before, wait_for_new_people
from surveys.batches.remembered_withdrawals import FOLDER as WITHDRAWALS
from surveys.batches.remembered_withdrawals import folder_of_withdrawals
from surveys.batches.services import count_everyone, hold_back
from surveys.journey.services import replay_withdrawals
from surveys.models import RUNNING, Study
from surveys.restores.remembered import End, end_of, folder_of_ends, keep_another_end, shown_otherwise
from surveys.retention.remembered import FOLDER as DELETIONS
from surveys.retention.remembered import remember_deletion_of
from surveys.retention.services import closing_of
from surveys.studies.services import close


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedAgain:
    studies: int
    withdrawals: int
    """Those done again of people of these studies."""


def make_up_for_a_restore() -> None:
    """End studies and withdraw people again, where nobody ran `manage.py replay`. People who wait to be shown wait for new ones then."""
    ends, withdrawals = close_again(folder_of_ends()), replay_withdrawals(folder_of_withdrawals())
    if ends.studies or withdrawals.again:
        wait_for_new_people()


def close_again(within: Path) -> ClosedAgain:
    """Close the running studies whose end is remembered in this folder, and withdraw the people again who are remembered beside it.

    Each is closed in one transaction, in which nobody sees its numbers. People who withdrew after the end are hidden among the same people
    as then. Groups in which the back-up has lost somebody, or to which somebody came since, leave many people out; tables that tell people
    of a group apart are not shown any more. A file that cannot be read keeps no other study from it.
    """
    studies, withdrawals, wrong = 0, 0, []
    for study in Study.objects.filter(status__in=RUNNING).defer("definition").order_by("pk"):
        try:
            end = end_of(study, within=within)
        except ValueError as error:
            wrong.append(str(error))
            continue
        if end is not None:
            withdrawals += _close_again(study, end, beside=within.parent)
            studies += 1
    if wrong:
        raise ValueError(" ".join(wrong))
    return ClosedAgain(studies=studies, withdrawals=withdrawals)


@transaction.atomic
def _close_again(study: Study, end: End, *, beside: Path) -> int:
    close(study, actor=None)
    now = Study.objects.filter(pk=study.pk)
    now.update(closed_on=end.day)
    if now.filter(numbers_withheld=True).exists():  # many people are left
        count_everyone(study)
    if others := list(shown_otherwise(study, end)):
        show_others_than_before(study)
    again = replay_withdrawals(beside / WITHDRAWALS, of=study).again
    for one in others:
        hold_back(study, one.alike, one.to_hold_back)
    study.refresh_from_db(fields=["closed_on"])
    keep_another_end(study)
    remember_deletion_of(end.entries, closing_of(study), within=beside / DELETIONS)
    return again
