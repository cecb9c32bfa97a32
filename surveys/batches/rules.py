"""The rule by which people enter the numbers that are shown: in batches, so that no two shown numbers differ by one person."""

from collections.abc import Mapping
from typing import TypeVar

LEAST = 10
"""The fewest people who make a difference between two shown numbers."""
WAITING_PER_GROUP = 2 * LEAST + LEAST // 2
"""How many people of each group wait, on average, when a batch is complete: enough that most groups can give `LEAST` and keep as many."""

Group = TypeVar("Group")


def completes(*, groups: int, left_over: int) -> int:
    """How many waiting people complete the next batch of a study with this many groups, after a batch that left so many waiting.

    It depends on the number of people alone. Otherwise the moment of the batch would tell the group of the person who completed it.
    """
    return max(groups * WAITING_PER_GROUP, left_over + groups * LEAST)


def taken(waiting: Mapping[Group, int]) -> dict[Group, int]:
    """How many of the people who wait in each group the batch takes: whole tens, and `LEAST` or more stay behind.

    They are held back so that closing the study never shows a remainder of one. Whole tens hide a withdrawal: the next batch lets so many
    people of that group wait again that its number is whole tens as in all other groups.
    """
    return {group: in_steps(people) for group, people in waiting.items() if in_steps(people)}


def few_of(taken: Mapping[Group, int], *, most: int) -> dict[Group, int]:
    """At most so many of these people, or `LEAST` of each group where that is more; of each group whole tens."""
    found = dict(taken)
    while sum(found.values()) > most and max(found.values()) > LEAST:
        found[max(found, key=lambda group: found[group])] -= LEAST
    return found


def in_steps(people: int) -> int:
    """A count of people as it is shown while the study runs: whole steps of `LEAST`, the newest step held back."""
    return max(people // LEAST - 1, 0) * LEAST


def in_tens(people: int) -> int:
    """A count of few people, as it is shown once nobody comes any more: whole steps of `LEAST`."""
    return people // LEAST * LEAST


def up_to_tens(people: int) -> int:
    """How many people there are at most, in whole steps of `LEAST`; nobody is nobody."""
    return -(-people // LEAST) * LEAST
