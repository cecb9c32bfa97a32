"""Deletes operational data of closed studies when the protocol says so, or earlier when their owner says so, and again after a restore.

Deleted: background and quiz answers, direct answers, tokens and withdrawal codes, days, watched shares, languages, people who did not
finish, panel members, entry codes, exact numbers of ways in, who had credit and its key. Kept: arm, subsample and reported answers of
those who finished, which the die protects; and counts.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Case, CharField, F, Model, Q, QuerySet, When
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from audit.models import Entry
from audit.selectors import entries_about
from audit.services import record
from surveys import actions
from surveys.batches import rules
from surveys.batches.order_of_arrival import lay_anew
from surveys.batches.services import people_change
from surveys.definition import DIRECT
from surveys.errors import TransitionError
from surveys.events import operational_data_are_due, operational_data_forgotten
from surveys.languages.labels import within_sentence
from surveys.lifecycle.steps import locked
from surveys.models import (
    ENDED,
    AttritionCount,
    CounterKind,
    CourseCredit,
    CreditBook,
    DirectAnswer,
    EntryBook,
    EntryCode,
    JoinCode,
    PanelMember,
    Participant,
    ShardedCounter,
    Step,
    Study,
    WayNumbers,
)
from surveys.recruitment.selectors import all_came_one_way, panel_members
from surveys.retention.remembered import deletion_is_remembered, remember_deletion
from surveys.retention.selectors import day_of_forgetting

CHUNK = 1000
Row = TypeVar("Row", bound=Model)
ROUTINE = "retention"
"""The kind of work that deletes due data."""


def forget_what_is_due(today: date | None = None) -> list[str]:
    """Delete all data due by their protocols, and finish deletions already begun; return the slugs of the studies concerned.

    It looks again after each round of deletions: somebody may have begun another one meanwhile, which must not wait for the next hour.
    """
    today = today or timezone.localdate()
    found = forget_again()
    while due := [study for study in _due(today) if study.slug not in found]:
        for study in due:
            forget_operational_data(study)
            found.append(study.slug)
    return found


def forget_again(*, within: Path | None = None) -> list[str]:
    """Delete what was deleted before and came back with a back-up; return the slugs of the studies concerned. `within`: the folder that
    remembers it.
    """
    there = Study.objects.filter(forgotten_on=None, status__in=ENDED, numbers_withheld=False).defer("definition")
    back = [study for study in there if deletion_is_remembered(closing_of(study), within=within)]
    for study in back:
        forget_operational_data(study)
    return [study.slug for study in back]


def closing_of(study: Study) -> Entry | None:
    """The entry since which there is something to delete."""
    return entries_about(study).filter(action=actions.CLOSED).first()


def _due(today: date) -> Iterator[Study]:
    begun_or_due = Q(forgotten_on__isnull=False) | Q(closed_on__lt=today)
    for study in Study.objects.filter(begun_or_due, status__in=ENDED, numbers_withheld=False).defer("definition"):
        if _is_unfinished(study) or (study.forgotten_on is None and _is_due(study, today)):
            yield study


def _is_due(study: Study, today: date) -> bool:
    """From the day of the protocol on, but never on the day of the end; on the first of these days results are waited for."""
    first, end = day_of_forgetting(study), study.closed_on
    if first is None or end is None or today <= end:
        return False
    first = max(first, end + timedelta(days=1))
    return first < today or (first == today and not _is_awaited(study))


def _is_awaited(study: Study) -> bool:
    """Whether results are just computed from the data, as after a withdrawal; without the data they could never be computed again."""
    return any(waits for _receiver, waits in operational_data_are_due.send(sender=Study, study_id=study.pk))


def forget_operational_data(study: Study, *, actor: User | None = None) -> None:
    """Delete everything, in chunks. Neither a kill in the middle nor a second call loses or spoils data: the next call goes on."""
    begin_forgetting(study, actor=actor)
    EntryBook.objects.filter(study=study).delete()
    WayNumbers.objects.filter(study=study).delete()
    CreditBook.objects.filter(study=study).delete()
    CourseCredit.objects.filter(study=study).update(is_on=False, private_key="")
    for model in (PanelMember, EntryCode, JoinCode):
        for keys in _in_chunks(model._default_manager.filter(study=study)):
            model._default_manager.filter(pk__in=keys).delete()
    forget_direct_answers(study)
    for keys in _in_chunks(Participant.objects.filter(_identifiable(study), step=Step.FINISHED)):
        _forget_some_finished(study, keys)
    for keys in _in_chunks(Participant.objects.filter(study=study).exclude(step=Step.FINISHED)):
        _forget_some_unfinished(study, keys)
    _finish(study)


def _in_chunks(rows: QuerySet[Row]) -> Iterator[list[UUID]]:
    """The keys of these rows, until there are none any more. They are read once for many parts: to look anew for each next one would pass
    by all that were done before. Rows that the night was just writing anew are found by the next look.
    """
    # Random ones, so that a part tells nothing of when somebody came.
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)):
        yield from (keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK))


@transaction.atomic
def begin_forgetting(study: Study, *, actor: User | None = None) -> None:
    """From now on nobody can withdraw, because nobody's answers can be found, and no result that uses background answers is computed."""
    if not _can_begin(Study.objects.get(pk=study.pk)):
        return
    details = _to_be_forgotten(study)  # before the study is held: nobody who withdraws waits until all are counted
    study = locked(study, by=actor, owning=True)
    if not _can_begin(study):
        return
    study.forgotten_on = timezone.localdate()
    study.save(update_fields=["forgotten_on"])
    operational_data_forgotten.send(sender=Study, study_id=study.pk)
    record(actor=actor, action=actions.FORGETTING_BEGUN, subject=study, details=details | {"due_on": day_of_forgetting(study)})
    remember_deletion(closing_of(study))


