"""How many people are where: the one definition of every count, for all pages, results and exports."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from django.db.models import Count, Sum

from surveys.definition import DIRECT
from surveys.models import AttritionCount, CounterKind, Participant, ShardedCounter, SlotStatus, Step, Study


@dataclass(frozen=True, slots=True)
class Alike:
    """The number of present people who share step, group, and days of arrival and finish."""

    step: str
    subsample: str
    arm: str
    agrees_to_direct: bool | None
    consented_on: date | None
    finished_on: date | None
    people: int

    @property
    def answered(self) -> bool:
        """People drawn into the direct group who had not agreed have finished, too, but without answers."""
        return self.step == Step.FINISHED and not (self.subsample == DIRECT and self.agrees_to_direct is False)


def present_people(study: Study) -> list[Alike]:
    """Everybody who has not withdrawn, in one pass over the table: all counts come from these few rows."""
    alike = ("step", "subsample", "arm", "agrees_to_direct", "consented_on", "finished_on")
    return [Alike(*row) for row in Participant.objects.filter(study=study).values_list(*alike).annotate(Count("pk"))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many people are where: the one definition of every count, for all pages, results and exports."""

    declined: int
    consented: int
    assigned: int
    finished: int
    withdrew: int
    comprehension_passed: int
    comprehension_failed: int
    assigned_by_group: Mapping[tuple[str, str], int]
    finished_by_group: Mapping[tuple[str, str], int]


def counts_of(study: Study, present: Iterable[Alike] | None = None) -> Counts:
    """Consented and assigned include people who withdrew (intention to treat); finished counts the stored answers.

    `present` saves the query of `present_people` for callers that already made it.
    """
    counted = dict(ShardedCounter.objects.filter(study=study).values_list("kind").annotate(Sum("count")))
    assigned = Counter(
        {
            (subsample, arm): count
            for subsample, arm, count in study.allocation_slots.filter(status=SlotStatus.TAKEN)
            .values_list("subsample", "arm")
            .annotate(Count("pk"))
        }
    )
    there, finished = 0, Counter[tuple[str, str]]()
    for alike in present_people(study) if present is None else present:
        there += alike.people
        if alike.answered:
            finished[alike.subsample, alike.arm] += alike.people
    withdrew = counted.get(CounterKind.WITHDREW, 0)
    departed = AttritionCount.objects.filter(study=study).aggregate(Sum("count"))["count__sum"] or 0
    return Counts(
        declined=counted.get(CounterKind.DECLINED, 0),
        consented=there + withdrew + departed,
        assigned=assigned.total(),
        finished=finished.total(),
        withdrew=withdrew,
        comprehension_passed=counted.get(CounterKind.COMPREHENSION_PASSED, 0),
        comprehension_failed=counted.get(CounterKind.COMPREHENSION_FAILED, 0),
        assigned_by_group=assigned,
        finished_by_group=finished,
    )
