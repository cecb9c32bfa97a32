"""How many people are where, exactly: the one definition of every count.

Pages, results and exports show `surveys.batches.selectors.shown_counts`, which follows no single person. The exact counts are for the
machine alone: bots, retention, the numbers that the next batch will show. `tests/audits/test_exact_counts.py` lists who may read them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, QuerySet, Sum

from surveys.definition import DIRECT
from surveys.models import AttritionCount, CounterKind, Participant, ShardedCounter, SlotStatus, Step, Study

PAST_THE_LECTURE = frozenset((Step.QUIZ, Step.DIE, Step.QUESTIONS, Step.DIRECT_QUESTIONS, Step.FINISHED))


class Alike(NamedTuple):
    """The things that people share who are counted together. `version` is that of the protocol to which they agreed."""

    version: int
    step: str
    subsample: str
    arm: str
    agrees_to_direct: bool | None
    is_bot: bool

    @property
    def answered(self) -> bool:
        """People drawn into the direct group who had not agreed have finished, too, but without answers."""
        return self.step == Step.FINISHED and not (self.subsample == DIRECT and self.agrees_to_direct is False)


def alike_among(people: QuerySet[Participant]) -> Counter[Alike]:
    """How many of these people are alike, in one pass over them."""
    columns = ("protocol__version", "step", "subsample", "arm", "agrees_to_direct", "is_bot")
    return Counter({Alike(*row): number for *row, number in people.values_list(*columns).annotate(Count("pk")).order_by()})


def present_people(study: Study) -> Counter[Alike]:
    """Everybody who has not withdrawn, one by one."""
    return alike_among(Participant.objects.filter(study=study))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Consented and assigned include people who withdrew (intention to treat); finished counts the stored answers."""

    declined: int
    consented: int
    assigned: int
    finished: int
    withdrew: int
    comprehension_passed: int
    comprehension_failed: int
    attention_failed: int
    """Those who failed an attention check, whether they stayed or not."""
    task_not_done: int
    assigned_by_group: Mapping[tuple[str, str], int]
    watched_by_group: Mapping[tuple[str, str], int]
    finished_by_group: Mapping[tuple[str, str], int]

    @property
    def comers(self) -> int:
        """Everybody who was asked for their consent and decided."""
        return self.consented + self.declined


def exact_counts(study: Study) -> Counts:
    """The counts as of this moment, which nobody is shown while the study runs; of every single person, so it takes its time."""
    present = present_people(study)
    return counts_of(study, present, present=present.total(), assigned=taken_lines(study))


def comers(study: Study, *, present: int | None = None) -> int:
    """Everybody who was asked for their consent and decided: `Counts.comers`, for less work; for still less where somebody has counted who
    is `present`.
    """
    decided = (CounterKind.DECLINED, CounterKind.WITHDREW, CounterKind.EXCLUDED)
    gone = ShardedCounter.objects.filter(study=study, kind__in=decided).aggregate(Sum("count", default=0))["count__sum"]
    departed = AttritionCount.objects.filter(study=study).aggregate(Sum("count", default=0))["count__sum"]
    return int((Participant.objects.filter(study=study).count() if present is None else present) + gone + departed)


def withdrawals(study: Study) -> int:
    """How many people took their data out: `Counts.withdrew`, for less work."""
    counted = ShardedCounter.objects.filter(study=study, kind=CounterKind.WITHDREW)
    return int(counted.aggregate(Sum("count", default=0))["count__sum"])


def deleted_while_held_back(study: Study) -> int:
    """How many of those who did not finish were in no shown number when the operational data were deleted."""
    deleted = ShardedCounter.objects.filter(study=study, kind=CounterKind.UNFINISHED)
    shown = AttritionCount.objects.filter(study=study)
    sums = (rows.aggregate(Sum("count", default=0))["count__sum"] for rows in (deleted, shown))
    return int(next(sums) - next(sums))


def taken_lines(study: Study) -> Counter[tuple[str, str]]:
    """How many lines of the lists are taken, by subsample and arm."""
    taken = study.allocation_slots.filter(status=SlotStatus.TAKEN).values_list("subsample", "arm")
    return Counter({(subsample, arm): lines for subsample, arm, lines in taken.annotate(Count("pk")).order_by()})


def counts_of(study: Study, alike: Mapping[Alike, int], *, present: int, assigned: Counter[tuple[str, str]]) -> Counts:
    """The counts in which these people have watched and answered. `present` are all who are stored; they have consented."""
    counted = dict(ShardedCounter.objects.filter(study=study).values_list("kind").annotate(Sum("count")))
    departed = AttritionCount.objects.filter(study=study).values_list("step", "subsample", "arm", "count")
    finished, watched, gone = Counter[tuple[str, str]](), Counter[tuple[str, str]](), 0
    for step, subsample, arm, people in departed:
        gone += people
        watched[subsample, arm] += people if step in PAST_THE_LECTURE else 0
    for one, people in alike.items():
        watched[one.subsample, one.arm] += people if one.step in PAST_THE_LECTURE else 0
        finished[one.subsample, one.arm] += people if one.answered else 0
    withdrew, excluded = counted.get(CounterKind.WITHDREW, 0), counted.get(CounterKind.EXCLUDED, 0)
    return Counts(
        declined=counted.get(CounterKind.DECLINED, 0),
        consented=present + withdrew + gone + excluded,
        assigned=assigned.total(),
        finished=finished.total(),
        withdrew=withdrew,
        comprehension_passed=counted.get(CounterKind.COMPREHENSION_PASSED, 0),
        comprehension_failed=counted.get(CounterKind.COMPREHENSION_FAILED, 0),
        attention_failed=counted.get(CounterKind.ATTENTION_FAILED, 0) + excluded,
        task_not_done=counted.get(CounterKind.TASK_NOT_DONE, 0),
        assigned_by_group=assigned,
        watched_by_group=watched,
        finished_by_group=finished,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentCount:
    """How many people decided about one version of the consent text. Those who took their data out later had agreed."""

    version: int
    agreed: int
    declined: int
    withdrew: int


def exact_consent_counts(study: Study, alike: Mapping[Alike, int] | None = None) -> list[ConsentCount]:
    """Counts per version about which anybody decided; such a version can never be changed. `alike` saves the count of everybody present."""
    present = Counter[int]()
    for one, people in (present_people(study) if alike is None else alike).items():
        present[one.version] += people
    counted = {
        (version, kind): count
        for version, kind, count in ShardedCounter.objects.filter(study=study).values_list("version", "kind").annotate(Sum("count"))
    }
    kinds = (CounterKind.DECLINED, CounterKind.WITHDREW, CounterKind.UNFINISHED, CounterKind.EXCLUDED)
    versions = sorted({*present, *(version for version, kind in counted if kind in kinds)})
    return [
        ConsentCount(
            version=version,
            agreed=present.get(version, 0) + sum(counted.get((version, kind), 0) for kind in kinds[1:]),
            declined=counted.get((version, CounterKind.DECLINED), 0),
            withdrew=counted.get((version, CounterKind.WITHDREW), 0),
        )
        for version in versions
    ]
