"""The progress of a study: participants by stage and by day, and the time left. Kept counts, never rows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils import timezone

from candor.estimators.sample_ratio import SampleRatio, sample_ratio
from surveys.allocation.selectors import were_changed_by_hand
from surveys.batches.rules import LEAST
from surveys.batches.selectors import counted_people, shown_counts
from surveys.batches.tally import Tally
from surveys.counts import Counts
from surveys.definition import StudyDefinition
from surveys.models import ENDED, Study, StudyStatus

DAYS_OF_THE_RATE = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    subsample: str
    arm: str
    assigned: int
    watched: int
    finished: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """How many people reached each stage; the groups in display order."""

    consented: int
    declined: int
    assigned: int
    finished: int
    withdrew: int
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount:
    day: date
    consented: int
    finished: int
    consented_so_far: int
    finished_so_far: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    counts: Counts
    flow: Flow
    days: tuple[DayCount, ...]
    planned: int
    days_left: int | None
    ratio: SampleRatio | None
    ratio_is_changed_by_hand: bool


def progress_of(study: Study, definition: StudyDefinition, *, names: Mapping[str, str]) -> Progress | None:
    """All numbers about people and none of their answers; None while they are withheld. `names` are the arms' displayed names, in display
    order. Arms of the same name are counted together.
    """
    counted = counted_people(study)
    counts = shown_counts(study, counted)
    if counts is None:
        return None
    together = {shown: [arm for arm in names if names[arm] == shown] for shown in names.values()}
    groups = tuple(
        Group(
            subsample=subsample,
            arm=shown,
            assigned=sum(counts.assigned_by_group.get((subsample, arm), 0) for arm in arms),
            watched=sum(counts.watched_by_group.get((subsample, arm), 0) for arm in arms),
            finished=sum(counts.finished_by_group.get((subsample, arm), 0) for arm in arms),
        )
        for subsample in definition.group_weights
        for shown, arms in together.items()
    )
    ended = study.status in ENDED
    days = days_of(counted)
    planned = definition.allocation.planned_participants
    return Progress(
        counts=counts,
        flow=Flow(
            consented=counts.consented,
            declined=counts.declined,
            assigned=counts.assigned,
            finished=counts.finished,
            withdrew=counts.withdrew,
            groups=groups,
        ),
        days=days,
        planned=planned,
        days_left=days_left(days, planned=planned, today=timezone.localdate()) if study.status == StudyStatus.RECRUITING else None,
        ratio=None  # the arms are as large as their sections
        if definition.in_sections
        else sample_ratio(
            counts.assigned_by_group,
            subsample_weights=definition.group_weights,
            arm_weights=definition.arm_weights,
            step=0 if ended else LEAST,
        ),
        ratio_is_changed_by_hand=any(arm.quota is not None for arm in definition.arms) or were_changed_by_hand(study),
    )


def days_left(days: tuple[DayCount, ...], *, planned: int, today: date) -> int | None:
    """Days until the planned number at the rate of the last week; None when it is reached or nobody comes."""
    if not days or days[-1].finished_so_far >= planned:
        return None
    since = max(days[0].day, today - timedelta(days=DAYS_OF_THE_RATE - 1))
    recent = sum(day.finished for day in days if day.day >= since)
    length = (today - since).days + 1
    return math.ceil((planned - days[-1].finished_so_far) * length / recent) if recent else None


def days_of(counted: Tally) -> tuple[DayCount, ...]:
    """The days on which the sums of people who agreed or answered have grown by another step of `LEAST`.

    Otherwise the day whose number moves with a batch, or at the end, would tell when single people came.
    """
    consented, finished = counted.agreed_on, counted.answered_on
    days: list[DayCount] = []
    agreed, answered, last = 0, 0, (0, 0)
    for day in sorted(consented | finished):
        agreed, answered = agreed + consented[day], answered + finished[day]
        shown = agreed // LEAST * LEAST, answered // LEAST * LEAST
        if shown != last:
            days.append(
                DayCount(
                    day=day, consented=shown[0] - last[0], finished=shown[1] - last[1], consented_so_far=shown[0], finished_so_far=shown[1]
                )
            )
            last = shown
    return tuple(days)
