"""The counts of the people in the shown numbers, as they are kept, and the same counted from their rows.

Kept counts are one small row for each study, however many people it has. Every change of a counted person goes through
`surveys.batches.services.people_change`, and `manage.py recount` compares the two.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, TypeVar
from uuid import UUID

from django.db.models import Count, Max, QuerySet

from surveys.batches.order_of_arrival import parts
from surveys.counts import Alike, alike_among
from surveys.definition import DIRECT
from surveys.models import AllocationList, AllocationSlot, CategoryResponse, KeptCounts, Participant, Response, SlotStatus, Step, Study

Cell = TypeVar("Cell", bound=Hashable)


class Reported(NamedTuple):
    """The things that reported answers share which are counted together; `answer` is 0 for no, 1 for yes, or the place of a category."""

    question: str
    subsample: str
    arm: str
    agreed: bool
    """Whether the person had agreed to be asked directly."""
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """People in the shown numbers, and what they reported."""

    people: Counter[Alike]
    agreed_on: Counter[date]
    answered_on: Counter[date]
    answers: Counter[Reported]

    @classmethod
    def of_nobody(cls) -> "Tally":
        return cls(people=Counter(), agreed_on=Counter(), answered_on=Counter(), answers=Counter())

    @property
    def parts(self) -> dict[str, dict[str, int]]:
        """The counts by name, to compare them."""
        return {
            "people": {str(cell): people for cell, people in self.people.items()},
            "agreed on": {str(cell): people for cell, people in self.agreed_on.items()},
            "answered on": {str(cell): people for cell, people in self.answered_on.items()},
            "answers": {str(cell): people for cell, people in self.answers.items()},
        }

    @property
    def answered(self) -> int:
        """How many have answered with the die."""
        return sum(people for alike, people in self.people.items() if alike.answered and alike.subsample != DIRECT)

    def groups(self) -> Counter[tuple[object, ...]]:
        """Those who have finished by the groups of a batch, as in `surveys.batches.selectors.GROUP`."""
        found: Counter[tuple[object, ...]] = Counter()
        for one, people in self.people.items():
            if one.step == Step.FINISHED:
                found[one.subsample, one.arm, one.answered, one.is_bot] += people
        return found

    def changed(self, *, before: "Tally", after: "Tally") -> "Tally | None":
        """These counts once people who were counted as `before` are counted as `after`. None: the people of before were not in them."""
        parts = (
            _changed(self.people, before.people, after.people),
            _changed(self.agreed_on, before.agreed_on, after.agreed_on),
            _changed(self.answered_on, before.answered_on, after.answered_on),
            _changed(self.answers, before.answers, after.answers),
        )
        if any(min(part.values(), default=0) < 0 for part in parts):
            return None
        people, agreed_on, answered_on, answers = parts
        return Tally(people=people, agreed_on=agreed_on, answered_on=answered_on, answers=answers)

    def written(self) -> dict[str, object]:
        """As the columns of `KeptCounts`, in an order that tells nothing."""
        days = sorted(self.agreed_on.keys() | self.answered_on.keys())
        return {
            "people": sorted(([*one, people] for one, people in self.people.items()), key=str),
            "days": {day.isoformat(): [self.agreed_on[day], self.answered_on[day]] for day in days},
            "answers": sorted(([*one, people] for one, people in self.answers.items()), key=str),
        }


def kept_tally(study_id: int) -> Tally | None:
    """The counts as they were kept; None where nobody has counted yet, as after an upgrade."""
    row = KeptCounts.objects.filter(study=study_id, changes__gt=0).first()
    return None if row is None else read(row)


def tallies_kept(studies: QuerySet[Study]) -> Iterator[tuple[int, Tally]]:
    """The counts of each of these studies of which any were kept, in one statement."""
    for row in KeptCounts.objects.filter(study__in=studies, changes__gt=0):
        yield row.study_id, read(row)


def read(row: KeptCounts) -> Tally:
    """The counts in a row."""
    days = {date.fromisoformat(day): numbers for day, numbers in row.days.items()}
    return Tally(
        people=Counter({Alike(*one): people for *one, people in row.people}),
        agreed_on=Counter({day: agreed for day, (agreed, _answered) in days.items() if agreed}),
        answered_on=Counter({day: answered for day, (_agreed, answered) in days.items() if answered}),
        answers=Counter({Reported(*one): people for *one, people in row.answers}),
    )


def tally_of(study_id: int) -> Tally:
    """The counts as they were kept, or as the rows of people tell them."""
    return kept_tally(study_id) or counted(study=study_id)


def counted(**among: object) -> Tally:
    """The counts of those who are in the shown numbers among the people with these columns, from their rows."""
    return tally_among(counted=True, **among)


def tally_among(**among: object) -> Tally:
    """The counts of the people with these columns, as they are once all of them are in the shown numbers."""
    rows = Participant.objects.filter(**among)
    columns = ("protocol__version", "step", "subsample", "arm", "agrees_to_direct", "is_bot", "consented_on", "finished_on")
    people, agreed_on, answered_on = Counter[Alike](), Counter[date](), Counter[date]()
    for *columns_of_alike, consented, finished, number in rows.values_list(*columns).annotate(Count("pk")).order_by():
        alike = Alike(*columns_of_alike)
        people[alike] += number
        if consented is not None:
            agreed_on[consented] += number
            if finished is not None and alike.answered:
                answered_on[finished] += number
    theirs = {f"participant__{column}": value for column, value in among.items()}
    return Tally(people=people, agreed_on=agreed_on, answered_on=answered_on, answers=_reported(theirs))


def tally_of_people(keys: Sequence[UUID]) -> Tally:
    """The counts of these people, once they are in the shown numbers."""
    found, nobody = Tally.of_nobody(), Tally.of_nobody()
    for part in parts(keys):
        found = found.changed(before=nobody, after=tally_among(pk__in=part)) or found
    return found


def _reported(theirs: dict[str, object]) -> Counter[Reported]:
    found: Counter[Reported] = Counter()
    group = ("participant__subsample", "participant__arm", "participant__agrees_to_direct")
    for model, answer in ((Response, "reported_yes"), (CategoryResponse, "category")):
        rows = model._default_manager.filter(participant__step=Step.FINISHED, **theirs)
        for question, subsample, arm, agrees, value, number in (
            rows.values_list("question", *group, answer).annotate(Count("pk")).order_by()
        ):
            found[Reported(question, subsample, arm, agrees is True, int(value))] += number
    return found


def _changed(kept: Counter[Cell], before: Counter[Cell], after: Counter[Cell]) -> Counter[Cell]:
    now = Counter(kept)
    now.subtract(before)
    now.update(after)
    return Counter({cell: people for cell, people in now.items() if people})


def waiting_or_on_their_way(study_id: int) -> Counter[Alike]:
    """Everybody present who is not in the shown numbers. There is an index of those who have finished, and one of all others."""
    return sum((alike_among(part) for part in not_counted(study_id)), Counter[Alike]())


def not_counted(study_id: int) -> tuple[QuerySet[Participant], QuerySet[Participant]]:
    """The people in no shown number: those who have finished, and those who have not, or whose days are deleted."""
    rows = Participant.objects.filter(study=study_id, counted=False)
    return rows.filter(finished_on__isnull=False), rows.filter(finished_on=None)


Lines = dict[str, tuple[int, Counter[tuple[str, str]]]]
"""For each stratum the last line that is counted, and how many until there are taken by subsample and arm."""


def kept_lines(study_id: int) -> Lines:
    """The taken lines that somebody has counted before."""
    kept = KeptCounts.objects.filter(study=study_id).values_list("lines", flat=True).first() or {}
    return {stratum: (last, Counter({(subsample, arm): n for subsample, arm, n in rows})) for stratum, (last, rows) in kept.items()}


def counted_lines(study_id: int, before: Lines, *, to_the_end: bool = False) -> Lines:
    """The lines taken by now, where those of `before` need not be counted again.

    Each stratum gives its lines in their order: until the first free one they are taken, or were passed over for good. A line after a free
    one belongs to somebody whose neighbour is not done yet; it is counted the next time, or, where nobody comes any more, `to_the_end`.
    """
    found: Lines = {}
    for stratum in AllocationList.objects.filter(study=study_id).values_list("stratum", flat=True).distinct().order_by("stratum"):
        lines = AllocationSlot.objects.filter(study=study_id, stratum=stratum)
        first_free = lines.filter(status=SlotStatus.FREE).order_by("position").values_list("position", flat=True).first()
        last, taken = before.get(stratum, (0, Counter[tuple[str, str]]()))
        new = lines.filter(status=SlotStatus.TAKEN, position__gt=last)
        new = new if first_free is None or to_the_end else new.filter(position__lt=first_free)
        rows = list(new.values_list("subsample", "arm").annotate(Count("pk"), Max("position")).order_by())
        found[stratum] = (
            max((position for *_group, position in rows), default=last),
            taken + Counter({(subsample, arm): number for subsample, arm, number, _position in rows}),
        )
    return found


def taken_until(study_id: int, lines: Lines) -> Lines:
    """The same counted from the lines themselves, each stratum until the line at which its counts end."""
    found: Lines = {}
    for stratum, (last, _taken) in lines.items():
        taken = AllocationSlot.objects.filter(study=study_id, stratum=stratum, status=SlotStatus.TAKEN, position__lte=last)
        rows = taken.values_list("subsample", "arm").annotate(Count("pk")).order_by()
        found[stratum] = last, Counter({(subsample, arm): number for subsample, arm, number in rows})
    return found


def lines_by_group(lines: Lines) -> Counter[tuple[str, str]]:
    """Taken lines of all strata together."""
    return sum((taken for _last, taken in lines.values()), Counter[tuple[str, str]]())


def written_lines(lines: Lines) -> dict[str, object]:
    """As the column of `KeptCounts`."""
    return {stratum: [last, sorted([*group, number] for group, number in taken.items())] for stratum, (last, taken) in lines.items()}


def differences(kept: Tally, found: Tally) -> dict[str, int]:
    """How many counts of each part differ."""
    there = found.parts
    unlike = {name: len(part.items() ^ there[name].items()) for name, part in kept.parts.items()}
    return {name: cells for name, cells in unlike.items() if cells}
