"""Measures how far rows could be told apart, for the officer who decides."""

from collections import Counter
from dataclasses import dataclass

from analysis.packages.content import Content
from analysis.packages.rows import Group, groups_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskSummary:
    n: int
    groups: tuple[Group, ...]
    smallest_group: int
    patterns: int
    """How many different rows there are."""
    unique_rows: int
    """Rows that nobody else shares."""
    hidden_counts: int
    shown_counts: int


def risk_summary(content: Content) -> RiskSummary:
    times = Counter(content.rows)
    design = content.protocol["design"]
    groups = groups_of(content.rows, arms=design["arms"], subsamples=list(design["subsamples"]))
    cells = content.background or ()
    return RiskSummary(
        n=len(content.rows),
        groups=tuple(groups),
        smallest_group=min(group.n for group in groups),
        patterns=len(times),
        unique_rows=sum(count == 1 for count in times.values()),
        hidden_counts=sum(cell.count is None for cell in cells),
        shown_counts=sum(cell.count is not None for cell in cells),
    )
