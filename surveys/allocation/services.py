"""Drawing the concealed lists, and giving each participant the next free line."""

import random
import secrets
from collections.abc import Iterable, Sequence
from functools import partial
from types import EllipsisType
from typing import TypedDict

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, Subquery, Sum
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
from surveys.batches.tally import kept_lines
from surveys.definition import StudyDefinition
from surveys.errors import StudyFullError, TransitionError
from surveys.languages.labels import within_sentence
from surveys.lifecycle.steps import locked
from surveys.models import RUNNING, AllocationList, AllocationSlot, ArmState, DrawingStatus, ListDrawing, SlotStatus, Study, StudyStatus
from surveys.protocols import protocol_in_force

SMALLEST_LIST = 64
LONGEST_FOR_ONE = 512
"""The most lines of a list that is drawn in somebody's request, should no worker have drawn the next one in time."""
AT_ONCE = 5000
"""The most lines that are drawn together, in one transaction. More of them are a worker's job, which stores them part by part."""
JUST_TAKEN = 1000
"""More lines than people are taking at any moment. No server gives Candor as many connections to its database."""

_LINES, _ARMS = AllocationSlot._meta.db_table, ArmState._meta.db_table
_OPEN = "NOT closed AND (quota IS NULL OR places > 0)"


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
    ArmState.objects.bulk_create(ArmState(study=study, arm=arm.name, quota=arm.quota, places=arm.quota) for arm in definition.arms)


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
    return _draw_list(study, definition, Planned(stratum=stratum, arm=_arm_of(study, definition, stratum), length=length))


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


