"""The rows of a release: arm, subsample, reported answers, and sometimes a number for the section, in an order that tells nothing."""

import csv
import io
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from django.utils.translation import gettext as _

from analysis.packages.errors import TooFewPeopleError
from surveys.batches.rules import LEAST

SMALLEST_GROUP = 5
"""Fewer people than this in an arm of a subsample, and the study is too small for its rows to be published."""
SMALLEST_IN_SECTION = LEAST
"""Fewer people than this in a subsample of any section, and no row says which section it is of."""
ASSIGNMENT, CLUSTER = ("arm", "subsample"), "cluster"
_entropy = secrets.SystemRandom()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One person: the groups drawn by chance, and the report on each question, in the order of the questions: 0 or 1, or the name of a
    category; None: not asked."""

    arm: str
    subsample: str
    answers: tuple[int | str | None, ...]
    cluster: str = ""
    """The section, where sections were assigned as a whole; empty: not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    arm: str
    subsample: str
    n: int


def column_of(question: str) -> str:
    """The column of a question; the prefix keeps a question called “arm” apart from the arm."""
    return f"answer_{question}"


def groups_of(rows: Sequence[Row], *, arms: Sequence[str], subsamples: Sequence[str]) -> list[Group]:
    """How many people are in each arm of each subsample; also where there is nobody."""
    counts = Counter((row.arm, row.subsample) for row in rows)
    return [Group(arm=arm, subsample=subsample, n=counts[arm, subsample]) for subsample in subsamples for arm in arms]


def require_large_groups(groups: Sequence[Group]) -> None:
    """Refuse a study so small that rows could be told apart by knowing who took part."""
    if small := [group for group in groups if group.n < SMALLEST_GROUP]:
        found = ", ".join(f"{group.n} in arm {group.arm}, subsample {group.subsample}" for group in small)
        raise TooFewPeopleError(
            _("Expected at least %(smallest)s finished people in every arm of every subsample, found %(found)s.")
            % {"smallest": SMALLEST_GROUP, "found": found}
        )


def with_random_clusters(rows: Sequence[Row]) -> list[Row]:
    """The rows with random numbers in place of sections; without any where some section is so small that its people stand out."""
    sections = sorted({row.cluster for row in rows})
    cells = Counter((row.cluster, row.subsample) for row in rows)
    told = "" not in sections and all(
        cells[section, subsample] >= SMALLEST_IN_SECTION for section in sections for subsample in {row.subsample for row in rows}
    )
    _entropy.shuffle(sections)
    numbers = {section: str(number) for number, section in enumerate(sections, start=1)}
    numbered = cache(lambda row: replace(row, cluster=numbers[row.cluster] if told else ""))  # a million rows are a few objects
    return [numbered(row) for row in rows]


def shuffled_csv(rows: Sequence[Row], *, questions: Sequence[str]) -> str:
    """The rows as CSV, in an order drawn from the operating system's entropy; no two calls give the same."""
    told = any(row.cluster for row in rows)
    in_no_order = list(rows)
    _entropy.shuffle(in_no_order)
    lines = (
        [row.arm, row.subsample, *([row.cluster] if told else []), *("" if answer is None else answer for answer in row.answers)]
        for row in in_no_order
    )
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*ASSIGNMENT, *([CLUSTER] if told else []), *map(column_of, questions)])
    writer.writerows(lines)
    return buffer.getvalue()


def rows_of(text: str) -> list[Row]:
    """The rows of such a CSV."""
    lines = csv.reader(io.StringIO(text))
    told = CLUSTER in next(lines)

    @cache
    def row(arm: str, subsample: str, *rest: str) -> Row:
        answers = tuple(int(one) if one in ("0", "1") else one or None for one in (rest[1:] if told else rest))
        return Row(arm=arm, subsample=subsample, cluster=rest[0] if told else "", answers=answers)

    return [row(*line) for line in lines]
