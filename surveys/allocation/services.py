"""Drawing the concealed lists, and giving each participant the next free line."""

import secrets
from collections import Counter

from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.allocation.assignment import Assignment, commitment, draw_list, draw_sequence
from surveys.allocation.selectors import document_of_list
from surveys.definition import StudyDefinition
from surveys.errors import StudyFullError, TransitionError
from surveys.models import RUNNING, AllocationList, AllocationSlot, ArmState, SlotStatus, Study

SMALLEST_LIST = 64


def draw_first_lists(study: Study, definition: StudyDefinition) -> list[AllocationList]:
    """Give a study that opens the state of its arms and its first list, one for each stratum. The lists of a section have one arm."""
    ArmState.objects.bulk_create(ArmState(study=study, arm=arm.name, quota=arm.quota) for arm in definition.arms)
    arms = dict(zip(definition.sections, draw_sequence(definition.arm_weights, len(definition.sections), scheme="complete"), strict=True))
    drawn = [_draw_list(study, definition, stratum=stratum, arm=arms.get(stratum)) for stratum in definition.strata]
    close_and_open_slots(study)
    return drawn


def draw_allocation_list(study: Study, definition: StudyDefinition, *, stratum: str = "") -> AllocationList:
    """Draw the next list of a stratum and store it; a section keeps its arm. Call it under a lock on the study."""
    arm = study.allocation_slots.filter(stratum=stratum).values_list("arm", flat=True).first() if definition.in_sections else None
    drawn = _draw_list(study, definition, stratum=stratum, arm=arm)
    close_and_open_slots(study)
    return drawn


