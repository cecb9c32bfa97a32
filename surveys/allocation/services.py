"""Drawing the concealed lists, and giving each participant the next free line."""

import random
import secrets
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TypedDict

from django.db import connection, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from jobs.tasks import send
from surveys import actions
from surveys.allocation.assignment import OF_THE_SYSTEM, Assignment, commitment, draw_list, draw_sequence
from surveys.allocation.lines import store_lines
from surveys.allocation.selectors import document_of_list
from surveys.definition import StudyDefinition
from surveys.errors import StudyFullError, TransitionError
from surveys.models import RUNNING, AllocationList, AllocationSlot, ArmState, DrawingStatus, ListDrawing, SlotStatus, Study, StudyStatus
from surveys.protocols import protocol_in_force

SMALLEST_LIST = 64
"""The length of a list that is drawn in somebody's request, should no worker have drawn the next one in time."""
AT_ONCE = 5000
"""The most lines that are drawn together, in one transaction. More of them are a worker's job, which stores them part by part."""


class Planned(TypedDict, total=False):
    """A list to be drawn. `arm` is that of everybody on it, where a section is assigned as a whole; `number` once it is begun."""

    stratum: str
    arm: str | None
    length: int
    number: int


def first_lists(definition: StudyDefinition) -> list[Planned]:
    """The lists with which a study opens, one for each stratum. The lists of a section have one arm."""
    arms = dict(zip(definition.sections, draw_sequence(definition.arm_weights, len(definition.sections), scheme="complete"), strict=True))
    planned, strata = definition.allocation.planned_participants, definition.strata
    length = planned if len(strata) == 1 else max(-(-planned // len(strata)), SMALLEST_LIST)
    return [Planned(stratum=stratum, arm=arms.get(stratum), length=length) for stratum in strata]


def are_few(lists: Iterable[Planned]) -> bool:
    """Whether these lists are so short that they are drawn together at once."""
    return sum(one["length"] for one in lists) <= AT_ONCE


def draw_first_lists(study: Study, definition: StudyDefinition, lists: Sequence[Planned] | None = None) -> list[AllocationList]:
    """Give a study that opens its first lists, and let its arms take people."""
    drawn = [_draw_list(study, definition, one) for one in lists or first_lists(definition)]
    open_arms(study, definition)
    return drawn


def open_arms(study: Study, definition: StudyDefinition) -> None:
    """Give a study that opens the state of its arms."""
    ArmState.objects.bulk_create(ArmState(study=study, arm=arm.name, quota=arm.quota) for arm in definition.arms)
    _close_and_open_lines(study)


def ask_for_lists(study: Study, lists: Sequence[Planned], *, launched_by: User | None = None) -> ListDrawing:
    """Have a worker draw these lists; for the first ones, whoever launches the study is named. Call it under a lock on the study.

    A drawing that was stopped goes on where it was, with the same lists: of first lists with this protocol, and of further lists whose hash
    is public.
    """
    queued = {
        "status": DrawingStatus.DRAWING,
        "due_at": timezone.now(),
        "holder": None,
        "attempts": 0,
        "error": "",
        "launched_by": launched_by,
    }
    before = ListDrawing.objects.filter(study=study).first()
    if before is None or not _goes_on(before, study, first=launched_by is not None):
        lines = sum(one["length"] for one in lists)
        queued |= {"protocol": study.protocol, "seed": secrets.token_hex(32), "lists": list(lists), "lines": lines, "stored": 0}
    drawing, _created = ListDrawing.objects.update_or_create(study=study, defaults=queued)
    transaction.on_commit(partial(send, drawing))
    return drawing


def _goes_on(before: ListDrawing, study: Study, *, first: bool) -> bool:
    if not before.seed or first != (before.launched_by_id is not None):
        return False
    return before.protocol_id == study.protocol_id if first else _has_begun(before)


def _has_begun(drawing: ListDrawing) -> bool:
    """Whether a list of it is stored with its hash."""
    return any("number" in one for one in drawing.lists)


def stop_drawing(study: Study) -> bool:
    """Draw no further lines. Stored lines and the seed stay: nobody can choose among lists. False: nothing is being drawn."""
    under_way = ListDrawing.objects.filter(study=study, status=DrawingStatus.DRAWING)
    return ListDrawing.end(under_way, status=DrawingStatus.STOPPED) > 0


def draw_allocation_list(study: Study, definition: StudyDefinition, *, stratum: str = "", length: int = SMALLEST_LIST) -> AllocationList:
    """Draw the next list of a stratum and store it; a section keeps its arm. Call it under a lock on the study."""
    drawn = _draw_list(study, definition, Planned(stratum=stratum, arm=_arm_of(study, definition, stratum), length=length))
    use_new_lines(study)
    return drawn


def use_new_lines(study: Study) -> None:
    """Bring new lines in step with quotas and closed arms. Call it under a lock on the study."""
    if limited_arms(study).exists():
        _wait_for_takers(study)
        _close_and_open_lines(study)


def draw_assignments(definition: StudyDefinition, planned: Planned, *, entropy: random.Random = OF_THE_SYSTEM) -> list[Assignment]:
    """The lines of one list."""
    arm = planned["arm"]
    return draw_list(
        length=planned["length"],
        subsamples=definition.subsample_weights,
        arms=definition.arm_weights if arm is None else {arm: 1},
        scheme=definition.allocation.scheme,
        block_multiples=definition.allocation.block_multiples,
        direct_share=definition.direct_share,
        entropy=entropy,
    )


def begin_list(study: Study, definition: StudyDefinition, *, stratum: str, assignments: Sequence[Assignment]) -> AllocationList:
    """Store a list with the hash of its lines, before any of these. Call it under a lock on the study."""
    allocation_list = AllocationList(
        study=study,
        number=study.allocation_lists.count() + 1,
        stratum=stratum,
        scheme=definition.allocation.scheme,
        length=len(assignments),
        nonce=secrets.token_hex(32),
        drawn_on=timezone.localdate(),
    )
    allocation_list.sha256 = commitment(document_of_list(allocation_list, assignments))
    allocation_list.save(force_insert=True)
    return allocation_list


def lines_of(found: AllocationList, assignments: Sequence[Assignment], *, start: int = 0, closed: bool = False) -> Iterable[AllocationSlot]:
    """Lines of a list, from its line `start` on, to be stored."""
    status = SlotStatus.CLOSED if closed else SlotStatus.FREE
    first = lines_before(found) + 1 + start  # now: while lines are being copied, the connection answers nothing
    return (
        AllocationSlot(
            study_id=found.study_id,
            list=found,
            stratum=found.stratum,
            position=position,
            subsample=one.subsample,
            arm=one.arm,
            status=status,
        )
        for position, one in enumerate(assignments, first)
    )


def lines_before(found: AllocationList) -> int:
    """How many lines the study's earlier lists have. A line is never deleted."""
    earlier = AllocationList.objects.filter(study=found.study_id, number__lt=found.number)
    return int(earlier.aggregate(Sum("length", default=0))["length__sum"])


def _draw_list(study: Study, definition: StudyDefinition, planned: Planned) -> AllocationList:
    assignments = draw_assignments(definition, planned)
    drawn = begin_list(study, definition, stratum=planned["stratum"], assignments=assignments)
    store_lines(lines_of(drawn, assignments))
    return drawn


def _arm_of(study: Study, definition: StudyDefinition, stratum: str) -> str | None:
    """The arm of a section; None where arms are drawn."""
    return study.allocation_slots.filter(stratum=stratum).values_list("arm", flat=True).first() if definition.in_sections else None


def _wait_for_takers(study: Study) -> None:
    """Wait for people who are just taking a line, so that their lines count, and keep others from taking one until the transaction ends."""
    if limited_arms(study).exists():
        free = study.allocation_slots.select_for_update(no_key=True).filter(status=SlotStatus.FREE).values_list("pk")
        deque(free.iterator(chunk_size=10_000), maxlen=0)


def limited_arms(study: Study) -> QuerySet[ArmState]:
    """The arms that do not take everybody."""
    return study.arm_states.filter(Q(closed=True) | Q(quota__isnull=False))


def _close_and_open_lines(study: Study) -> None:
    """Bring the free lines in step with closed arms and quotas. Lines that have already been passed over stay closed.

    It writes only lines that change. Without a quota or a closed arm there are none, and new lines are free.
    """
    if not limited_arms(study).exists() and not study.allocation_slots.filter(status=SlotStatus.CLOSED).exists():
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


def _extend(study: Study, definition: StudyDefinition, *, stratum: str, length: int = SMALLEST_LIST) -> None:
    record_further_list(draw_allocation_list(study, definition, stratum=stratum, length=length))


def record_further_list(drawn: AllocationList) -> None:
    """Publish the hash of a further list, before anybody has a line of it."""
    record(actor=None, action=actions.ALLOCATION_EXTENDED, subject=drawn.study, details={"list": drawn.number, "sha256": drawn.sha256})


@transaction.atomic
def draw_lists_ahead(study: Study) -> None:
    """Draw the next lists while lines are left, so that no participant waits for them and no list tells when somebody came."""
    definition = protocol_in_force(study).definition
    halves = [one for one in ListDrawing.objects.filter(study=study, launched_by=None, status=DrawingStatus.FAILED) if _has_begun(one)]
    if not halves and not any(_is_short_of_lines(study, definition, stratum=one) for one in definition.strata):
        return
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if locked.status not in RUNNING or ListDrawing.objects.filter(study=locked, status=DrawingStatus.DRAWING).exists():
        return
    short = [one for one in definition.strata if _is_short_of_lines(locked, definition, stratum=one)]
    lists = [Planned(stratum=one, arm=_arm_of(locked, definition, one), length=_next_length(locked, definition, one)) for one in short]
    if halves or not are_few(lists):
        ask_for_lists(locked, lists)
        return
    for one in lists:
        _extend(locked, definition, stratum=one["stratum"], length=one["length"])


def studies_short_of_lines() -> list[Study]:
    """The recruiting studies that may need a further list, found by a few steps down an index for each list."""
    newer = AllocationList.objects.filter(study=OuterRef("study"), stratum=OuterRef("stratum"), number__gt=OuterRef("number"))
    earlier = AllocationList.objects.filter(study=OuterRef("study"), number__lt=OuterRef("number")).values("study")
    free = AllocationSlot.objects.filter(study=OuterRef("study"), stratum=OuterRef("stratum"), status=SlotStatus.FREE).order_by("position")
    short = (
        AllocationList.objects.filter(~Exists(newer), study__status=StudyStatus.RECRUITING)
        .annotate(
            next=Subquery(free.values("position")[:1]), before=Coalesce(Subquery(earlier.annotate(Sum("length")).values("length__sum")), 0)
        )
        .filter(Q(next=None) | Q(next__gt=F("before") + (F("length") + 1) / 2))
    )
    half_drawn = ListDrawing.objects.filter(launched_by=None, status=DrawingStatus.FAILED)
    keys = {*short.values_list("study", flat=True), *half_drawn.values_list("study", flat=True)}
    return list(Study.objects.filter(pk__in=keys, status=StudyStatus.RECRUITING))


def _next_length(study: Study, definition: StudyDefinition, stratum: str) -> int:
    """A quarter of the lines planned or drawn before: however many people come, the number of lists stays small."""
    drawn = int(study.allocation_lists.filter(stratum=stratum).aggregate(Sum("length", default=0))["length__sum"])
    return max(definition.allocation.planned_participants // 4 // len(definition.strata), drawn // 4, SMALLEST_LIST)


def _is_short_of_lines(study: Study, definition: StudyDefinition, *, stratum: str) -> bool:
    """Whether the next free line lies in the second half of the newest list, and the study takes more people than it has lines for."""
    newest = study.allocation_lists.filter(stratum=stratum).order_by("-number").first()
    free = study.allocation_slots.filter(stratum=stratum, status=SlotStatus.FREE).order_by("position")
    position = free.values_list("position", flat=True).first()
    if newest is None or (position is not None and position <= lines_before(newest) + (newest.length + 1) // 2):
        return False
    return _takes_more(study, stratum=stratum if definition.in_sections else None)


def next_free_line(study: str) -> str:
    """The statement for the next line of a stratum that nobody else is just taking. `study` stands for the study's key."""
    skip = " FOR UPDATE SKIP LOCKED" if connection.features.has_select_for_update_skip_locked else ""
    return (
        f"SELECT id FROM {AllocationSlot._meta.db_table} "  # noqa: S608
        f"WHERE study_id = {study} AND stratum = %s AND status = 'free' ORDER BY position LIMIT 1{skip}"
    )


def _take_next_free(study: Study, stratum: str) -> Assignment | None:
    """One statement: pick, lock and take. On SQLite the transaction already holds the only write lock.

    PostgreSQL keeps locks on lines that were closed in the very moment in which it looked at them. If no line is left, the savepoint gives
    these locks back: the holder of the study's lock may be about to change those lines.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        taken = f"UPDATE {AllocationSlot._meta.db_table} SET status = 'taken' WHERE id = ({next_free_line('%s')}) RETURNING subsample, arm"  # noqa: S608
        cursor.execute(taken, [study.pk, stratum])
        row = cursor.fetchone()
        transaction.set_rollback(row is None)
    return Assignment(subsample=row[0], arm=row[1]) if row else None


def _taken_by_arm(study: Study) -> Counter[str]:
    return Counter(dict(study.allocation_slots.filter(status=SlotStatus.TAKEN).values_list("arm").annotate(Count("pk"))))


def has_room(study: Study, *, stratum: str | None = None) -> bool:
    """Whether an arm still takes participants; with a stratum, one of the arms on its lists."""
    of_stratum, values = ("", ()) if stratum is None else (" AND stratum = %s", (stratum,))
    with connection.cursor() as cursor:  # by hand, because everybody who comes asks
        table = AllocationSlot._meta.db_table
        cursor.execute(f"SELECT 1 FROM {table} WHERE study_id = %s{of_stratum} AND status = 'free' LIMIT 1", [study.pk, *values])  # noqa: S608
        return cursor.fetchone() is not None or _takes_more(study, stratum=stratum)


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