def _can_begin(study: Study) -> bool:
    """False: it has begun before."""
    if study.forgotten_on is not None:
        return False
    if study.status not in ENDED:
        raise TransitionError(
            _("Operational data are deleted once a study is closed; this one is %(status)s.")
            % {"status": within_sentence(study.get_status_display())}
        )
    if study.numbers_withheld:
        raise TransitionError(_("Everybody who took part is being counted. Operational data are deleted after that."))
    return True


def _to_be_forgotten(study: Study) -> dict[str, object]:
    # People in the shown numbers: all who are stored, beside the numbers of the end, would count the withdrawals since then one by one.
    people = Participant.objects.filter(study=study, counted=True)
    finished = people.filter(step=Step.FINISHED).count()
    details: dict[str, object] = {
        "finished_participants": finished,
        "unfinished_participants": people.count() - finished,
        "panel_members": _panel_members_told(study),
        "entry_codes": EntryCode.objects.filter(study=study).count(),
    }
    direct = DirectAnswer.objects.filter(participant__in=people).count()
    return details | ({"direct_answers": direct} if direct else {})


def _panel_members_told(study: Study) -> int:
    """Whole tens where the study has several ways in: the exact number of a small way would be about persons."""
    people = panel_members(study)
    return people if all_came_one_way(study) else rules.in_tens(people)


def forget_direct_answers(study: Study) -> None:
    """Delete the direct answers; the counts made of them after closing stay."""
    for keys in _in_chunks(DirectAnswer.objects.filter(participant__study=study)):
        DirectAnswer.objects.filter(pk__in=keys).delete()


def _identifiable(study: Study) -> Q:
    """Rows that are not yet anonymised; with the rest of their data they lose their day."""
    return Q(study=study, consented_on__isnull=False)


@transaction.atomic
def _forget_some_finished(study: Study, keys: list[UUID]) -> None:
    """Strip these rows to the data that the die protects. Hashes must be unique, so each becomes the row's own random key, which no code
    has.
    """
    people = Participant.objects.filter(pk__in=keys)
    list(people.select_for_update().values_list("pk", flat=True))
    with people_change(locked(study).pk, keys):
        _strip(people)
    lay_anew(keys)


def _strip(people: QuerySet[Participant]) -> None:
    people.update(
        background={},
        quiz={},
        watched_tenths=0,
        # Rows of the direct group still tell who was asked, as they still tell who answered.
        agrees_to_direct=Case(When(subsample=DIRECT, then=F("agrees_to_direct")), default=None),
        language="",
        credit="",
        consented_on=None,
        finished_on=None,
        token_hash=Cast("id", CharField(max_length=64)),
        withdrawal_hash=Cast("id", CharField(max_length=64)),
    )


@transaction.atomic
def _forget_some_unfinished(study: Study, keys: list[UUID]) -> None:
    """People who did not finish are deleted, and counted where they stopped, so that the flow of participants stays right.

    People who are held back stay in no number of a group: with them only the one whom they hide would be missing in it.
    """
    unfinished = Participant.objects.filter(pk__in=keys).exclude(step=Step.FINISHED)
    columns = ("pk", "protocol__version", "counted", "step", "subsample", "arm")
    rows = list(unfinished.select_for_update(of=("self",)).values_list(*columns))
    stopped = Counter((step, subsample, arm) for _key, _version, counted, step, subsample, arm in rows if counted)
    for (step, subsample, arm), count in stopped.items():
        attrition, _created = AttritionCount.objects.get_or_create(study=study, step=step, subsample=subsample, arm=arm)
        AttritionCount.objects.filter(pk=attrition.pk).update(count=F("count") + count)
    for version, count in Counter(version for _key, version, *_rest in rows).items():
        counter, _created = ShardedCounter.objects.get_or_create(study=study, kind=CounterKind.UNFINISHED, version=version, shard=0)
        ShardedCounter.objects.filter(pk=counter.pk).update(count=F("count") + count)
    found = [key for key, *_rest in rows]
    with people_change(locked(study).pk, found):
        Participant.objects.filter(pk__in=found).delete()


@transaction.atomic
def _finish(study: Study) -> None:
    study = locked(study)
    if not entries_about(study).filter(action=actions.FORGOTTEN).exists():
        answers = Participant.objects.filter(study=study, counted=True).count()
        record(actor=None, action=actions.FORGOTTEN, subject=study, details={"participants_left_with_reported_answers": answers})


def _is_unfinished(study: Study) -> bool:
    """Whether a deletion was begun and is not finished."""
    if study.forgotten_on is None:
        return False
    return not entries_about(study).filter(action=actions.FORGOTTEN).exists()
