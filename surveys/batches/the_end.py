"""The end of a study: the people whom it lets into the shown numbers, read and counted while nobody is held."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from surveys.batches import rules
from surveys.batches.numbers import Numbers, numbers_of
from surveys.batches.selectors import GROUP, by_group, waiting_people
from surveys.batches.tally import Tally, not_counted, tally_of, tally_of_people
from surveys.models import Study

Standing = tuple[UUID, str, bool | None, str, str]
"""Somebody who is in no shown number yet: step, consent to be asked directly, subsample, arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The people whom the end lets in, and the numbers to be shown from then on."""

    standing: list[Standing]
    """Everybody who is in no shown number yet: the rest holds as long as they stand there."""
    few: Sequence[tuple[object, ...]]
    """Shown groups in which so few wait that they would show."""
    held_back: Sequence[UUID]
    comes: Sequence[UUID]
    tally: Tally
    numbers: Numbers


def standing(study: Study, *, hold: bool = False) -> list[Standing]:
    """Where everybody stands who is in no shown number yet. `hold` waits for those who are just sending a page, and locks all of them.

    There is an index of those who have not finished, and one of all others, who come second: nobody is missed who finishes meanwhile.
    """
    waiting, unfinished = (people.order_by("pk") for people in not_counted(study.pk))
    found: list[Standing] = []
    for people in (unfinished, waiting):
        rows = people.select_for_update(of=("self",)) if hold else people
        found += rows.values_list("pk", "step", "agrees_to_direct", "subsample", "arm")
    return sorted(found, key=lambda one: one[0])


def the_end_of(study: Study) -> Ending:
    """The end of a study, as it would be now."""
    numbers, found = numbers_of(study, shown_as=int), standing(study)
    waiting = by_group(waiting_people(study.pk))
    few = [group for group, people in tally_of(study.pk).groups().items() if people and waiting.get(group, 0) < rules.LEAST]
    of_few = (waiting_people(study.pk).filter(**dict(zip(GROUP, group, strict=True))) for group in few)
    held_back = {key for people in of_few for key in people.values_list("pk", flat=True)}
    comes = [key for key, *_place in found if key not in held_back]
    return Ending(standing=found, few=few, held_back=sorted(held_back), comes=comes, tally=tally_of_people(comes), numbers=numbers)
