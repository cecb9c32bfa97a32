"""Drawing the concealed lists, and giving each participant the next free line."""

import secrets
from collections import Counter, deque

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from surveys import actions
from surveys.allocation.assignment import Assignment, commitment, draw_list, draw_sequence
from surveys.allocation.lines import store_lines
from surveys.allocation.selectors import document_of_list
from surveys.definition import StudyDefinition
from surveys.errors import StudyFullError, TransitionError
from surveys.models import RUNNING, AllocationList, AllocationSlot, ArmState, SlotStatus, Study
from surveys.protocols import protocol_in_force

SMALLEST_LIST = 64


def draw_first_lists(study: Study, definition: StudyDefinition) -> list[AllocationList]:
    """Give a study that opens the state of its arms and its first list, one for each stratum. The lists of a section have one arm."""
    ArmState.objects.bulk_create(ArmState(study=study, arm=arm.name, quota=arm.quota) for arm in definition.arms)
    arms = dict(zip(definition.sections, draw_sequence(definition.arm_weights, len(definition.sections), scheme="complete"), strict=True))
    drawn = [_draw_list(study, definition, stratum=stratum, arm=arms.get(stratum)) for stratum in definition.strata]
    _close_and_open_lines(study)
    return drawn


def draw_allocation_list(study: Study, definition: StudyDefinition, *, stratum: str = "") -> AllocationList:
    """Draw the next list of a stratum and store it; a section keeps its arm. Call it under a lock on the study."""
    arm = study.allocation_slots.filter(stratum=stratum).values_list("arm", flat=True).first() if definition.in_sections else None
    drawn = _draw_list(study, definition, stratum=stratum, arm=arm)
    _wait_for_takers(study)
    _close_and_open_lines(study)
    return drawn


def _draw_list(study: Study, definition: StudyDefinition, *, stratum: str, arm: str | None) -> AllocationList:
    """`arm` is that of everybody on the list, where a section is assigned as a whole."""
    number = study.allocation_lists.count() + 1
    planned = definition.allocation.planned_participants
    if study.allocation_lists.filter(stratum=stratum).exists():
        length = _next_length(definition)
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
    store_lines(
        AllocationSlot(study=study, list=allocation_list, stratum=stratum, position=position, subsample=one.subsample, arm=one.arm)
        for position, one in enumerate(assignments, start)
    )
    return allocation_list


def _next_length(definition: StudyDefinition) -> int:
    """How many lines a list has that continues the first one of its stratum."""
    return max(definition.allocation.planned_participants // 4 // len(definition.strata), SMALLEST_LIST)


def _wait_for_takers(study: Study) -> None:
    """Wait for people who are just taking a line, so that their lines count, and keep others from taking one until the transaction ends."""
    if _limited_arms(study).exists():
        free = study.allocation_slots.select_for_update(no_key=True).filter(status=SlotStatus.FREE).values_list("pk")
        deque(free.iterator(chunk_size=10_000), maxlen=0)


def _limited_arms(study: Study) -> QuerySet[ArmState]:
    return study.arm_states.filter(Q(closed=True) | Q(quota__isnull=False))


def _close_and_open_lines(study: Study) -> None:
    """Bring the free lines in step with closed arms and quotas. Lines that have already been passed over stay closed.

    It writes only lines that change. Without a quota or a closed arm there are none, and new lines are free.
    """
    if not _limited_arms(study).exists() and not study.allocation_slots.filter(status=SlotStatus.CLOSED).exists():
        return
    taken = _taken_by_arm(study)
    states = list(study.arm_states.all())
    room = {state.arm: 0 if state.closed else None if state.quota is None else max(state.quota - taken[state.arm], 0) for state in states}
    opened: Counter[str] = Counter()
    for stratum in set(study.allocation_lists.values_list("stratum", flat=True)):
        lines = study.allocation_slots.filter(stratum=stratum)
        last = lines.filter(status=SlotStatus.TAKEN).order_by("-position").values_list("position", flat=True).first() or 0
        for arm, most in room.items():
            of_arm = lines.filter(arm=arm).exclude(status=SlotStatus.TAKEN)
            open_to = Q(position__gt=last)
            waiting = of_arm.filter(open_to).order_by("position")
            beyond = None if most is None else waiting.values_list("position", flat=True)[most : most + 1].first()
            if beyond is not None:
                open_to &= Q(position__lt=beyond)
            of_arm.filter(~open_to, status=SlotStatus.FREE).update(status=SlotStatus.CLOSED)
            of_arm.filter(open_to, status=SlotStatus.CLOSED).update(status=SlotStatus.FREE)
            opened[arm] += of_arm.filter(open_to).count() if beyond is None else most or 0
    for state in states:
        state.lines_missing = max((room[state.arm] or 0) - opened[state.arm], 0)
    ArmState.objects.bulk_update(states, ["lines_missing"])


def take_slot(study: Study, definition: StudyDefinition, *, stratum: str = "") -> Assignment:
    """The next free line of a stratum's lists, now taken. Many people may do so at once; a line whose transaction fails is free again."""
    if assignment := _take_next_free(study, stratum):
        return assignment
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    while not (assignment := _take_next_free(study, stratum)):
        if not has_room(study, stratum=stratum if definition.in_sections else None):
            raise StudyFullError
        _extend(locked, definition, stratum=stratum)
    return assignment


def _extend(study: Study, definition: StudyDefinition, *, stratum: str) -> None:
    drawn = draw_allocation_list(study, definition, stratum=stratum)
    record(actor=None, action=actions.ALLOCATION_EXTENDED, subject=study, details={"list": drawn.number, "sha256": drawn.sha256})


@transaction.atomic
def draw_lists_ahead(study: Study) -> None:
    """Draw the next lists while lines are left, so that no participant waits for them and no list tells when somebody came."""
    definition = protocol_in_force(study).definition
    short = [one for one in definition.strata if _is_short_of_lines(study, definition, stratum=one)]
    if not short:
        return
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    for stratum in short:
        if locked.status in RUNNING and _is_short_of_lines(locked, definition, stratum=stratum):
            _extend(locked, definition, stratum=stratum)


def _is_short_of_lines(study: Study, definition: StudyDefinition, *, stratum: str) -> bool:
    enough = max(definition.allocation.planned_participants // 8 // len(definition.strata), 2)
    free = study.allocation_slots.filter(stratum=stratum, status=SlotStatus.FREE)
    return free[:enough].count() < enough and _takes_more(study, stratum=stratum if definition.in_sections else None)


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
    return Counter(dict(study.allocation_slots.filter(status=SlotStatus.TAKEN).values_list("arm").annotate(Count("pk"))))


def has_room(study: Study, *, stratum: str | None = None) -> bool:
    """Whether an arm still takes participants; with a stratum, one of the arms on its lists."""
    lines = study.allocation_slots.all() if stratum is None else study.allocation_slots.filter(stratum=stratum)
    return lines.filter(status=SlotStatus.FREE).exists() or _takes_more(study, stratum=stratum)


def _takes_more(study: Study, *, stratum: str | None) -> bool:
    """Whether an arm takes more participants than the lists have lines for."""
    states = study.arm_states.filter(Q(quota=None) | Q(lines_missing__gt=0), closed=False)
    of_stratum = study.allocation_slots.filter(stratum=stratum).values("arm")
    return (states if stratum is None else states.filter(arm__in=of_stratum)).exists()


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
    _wait_for_takers(locked)
    _close_and_open_lines(locked)
    record(actor=actor, action=actions.ARM_CHANGED, subject=study, details={"arm": arm, "quota": quota, "closed": closed})
