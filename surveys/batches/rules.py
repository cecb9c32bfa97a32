"""The rule by which people enter the numbers that are shown: in batches, so that no two shown numbers differ by one person."""

from collections.abc import Mapping
from typing import TypeVar

LEAST = 10
"""The fewest people who make a difference between two shown numbers."""
PEOPLE_PER_GROUP = LEAST + LEAST // 2
"""How many people each group gives to a batch on average."""

Group = TypeVar("Group")


def people_until_next(*, waiting: int, groups: int) -> int:
    """How many more people complete the next batch of a study with this many groups.

    It depends on the number of people alone. Otherwise the moment of the batch would tell the group of the person who completed it.
    """
    return max(groups * (LEAST + PEOPLE_PER_GROUP) - waiting, 0)


def taken(waiting: Mapping[Group, int]) -> dict[Group, int]:
    """How many of the people who wait in each group the batch takes: all but `LEAST`, or nobody where that leaves fewer than `LEAST`.

    `LEAST` people are always held back, so that closing the study never shows a remainder of one.
    """
    return {group: people - LEAST for group, people in waiting.items() if people >= 2 * LEAST}


def in_steps(people: int) -> int:
    """A count of people outside the groups as it is shown while the study runs: whole steps of `LEAST`, the newest step held back."""
    return max(people // LEAST - 1, 0) * LEAST