def lines_of(found: AllocationList, assignments: Sequence[Assignment], *, start: int = 0) -> Iterable[AllocationSlot]:
    """Lines of a list, from its line `start` on, to be stored."""
    first = lines_before(found) + 1 + start  # now: while lines are being copied, the connection answers nothing
    return (
        AllocationSlot(
            study_id=found.study_id,
            list=found,
            stratum=found.stratum,
            position=position,
            subsample=one.subsample,
            arm=one.arm,
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


def take_slot(study: Study, definition: StudyDefinition, *, stratum: str = "") -> Assignment:
    """The next free line of a stratum's lists, now taken. Many people may do so at once; a line whose transaction fails is free again."""
    if assignment := _take_next_free(study, stratum):
        return assignment
    held = locked(study, no_key=True)
    while not (assignment := _take_next_free(study, stratum)):
        if not has_room(study, section=stratum if definition.in_sections else None):
            raise StudyFullError
        _extend(held, definition, stratum=stratum, length=min(_next_length(held, definition, stratum), LONGEST_FOR_ONE))
    return assignment


def _extend(study: Study, definition: StudyDefinition, *, stratum: str, length: int) -> None:
    record_further_list(draw_allocation_list(study, definition, stratum=stratum, length=length))


def record_further_list(drawn: AllocationList) -> None:
    """Publish the hash of a further list, before anybody has a line of it. Where none was drawn ahead, somebody has come in this second."""
    details = {"list": drawn.number, "sha256": drawn.sha256}
    record(actor=None, action=actions.ALLOCATION_EXTENDED, subject=drawn.study, details=details, of_the_day=True)


@transaction.atomic
def draw_lists_ahead(study: Study) -> None:
    """Draw the next lists while lines are left, so that no participant waits for them and no list tells when somebody came."""
    definition = protocol_in_force(study).definition
    halves = [one for one in ListDrawing.objects.filter(study=study, launched_by=None, status=DrawingStatus.FAILED) if _has_begun(one)]
    if not halves and not any(_is_short_of_lines(study, definition, stratum=one) for one in definition.strata):
        return
    held = locked(study, no_key=True)
    is_wanted = held.status in RUNNING or bool(halves)
    if not is_wanted or ListDrawing.objects.filter(study=held, status=DrawingStatus.DRAWING).exists():
        return
    short = [one for one in definition.strata if _is_short_of_lines(held, definition, stratum=one)]
    lists = [Planned(stratum=one, arm=_arm_of(held, definition, one), length=_next_length(held, definition, one)) for one in short]
    if halves or not are_few(lists):
        ask_for_lists(held, lists)
        return
    for one in lists:
        _extend(held, definition, stratum=one["stratum"], length=one["length"])


def studies_short_of_lines() -> list[Study]:
    """The recruiting studies that may need a further list, found by a few steps down an index for each list; and those with half of one,
    whose hash is public, even if they have ended.
    """
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
    return list(Study.objects.filter(pk__in=keys))


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
    arms = study.arm_states.filter(closed=False)
    if definition.in_sections:
        arms = arms.filter(arm=_arm_of(study, definition, stratum))
    places = arms.filter(Q(quota=None) | Q(places__gt=0)).values_list("arm", "places")
    return any(most is None or not free.filter(arm=arm)[most - 1 : most].exists() for arm, most in places)


def lines_to_take() -> str:
    """The parts of a statement that takes, as `line`, the next free line whose arm takes people. `here` is its study and stratum.

    A line that somebody else is just taking is left out. One place of an arm with a quota is taken with the line: others who want one wait
    until this transaction ends, and the last place is given once. `change_arm` waits for whoever is taking a line of the arm, and the other
    way round. Free lines from the `first` to the taken one whose arm takes nobody are passed over for good.

    No line is taken if there is none, or if its arm was closed or filled in this very moment.
    """
    free = f"FROM {_LINES} WHERE study_id = here.study_id AND stratum = here.stratum AND status = 'free'"
    return (
        f"open AS (SELECT arm FROM {_ARMS}, here WHERE {_ARMS}.study_id = here.study_id AND {_OPEN}), "  # noqa: S608
        f"first AS (SELECT free.* FROM here, LATERAL (SELECT position {free} ORDER BY position LIMIT 1) free), "
        f"next AS (SELECT free.* FROM here, LATERAL (SELECT * {free} AND arm = ANY (ARRAY(SELECT arm FROM open)) "
        "ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED) free), "
        f"unlimited AS (SELECT FROM {_ARMS} arms, next WHERE arms.study_id = next.study_id AND arms.arm = next.arm "
        "AND NOT closed AND quota IS NULL FOR KEY SHARE OF arms), "
        f"place AS (UPDATE {_ARMS} SET places = places - 1 FROM next WHERE {_ARMS}.study_id = next.study_id AND {_ARMS}.arm = next.arm "
        f"AND NOT closed AND places > 0 RETURNING places), "
        f"line AS (UPDATE {_LINES} SET status = 'taken' FROM next WHERE {_LINES}.id = next.id "
        f"AND (EXISTS (SELECT FROM unlimited) OR EXISTS (SELECT FROM place)) RETURNING {_LINES}.*), "
        f"passed AS (UPDATE {_LINES} SET status = 'closed' WHERE id IN (SELECT before.id FROM line, {_LINES} before "
        "WHERE before.study_id = line.study_id AND before.stratum = line.stratum AND before.status = 'free' "
        "AND before.position >= (SELECT position FROM first) AND before.position < line.position "
        "AND before.arm <> ALL (ARRAY(SELECT arm FROM open)) FOR UPDATE OF before SKIP LOCKED))"
    )


def _take_next_free(study: Study, stratum: str) -> Assignment | None:
    """Pick, lock and take; by one statement, except on SQLite, where the transaction already holds the only write lock.

    PostgreSQL keeps locks on rows that changed in the very moment in which it looked at them. If no line is taken, the savepoint gives
    these locks back: the holder of the study's lock may be about to change those rows.
    """
    if connection.vendor != "postgresql":
        return _take_alone(study, stratum)
    with transaction.atomic(), connection.cursor() as cursor:
        here = "here AS (SELECT %s::bigint AS study_id, %s AS stratum)"
        cursor.execute(f"WITH {here}, {lines_to_take()} SELECT subsample, arm FROM line", [study.pk, stratum])  # noqa: S608
        row = cursor.fetchone()
        transaction.set_rollback(row is None)
    return Assignment(subsample=row[0], arm=row[1]) if row else None


def _take_alone(study: Study, stratum: str) -> Assignment | None:
    arms = study.arm_states.filter(Q(quota=None) | Q(places__gt=0), closed=False)
    free = study.allocation_slots.filter(stratum=stratum, status=SlotStatus.FREE)
    line = free.filter(arm__in=arms.values("arm")).order_by("position").first()
    if line is None:
        return None
    free.filter(position__lt=line.position).update(status=SlotStatus.CLOSED)
    free.filter(pk=line.pk).update(status=SlotStatus.TAKEN)
    arms.filter(arm=line.arm).update(places=F("places") - 1)
    return Assignment(subsample=line.subsample, arm=line.arm)


def has_room(study: Study, *, section: str | None = None) -> bool:
    """Whether an arm still takes participants; with a section, its own arm."""
    values: list[int | str] = [study.pk]
    asked = f"SELECT 1 FROM {_ARMS} WHERE study_id = %s AND {_OPEN}"  # noqa: S608
    if section is not None:
        asked += f" AND arm = (SELECT arm FROM {_LINES} WHERE study_id = %s AND stratum = %s LIMIT 1)"  # noqa: S608
        values += [study.pk, section]
    with connection.cursor() as cursor:  # by hand, because everybody who comes asks
        cursor.execute(f"{asked} LIMIT 1", values)
        return cursor.fetchone() is not None


def _taken(study: Study, arm: str) -> int:
    """How many lines of an arm are taken in a study without strata, of which nobody is just taking one.

    The batches have counted the first ones. A line is taken while all free ones before it are held, so no taken one lies beyond as many
    free ones as people can hold.
    """
    last, counted = kept_lines(study.pk).get("", (0, {}))
    lines = study.allocation_slots.filter(stratum="", position__gt=last)
    free = lines.filter(status=SlotStatus.FREE).order_by("position").values_list("position", flat=True)
    beyond = free[JUST_TAKEN : JUST_TAKEN + 1].first()
    later = lines.filter(arm=arm, status=SlotStatus.TAKEN)
    later = later if beyond is None else later.filter(position__lt=beyond)
    return later.count() + sum(number for (_subsample, of_arm), number in counted.items() if of_arm == arm)


@transaction.atomic
def change_arm(study: Study, *, arm: str, actor: User, quota: int | EllipsisType | None = ..., closed: bool | EllipsisType = ...) -> None:
    """Set an arm's quota, stop recruiting to it, or resume, while the study runs. No line is written, however many there are.

    A setting that is not given stays as somebody else may just have left it.
    """
    study = locked(study, by=actor, no_key=True)
    if study.status not in RUNNING:
        raise TransitionError(
            _("Arms can be changed while a study recruits or pauses; this one is %(status)s.")
            % {"status": within_sentence(study.get_status_display())}
        )
    state = ArmState.objects.select_for_update().get(study=study, arm=arm)  # once nobody is just taking a line of it
    state.quota = state.quota if quota is ... else quota
    state.closed = state.closed if closed is ... else closed
    if state.quota is not None and study.allocation_lists.exclude(stratum="").exists():
        raise TransitionError(_("This study draws within strata, where arms have no quota. Close the arm instead."))
    state.places = None if state.quota is None else max(state.quota - _taken(study, arm), 0)
    state.full_clean()
    state.save()
    details = {"arm": arm, "quota": state.quota, "closed": state.closed}
    record(actor=actor, action=actions.ARM_CHANGED, subject=study, details=details)
