"""The progress of a study: participants by stage and by day, and the time left. SQL aggregates, never rows."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Sum
from django.utils import timezone

from analysis.answers.sample_ratio import SampleRatio, sample_ratio
from surveys.counts import Alike, Counts, counts_of, present_people
from surveys.definition import StudyDefinition
from surveys.journey.steps import ALL_STEPS
from surveys.models import ArmState, AttritionCount, Step, Study, StudyStatus

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


def progress_of(study: Study, definition: StudyDefinition, *, names: Mapping[str, str]) -> Progress:
    """All numbers about people and none of their answers; `names` are the arms' displayed names, in display order. Arms of the same name
    are counted together.
    """
    present = present_people(study)
    counts = counts_of(study, present)
    watched = _watched(study, present)
    together = {shown: [arm for arm in names if names[arm] == shown] for shown in names.values()}
    groups = tuple(
        Group(
            subsample=subsample,
            arm=shown,
            assigned=sum(counts.assigned_by_group.get((subsample, arm), 0) for arm in arms),
            watched=sum(watched[subsample, arm] for arm in arms),
            finished=sum(counts.finished_by_group.get((subsample, arm), 0) for arm in arms),
        )
        for subsample in definition.group_weights
        for shown, arms in together.items()
    )
    days = _days(present)
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
        ratio=sample_ratio(counts.assigned_by_group, subsample_weights=definition.group_weights, arm_weights=definition.arm_weights),
        ratio_is_changed_by_hand=any(state.closed or state.quota is not None for state in ArmState.objects.filter(study=study)),
    )


def days_left(days: tuple[DayCount, ...], *, planned: int, today: date) -> int | None:
    """Days until the planned number at the rate of the last week; None when it is reached or nobody comes."""
    if not days or days[-1].finished_so_far >= planned:
        return None
    since = max(days[0].day, today - timedelta(days=DAYS_OF_THE_RATE - 1))
    recent = sum(day.finished for day in days if day.day >= since)
    length = (today - since).days + 1
    return math.ceil((planned - days[-1].finished_so_far) * length / recent) if recent else None


def _watched(study: Study, present: Iterable[Alike]) -> Counter[tuple[str, str]]:
    """People past the lecture, by subsample and arm."""
    past = ALL_STEPS[ALL_STEPS.index(Step.VIDEO) + 1 :]
    gone = AttritionCount.objects.filter(study=study, step__in=past).values_list("subsample", "arm").annotate(Sum("count"))
    watched = Counter({(subsample, arm): count for subsample, arm, count in gone})
    for alike in present:
        if alike.step in past:
            watched[alike.subsample, alike.arm] += alike.people
    return watched


def _days(present: Iterable[Alike]) -> tuple[DayCount, ...]:
    consented: Counter[date] = Counter()
    finished: Counter[date] = Counter()
    for alike in present:
        if alike.consented_on is not None:
            consented[alike.consented_on] += alike.people
            if alike.finished_on is not None and alike.answered:
                finished[alike.finished_on] += alike.people
    days, agreed, answered = [], 0, 0
    for day in sorted(consented | finished):
        agreed, answered = agreed + consented[day], answered + finished[day]
        days.append(DayCount(day=day, consented=consented[day], finished=finished[day], consented_so_far=agreed, finished_so_far=answered))
    return tuple(days)