def _draw_list(study: Study, definition: StudyDefinition, *, stratum: str, arm: str | None) -> AllocationList:
    """`arm` is that of everybody on the list, where a section is assigned as a whole."""
    number = study.allocation_lists.count() + 1
    planned = definition.allocation.planned_participants
    if study.allocation_lists.filter(stratum=stratum).exists():
        length = max(planned // 4 // len(definition.strata), SMALLEST_LIST)
    else:
        length = planned if len(definition.strata) == 1 else max(-(-planned // len(definition.strata)), SMALLEST_LIST)
    assignments = draw_list(
        length=length,
        subsamples=definition.subsample_weights,
        arms=definition.arm_weights if arm is None else {arm: 1},
        scheme=definition.allocation.scheme,
        block_multiples=definition.allocation.block_multiples,
        direct_share=definition.direct_share,
    )
    nonce = secrets.token_hex(32)
    allocation_list = AllocationList(
        study=study,
        number=number,
        stratum=stratum,
        scheme=definition.allocation.scheme,
        length=len(assignments),
        nonce=nonce,
        drawn_on=timezone.localdate(),
    )
    allocation_list.sha256 = commitment(document_of_list(allocation_list, assignments))
    allocation_list.save(force_insert=True)
    start = study.allocation_slots.count() + 1
    AllocationSlot.objects.bulk_create(
        (
            AllocationSlot(study=study, list=allocation_list, stratum=stratum, position=position, subsample=one.subsample, arm=one.arm)
            for position, one in enumerate(assignments, start)
        ),
        batch_size=1000,
    )
    return allocation_list


def close_and_open_slots(study: Study) -> None:
    """Bring the free lines in step with closed arms and quotas. Lines that have already been passed over stay closed."""
    # Wait for people who are just taking a line, so that their lines count, and keep others from taking one until we are done.
    list(study.allocation_slots.select_for_update(no_key=True).filter(status=SlotStatus.FREE).values_list("pk"))
    taken = _taken_by_arm(study)
    states = list(study.arm_states.all())
    for stratum in set(study.allocation_lists.values_list("stratum", flat=True)):
        lines = study.allocation_slots.filter(stratum=stratum)
        last = lines.filter(status=SlotStatus.TAKEN).order_by("-position").values_list("position", flat=True).first() or 0
        for state in states:
            waiting = lines.filter(arm=state.arm, position__gt=last).exclude(status=SlotStatus.TAKEN).order_by("position")
            room = 0 if state.closed else None if state.quota is None else max(state.quota - taken[state.arm], 0)
            opened = list(waiting.values_list("pk", flat=True)[:room]) if room is not None else None
            lines.filter(arm=state.arm, status=SlotStatus.FREE).update(status=SlotStatus.CLOSED)
            (waiting if opened is None else waiting.filter(pk__in=opened)).update(status=SlotStatus.FREE)


def take_slot(study: Study, definition: StudyDefinition, *, stratum: str = "") -> Assignment:
    """The next free line of a stratum's lists, now taken. Many people may do so at once; a line whose transaction fails is free again."""
    if assignment := _take_next_free(study, stratum):
        return assignment
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    while not (assignment := _take_next_free(study, stratum)):
        if not has_room(study, stratum=stratum if definition.in_sections else None):
            raise StudyFullError
        allocation_list = draw_allocation_list(locked, definition, stratum=stratum)
        record(
            actor=None,
            action=actions.ALLOCATION_EXTENDED,
            subject=study,
            details={"list": allocation_list.number, "sha256": allocation_list.sha256},
        )
    return assignment


def _take_next_free(study: Study, stratum: str) -> Assignment | None:
    """One statement: pick, lock and take. On SQLite the transaction already holds the only write lock.

    PostgreSQL keeps locks on lines that were closed in the very moment in which it looked at them. If no line is left, the savepoint gives
    these locks back: the holder of the study's lock may be about to change those lines.
    """
    table = connection.ops.quote_name(AllocationSlot._meta.db_table)
    skip = "FOR UPDATE SKIP LOCKED" if connection.features.has_select_for_update_skip_locked else ""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET status = 'taken' WHERE id = (SELECT id FROM {table} "  # noqa: S608
            f"WHERE study_id = %s AND stratum = %s AND status = 'free' ORDER BY position LIMIT 1 {skip}) RETURNING subsample, arm",
            [study.pk, stratum],
        )
        row = cursor.fetchone()
        transaction.set_rollback(row is None)
    return Assignment(subsample=row[0], arm=row[1]) if row else None


def _taken_by_arm(study: Study) -> Counter[str]:
    """Counted by the database, because everybody who comes to a full study asks for it."""
    return Counter(dict(study.allocation_slots.filter(status=SlotStatus.TAKEN).values_list("arm").annotate(Count("pk"))))


def has_room(study: Study, *, stratum: str | None = None) -> bool:
    """Whether an arm still takes participants; with a stratum, one of the arms on its lists."""
    lines = study.allocation_slots.all() if stratum is None else study.allocation_slots.filter(stratum=stratum)
    if lines.filter(status=SlotStatus.FREE).exists():
        return True
    states = study.arm_states.all() if stratum is None else study.arm_states.filter(arm__in=lines.values("arm"))
    taken = _taken_by_arm(study)
    return any(not state.closed and (state.quota is None or taken[state.arm] < state.quota) for state in states)


@transaction.atomic
def change_arm(study: Study, *, arm: str, actor: User, quota: int | None, closed: bool) -> None:
    """Set an arm's quota, stop recruiting to it, or resume, while the study runs."""
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if locked.status not in RUNNING:
        raise TransitionError(
            _("Arms can be changed while a study recruits or pauses; this one is %(status)s.")
            % {"status": locked.get_status_display().lower()}
        )
    if quota is not None and locked.allocation_lists.exclude(stratum="").exists():
        raise TransitionError(_("This study draws within strata, where arms have no quota. Close the arm instead."))
    state = ArmState.objects.select_for_update().get(study=locked, arm=arm)
    state.quota, state.closed = quota, closed
    state.full_clean()
    state.save()
    close_and_open_slots(locked)
    record(actor=actor, action=actions.ARM_CHANGED, subject=study, details={"arm": arm, "quota": quota, "closed": closed})
